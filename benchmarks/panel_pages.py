"""Screenshots of a panel for the documentation: the rater's own page, the prototype, the researcher's pages.

    python benchmarks/panel_pages.py [--chromium /usr/bin/chromium] [--only NAME]

A panel with three studies of painted images is made in a temporary folder and served; raters take part over HTTP.
Pictures go to ``docs/images/pages``. Look at every picture before it is committed.
"""

import argparse
import io
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from served import SCREEN, Json, answer_body, make_folder

from beholder.collect.database.address import default_url
from beholder.collect.database.schema import persons
from beholder.collect.exchange.load import load
from beholder.collect.panel.board import propose_rule, seat_board, vote
from beholder.collect.panel.logins import make_links
from beholder.collect.panel.opening import close_study, open_study, publish_results
from beholder.collect.panel.refresh import refresh
from beholder.collect.panel.schema import open_panel
from beholder.collect.panel.server.application import PanelApplication, create_panel_app
from beholder.collect.prototype.rounds import new_round
from beholder.collect.researcher.actions import exclude
from beholder.collect.simulate.rehearsal import listening
from beholder.design.stage import run as design
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.study.study import FILE_NAME, dump_study, load_study

IMAGES = Path(__file__).parents[1] / "docs" / "images" / "pages"
SIZES = {"": (1280, 800), "-phone": (390, 844)}
QUALITY = 72
AGE = """update sessions set presented = presented - 8, active_seconds = active_seconds + 6.5
where status = 'running'"""
TEXTS = {
    "faces": ("Real or generated?", "We want to know which generators people can still tell from photographs."),
    "pairs": ("Which image is better?", "We compare four generators by what people prefer."),
    "colours": ("Colours at a glance", "We look for prompts whose colours generators get wrong."),
}


@dataclass
class Walker:
    """A rater over HTTP."""

    client: httpx.Client
    folders: dict[str, Path]
    rater: str = ""
    csrf: str = ""

    def enter(self, link: str) -> None:
        self.rater = self.client.post("/api/enter", json={"link": link.removeprefix("/i/")}).json()["rater"]
        self.page()

    def page(self) -> None:
        self.csrf = self.client.get("/api/me").json()["csrf"]

    def say(self, path: str, **body: object) -> None:
        reply = self.client.post(f"/api/{path}", json=body, headers={"X-Beholder-CSRF": self.csrf})
        assert reply.status_code == 200, reply.text

    def work(self, study: str, *, end: Json | None = None, most: int = 200) -> None:
        """Take a study, and answer until it ends or so many trials are done."""
        self.say("take", study=study)

        def post(path: str, body: Json) -> Json:
            reply: Json = self.client.post(f"/s/{study}/api/{path}", json=body).json()
            return reply

        state = post("enter", {"parameters": {}, "path": "/", "language": "en"})
        for _ in range(most):
            step = state["step"]
            if step == "consent":
                consent = {name: state["consent"][name] for name in ("hash", "version", "language")}
                state = post("consent", consent | {"agreed": True})
            elif step == "check":
                state = post("check", SCREEN)
            elif step == "instructions":
                state = post("begin", {})
            elif step == "trial":
                with (
                    closing(sqlite3.connect(self.folders[study] / "collect.sqlite", timeout=30)) as database,
                    database,
                ):
                    database.execute(AGE)
                state = post("answer", answer_body(state["trial"]))["state"]
            elif step == "prototype":
                marked = [trial["trial"] for trial in state["prototype"]["trials"][:1]]
                state = post(
                    "prototype", (end or {}) | {"trials": marked if (end or {})["vote"] == "revise" else []}
                )
            elif step == "debrief":
                state = post("debrief", {"clear": 4, "fair": 4, "comment": "", "minutes": 2.2} | (end or {}))
            else:
                break
        self.page()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-pages-") as temporary:
        app, folders, links = make_panel(Path(temporary))
        with listening(app) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
            own, excluded = populate(app, address, folders, links)
            for suffix, (width, height) in SIZES.items():
                shots(browser, app, address, own, excluded, suffix, width, height, options.only)
            browser.close()


