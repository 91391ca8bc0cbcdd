"""Screenshots of the researcher's pages for ``docs/reference/pages.md``, from a rehearsal that is being served.

    beholder demo --out demo-study --serve
    python benchmarks/researcher_pages.py LINK [--chromium /usr/bin/chromium]

``LINK`` is the researcher's link that the first command prints. Needs Playwright for Python and Chromium.
"""

import argparse
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PAGES = Path(__file__).parents[1] / "docs" / "images" / "pages"
DESKTOP, PHONE = 1280, 390


@dataclass(frozen=True)
class Shot:
    """A part of the researcher's page at one size, and the file it is saved as."""

    file: str
    part: str
    ready: str
    width: int
    height: int


SHOTS = (
    Shot("researcher-results", "results", ".results", DESKTOP, 1300),
    Shot("researcher-people", "raters", "table.stack", DESKTOP, 1100),
    Shot("researcher-rehearsal", "overview", ".cells li", DESKTOP, 900),
    Shot("researcher-rehearsal-phone", "overview", ".cells li", PHONE, 844),
    Shot("researcher-rehearsal-results-phone", "results", ".results", PHONE, 844),
)


def main() -> None:
    """Take all screenshots."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("link")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        for shot in SHOTS:
            page = browser.new_page(viewport={"width": shot.width, "height": shot.height})
            page.goto(options.link)
            page.wait_for_selector(".cells li", timeout=60_000)
            page.click(f"a[href='#{shot.part}']")
            page.wait_for_selector(shot.ready, timeout=180_000)
            page.wait_for_timeout(1000)
            Image.open(io.BytesIO(page.screenshot())).save(PAGES / f"{shot.file}.webp", quality=80)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
