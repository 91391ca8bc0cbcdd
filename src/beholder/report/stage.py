"""The report stage: from tables to one page that opens without a network."""

import time
from collections.abc import Mapping
from contextlib import nullcontext
from html.parser import HTMLParser
from pathlib import Path

from beholder.report.charts.still import StillDrawer
from beholder.report.sections.rich_models import prediction_files
from beholder.report.site.images_page import IMAGES_PAGE, render_images_page
from beholder.report.site.page import compose, render
from beholder.report.site.theme import in_daylight
from beholder.report.tables.inputs import READ_TRUTH, read_inputs
from beholder.report.tables.single_images import build_single_images
from beholder.study.study import FILE_NAME, load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import Provenance, file_hash
from beholder.tables.stages import REPORT, STAGES
from beholder.tables.store import TRUTH_ROOM, Store
from beholder.tables.work import Outcome, Work, provenance_of, records

STAGE = STAGES["report"]

PAGE = "report.html"
STILLS = "report"
"""Folder of the charts as SVG files."""

META = "beholder-provenance"
HEAD = 1 << 16
"""The provenance record is within this many characters of the start of the page."""


def run(
    folder: Path,
    *,
    force: bool = False,
    drawer: StillDrawer | None = None,
    comments: Mapping[tuple[str, str], str] | None = None,
) -> Outcome:
    """Write ``report.html``, ``images.html`` and a drawing of each chart, unless made from the same tables.

    A ``drawer`` that was started before this module was imported saves the time that it takes to start. With
    ``comments``, by rater and trial, the page of single images shows them, and both pages are always written.
    """
    began = time.monotonic()
    study = load_study(folder)
    settings = {} if comments is None else {"comments": True}
    record = provenance_of(Store(folder), Work(REPORT, settings, study.seed, _files(folder)))
    if not force and comments is None and records(_recorded(folder), record, REPORT):
        return Outcome("report", skipped=True)
    with StillDrawer() if drawer is None else nullcontext(drawer) as drawing:
        page = compose(study, read_inputs(folder), folder)
        drawing.begin([chart.spec for chart in page.charts])
        single = build_single_images(study, folder, page.marks, comments)
        images = render_images_page(study, single, page.marks, page.caveats, PAGE, commented=comments is not None)
        stills = dict(zip((chart.name for chart in page.charts), drawing.drawings(), strict=True))
    _write_stills(folder / STILLS, stills)
    html = render(page, record.to_json(), stills)
    for name, text in ((IMAGES_PAGE, images), (PAGE, html)):
        with write_atomically(folder / name) as file:
            file.write(text.encode())
    return Outcome(
        "report",
        skipped=False,
        rows={"pages": 2, "charts": len(stills)},
        seconds=time.monotonic() - began,
    )


def _files(folder: Path) -> dict[str, str]:
    """Its inputs besides the tables: the study file, a synthetic world's ground truth, models' predictions."""
    truth = Store(folder, TRUTH_ROOM)
    files = {FILE_NAME: file_hash(folder / FILE_NAME)}
    files |= {f"{TRUTH_ROOM}/{name}": truth.hash(name) for name in READ_TRUTH}
    return files | {path.relative_to(folder).as_posix(): file_hash(path) for path in prediction_files(folder)}


def _recorded(folder: Path) -> Provenance | None:
    """The provenance record in the head of the existing page; ``None`` where there is none."""
    path = folder / PAGE
    if not (path.is_file() and (folder / IMAGES_PAGE).is_file() and (folder / STILLS).is_dir()):
        return None
    with path.open(encoding="utf-8", errors="replace") as file:
        reader = _MetaReader()
        reader.feed(file.read(HEAD))
    if reader.content is None:
        return None
    try:
        return Provenance.from_json(reader.content)
    except (ValueError, TypeError):
        return None


class _MetaReader(HTMLParser):
    """Finds the provenance record in the head of a page."""

    content: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the content of the meta element that holds the record."""
        attributes = dict(attrs)
        if tag == "meta" and attributes.get("name") == META:
            self.content = attributes.get("content")


def _write_stills(folder: Path, stills: dict[str, str]) -> None:
    """Write one SVG file per chart, and remove those of charts that no longer exist.

    They are written before the page, which alone marks the work as done, so an interrupted run draws them again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in stills.items():
        (folder / f"{name}.svg").write_text(in_daylight(svg), encoding="utf-8")
    for path in folder.glob("*.svg"):
        if path.stem not in stills:
            path.unlink()