def make_panel(room: Path) -> tuple[PanelApplication, dict[str, Path], list[str]]:
    design_of = {
        "faces": RealismQuestion(name="faces", design=Design(raters=9, trials=16, gold_every=4)),
        "pairs": PairQuestion(name="pairs", design=Design(raters=12, trials=20)),
        "colours": PairQuestion(
            name="colours", text="Which image has the colours of the prompt?", design=Design(raters=9, trials=9)
        ),
    }
    database = open_panel(room / "panel", create=True)
    folders: dict[str, Path] = {}
    for name, question in design_of.items():
        folder = make_folder(room / name, question)
        title, purpose = TEXTS[name]
        study = load_study(folder)
        collect = study.collect.model_copy(update={"job_survey": name == "pairs"})
        changed = study.model_copy(
            update={"name": name, "title": title, "description": purpose, "collect": collect}
        )
        (folder / FILE_NAME).write_text(dump_study(changed), encoding="utf-8")
        if name == "colours":
            folder = new_round(folder)
            name = load_study(folder).name
            design(folder)
        load(folder, default_url(folder))
        folders[name] = folder
        with database.writing() as connection:
            open_study(
                connection, folder, researcher="ada" if name != "pairs" else "grace", now=time.time() - 4000
            )
    with database.writing() as connection:
        links = make_links(connection, 9, note="", now=time.time())
    database.engine.dispose()
    places = {name: (folder, default_url(folder)) for name, folder in folders.items()}
    return create_panel_app(room / "panel", None, places), folders, links


def populate(
    app: PanelApplication, address: str, folders: dict[str, Path], links: list[str]
) -> tuple[Walker, Walker]:
    """Let raters take part, rate and flag; return the one whose pages are shown, and one who was excluded."""
    walkers = []
    for number, link in enumerate(links[:7]):
        walker = Walker(httpx.Client(base_url=address, timeout=60), folders)
        walker.enter(link)
        walkers.append(walker)
        walker.work("faces")
        walker.say("rate", study="faces", rating=3 - number % 2)
        if number < 4:
            vote_of = "revise" if number == 1 else "publish"
            text = "Two images have the same colours: what then?" if vote_of == "revise" else ""
            content = {
                "vote": vote_of,
                "clear": 3,
                "minutes": 0.8,
                "pay": 4,
                "examples": number == 1,
                "text": text,
            }
            if number < 2:
                walker.work("colours-prototype-1", end=content)
    walkers[0].say(
        "flag", study="faces", kind="pay too low", text="Some images take long to load, and that is not paid."
    )
    own = walkers[3]
    service = app.state.service.services["faces"]
    with app.state.service.database.writing() as connection:
        seat = dict.fromkeys([walker.rater for walker in walkers[:3]], "rater") | dict.fromkeys(
            ("ada", "grace", "kim"), "researcher"
        )
        seat_board(connection, seat | {"ombuds": "independent"}, now=time.time())  # type: ignore[arg-type]
        number = propose_rule(
            connection,
            "Answer appeals within three days",
            "A longer wait counts as accepted.",
            by=own.rater,
            now=time.time(),
        )
        for member in ("ada", "kim"):
            vote(connection, number, member, "yes", "fair", now=time.time())
        publish_results(
            connection,
            "faces",
            "Photographs and the best generator could not be told apart: 52 % right. Thank you for your work.",
            "https://example.org/faces",
            now=time.time(),
        )
        close_study(connection, "faces", now=time.time())
    refresh(app.state.service.database, now=time.time())
    with service.database.writing() as connection:
        other = next(row.person for row in connection.execute(persons.select()))
        exclude(
            connection,
            service.catalogue,
            service.study,
            other,
            reason="answers faster than anybody can look",
            now=service.now(),
            who="ada",
        )
    walkers[0].page()
    walkers[0].say(
        "appeal",
        study="faces",
        statement="I answered quickly because I do this for a living. My gold trials were right.",
    )
    own.say("interests", kinds=["pair"])
    return own, walkers[0]


