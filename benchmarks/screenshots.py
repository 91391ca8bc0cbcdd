"""Screenshots for the documentation: the report, its page of single images, the researcher's pages, the consent.

    python benchmarks/screenshots.py demo-study [--only report] [--chromium /usr/bin/chromium]

The folder is made by ``beholder demo`` unless it exists. Pictures go to ``docs/images``; each is reported with its
size. Needs Playwright for Python and Chromium. Look at every picture before it is committed.
"""

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DESKTOP, PHONE = 1280, 390
BEHOLDER = (sys.executable, "-m", "beholder")
QUALITY = 80
ANSWERED = ("rehearsals", "answers.parquet", "sessions.parquet", "marks.parquet", "skips.parquet", "*.sqlite*")
"""What a study has once raters were there, simulated ones included."""


@dataclass(frozen=True)
class Shot:
    """A page at one size, what is done on it first, and the file it is saved as."""

    file: str
    place: str
    """A file of the study, or a part of the researcher's page."""
    ready: str
    width: int
    height: int
    first: Callable[[Page], None] | None = None


def divided(page: Page) -> None:
    """Show the images of one generator, those first on which raters are most divided."""
    page.get_by_label("Generator").select_option(index=1)
    page.get_by_label("Order").select_option("divided")


def opened(page: Page) -> None:
    """Open the first of them."""
    divided(page)
    page.locator(".tile").first.click()


REPORT = (
    Shot("report", "report.html", "#findings", DESKTOP, 1750),
    Shot("report-phone", "report.html", "#findings", PHONE, 844),
    Shot("report-images", "images.html", ".tile img", DESKTOP, 900, divided),
    Shot("report-images-phone", "images.html", ".tile img", PHONE, 844),
    Shot("report-image", "images.html", ".tile img", DESKTOP, 900, opened),
)

RESEARCHER = (
    Shot("pages/researcher-results", "results", ".results", DESKTOP, 1300),
    Shot("pages/researcher-people", "raters", "table.stack", DESKTOP, 1100),
    Shot("pages/researcher-rehearsal", "overview", ".cells li", DESKTOP, 900),
    Shot("pages/researcher-rehearsal-phone", "overview", ".cells li", PHONE, 844),
    Shot("pages/researcher-rehearsal-results-phone", "results", ".results", PHONE, 844),
)

STUDY = (Shot("pages/researcher-data", "data", "h2", DESKTOP, 760),)
"""Of the study itself, which raters can enter; nobody has yet."""

RATERS = (
    Shot("pages/consent", "q/preference", "h1", DESKTOP, 800),
    Shot("pages/consent-phone", "q/preference", "h1", PHONE, 844),
)


def main() -> None:
    """Take the screenshots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("--only", choices=("report", "researcher"))
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    subprocess.run([*BEHOLDER, "demo", "--out", str(options.study), "--json"], check=True, capture_output=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        if options.only != "researcher":
            for shot in REPORT:
                page = browser.new_page(viewport={"width": shot.width, "height": shot.height})
                page.goto(f"{options.study.resolve().as_uri()}/{shot.place}")
                save(page, shot)
        if options.only != "report":
            with served("demo", "--out", str(options.study), "--serve") as links:
                researcher_shots(browser, links["researcher"], RESEARCHER)
            with tempfile.TemporaryDirectory() as room:
                fresh = Path(room) / "study"
                shutil.copytree(options.study, fresh, ignore=shutil.ignore_patterns(*ANSWERED))
                with served("collect", str(fresh), "--accept-low-pay") as links:
                    researcher_shots(browser, links["researcher"], STUDY)
                    for shot in RATERS:
                        page = browser.new_page(viewport={"width": shot.width, "height": shot.height})
                        page.goto(links["raters"] + shot.place)
                        save(page, shot, full=True)
        browser.close()


def researcher_shots(browser: Browser, link: str, shots: Sequence[Shot]) -> None:
    """Take parts of the researcher's page."""
    for shot in shots:
        page = browser.new_page(viewport={"width": shot.width, "height": shot.height})
        page.goto(link)
        page.wait_for_selector(".cells li", timeout=60_000)
        page.click(f"a[href='#{shot.place}']")
        save(page, shot)


def save(page: Page, shot: Shot, *, full: bool = False) -> None:
    """Wait until the page is drawn, and save what is in the window, or all of it."""
    page.wait_for_selector(shot.ready, timeout=180_000)
    if shot.first:
        shot.first(page)
    page.wait_for_timeout(3000)
    path = IMAGES / f"{shot.file}.webp"
    Image.open(io.BytesIO(page.screenshot(full_page=full))).save(path, quality=QUALITY, method=6)
    page.close()
    print(f"{path}: {path.stat().st_size / 1000:.0f} KB")


@contextmanager
def served(*command: str) -> Iterator[dict[str, str]]:
    """The links that a command prints, by whom they are for, while it serves."""
    with subprocess.Popen(
        [*BEHOLDER, *command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        links: dict[str, str] = {}
        while "researcher" not in links:
            if match := re.match(r"(raters|researcher): +(\S+)", server.stdout.readline()):
                links[match[1]] = match[2]
        try:
            yield links
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