def shots(
    browser: Browser,
    app: PanelApplication,
    address: str,
    own: Walker,
    excluded: Walker,
    suffix: str,
    width: int,
    height: int,
    only: str,
) -> None:
    context = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB")
    context.add_cookies(
        [{"name": "beholder_panel", "value": own.client.cookies["beholder_panel"], "url": address}]
    )
    panel = app.state.service.catalogue.secret("researcher")
    prototype = app.state.service.services["colours-prototype-1"].catalogue.secret("researcher")
    page = context.new_page()
    page.goto(f"{address}/researcher?token={panel}")
    for part in ("overview", "raters", "pay", "appeals", "rules", "books"):
        take(
            page,
            f"panel-researcher-{part}{suffix}",
            f"{address}/researcher#{part}",
            "main .card",
            only,
            reload=True,
        )
    page.goto(f"{address}/s/colours-prototype-1/researcher?token={prototype}")
    take(
        page,
        f"prototype-researcher{suffix}",
        f"{address}/s/colours-prototype-1/researcher#prototype",
        ".beside img",
        only,
    )
    take(page, f"panel{suffix}", f"{address}/", ".offer", only, full=True)
    context.clear_cookies(name="beholder_panel")
    context.add_cookies(
        [{"name": "beholder_panel", "value": excluded.client.cookies["beholder_panel"], "url": address}]
    )
    take(
        page,
        f"panel-excluded{suffix}",
        f"{address}/",
        ".card--warning",
        only,
        first=lambda: page.locator(".card--warning").scroll_into_view_if_needed(),
    )
    take(
        page,
        f"panel-rules{suffix}",
        f"{address}/",
        "#rules-title",
        only,
        reload=True,
        first=lambda: unfold_rules(page),
    )
    context.clear_cookies(name="beholder_panel")
    context.add_cookies(
        [{"name": "beholder_panel", "value": own.client.cookies["beholder_panel"], "url": address}]
    )
    take(
        page, f"prototype-feedback{suffix}", f"{address}/", ".offer", only, first=lambda: feedback(page), full=True
    )
    context.close()


def unfold_rules(page: Page) -> None:
    """The rules, with the form for a proposal and the open log unfolded."""
    for name in ("proposing", "open-log"):
        page.locator(f"#{name} summary").press("Enter")
    page.locator("#rules-title").evaluate("part => part.scrollIntoView()")


def feedback(page: Page) -> None:
    """Go through the prototype to its feedback."""
    if page.locator("#take-colours-prototype-1").count():
        page.click("#take-colours-prototype-1")
    page.wait_for_selector(".thumb img, button:has-text('I agree and want')", timeout=60_000)
    if page.locator(".thumb img").count():
        return  # the way was gone before, on another screen
    for name in ("I agree and want", "Continue", "Start"):
        page.locator(f"button:not([disabled]):has-text('{name}')").click(timeout=60_000)
    for _ in range(3):
        page.wait_for_selector(".answer:not([disabled])")
        page.wait_for_timeout(400)
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(500)
    page.wait_for_selector(".thumb img")


def take(
    page: Page,
    name: str,
    address: str,
    ready: str,
    only: str,
    *,
    first: Callable[[], None] | None = None,
    full: bool = False,
    reload: bool = False,
) -> None:
    if only and only not in name:
        return
    page.goto(address)
    if reload:
        page.reload()
    page.wait_for_selector(ready, timeout=90_000)
    if first is not None:
        first()
    page.wait_for_timeout(1500)
    path = IMAGES / f"{name}.webp"
    Image.open(io.BytesIO(page.screenshot(full_page=full))).save(path, quality=QUALITY, method=6)
    print(f"{path}: {path.stat().st_size / 1000:.0f} KB", flush=True)


if __name__ == "__main__":
    main()
