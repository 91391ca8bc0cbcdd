"""The scripts read as text: every word is translated, every kind has a view, and the rules of the house hold."""

import json
import re
from pathlib import Path

import pytest

from beholder.study.job_questions import SURVEY_KEYS
from beholder.study.kinds.catalogue import KINDS
from beholder.study.kinds.choosing import Choosing
from beholder.tables.schemas.collect import STATUSES

COLLECT = Path(__file__).parents[3] / "src" / "beholder" / "collect"
PAGES = COLLECT / "pages"
RATER = sorted(path for path in PAGES.rglob("*.js") if "researcher" not in str(path))
STUDY = [path for path in RATER if path.parent not in (PAGES / "panel", PAGES / "arena")]
OWN_PAGE = [path for path in RATER if path.parent == PAGES / "panel"]
EN, DE = (
    json.loads((COLLECT / "texts" / f"{language}.json").read_text())
    | json.loads((COLLECT / "texts" / "panel" / f"{language}.json").read_text())
    for language in ("en", "de")
)


def test_both_languages_say_the_same() -> None:
    assert list(EN) == list(DE)
    for key, text in EN.items():
        assert text.strip(), key
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", DE[key])), key


def test_no_page_promises_what_a_study_does_not_keep() -> None:
    """Studies have attention checks: no text says that there are no trick questions. None speaks of admission."""
    texts = [*EN.values(), *(path.read_text() for path in PAGES.rglob("*.js"))]
    assert [text for text in texts if "trick question" in text.lower()] == []
    assert [text for text in texts if re.search(r"""["'>]Admission""", text)] == []
    assert [text for text in DE.values() if "fangfrage" in text.lower()] == []


def test_every_text_that_a_script_names_is_there() -> None:
    named = {
        key
        for path in RATER
        for key in re.findall(r"""["']([a-z-]+(?:\.[a-z0-9-]+)+|copy|copied|cancel)["']""", path.read_text())
    }
    files = {path.name for path in RATER}
    stored = {"beholder.outbox", "beholder.entered", "beholder.resume", "beholder.language"}
    assert {key for key in named if not key.endswith(".js")} - set(EN) - files - stored == set()


def test_every_choice_status_and_kind_has_words() -> None:
    choices = {choice for kind in KINDS.values() if isinstance(kind, Choosing) for choice in kind.choices}
    assert {f"choice.{choice}" for choice in choices} <= set(EN)
    assert {f"done.{status}" for status in STATUSES if status != "running"} <= set(EN)
    assert {f"instructions.{kind}.1" for kind in KINDS} <= set(EN)
    assert {f"panel.kind.{kind}" for kind in KINDS} <= set(EN)
    ended = {status for status in STATUSES if status != "no-consent"}
    assert {f"panel.status.{status}" for status in ended} <= set(EN)
    assert {f"job.{name}" for name in SURVEY_KEYS} <= set(EN)


def test_every_kind_has_a_view() -> None:
    lines = (PAGES / "kinds" / "catalogue.js").read_text()
    assert re.findall(r'^  "([a-z0-9-]+)": \w+,$', lines, re.MULTILINE) == list(KINDS)


@pytest.mark.parametrize("path", RATER, ids=lambda path: str(path.relative_to(PAGES)))
def test_scripts_are_short_and_safe(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < 300
    for banned in ("innerHTML", "outerHTML", "eval(", 'setAttribute("style"', "document.write", "TODO", "http://"):
        assert banned not in text.replace('"http://www.w3.org/2000/svg"', ""), banned
    assert not re.search(r"^\s*(window|globalThis)\.\w+ =", text, re.MULTILINE)


def test_all_scripts_are_asked_for_at_once() -> None:
    """Without this a browser finds them one after the other, each a journey to the server."""
    preloaded = re.findall(r'rel="modulepreload" href="/static/([^"]+)"', (PAGES / "index.html").read_text())
    assert preloaded == [str(path.relative_to(PAGES)) for path in STUDY if path.name != "app.js"]
    page = (PAGES / "panel" / "index.html").read_text()
    preloaded = re.findall(r'rel="modulepreload" href="/static/([^"]+)"', page)
    own = {str(path.relative_to(PAGES)) for path in OWN_PAGE if path.name != "app.js"}
    assert set(preloaded) == own | {"dom.js", "steps/points.js", "texts.js"}


@pytest.mark.parametrize("name", ["index.html", "panel/index.html", "panel/researcher/index.html"])
def test_nothing_comes_from_elsewhere(name: str) -> None:
    page = (PAGES / name).read_text().replace('href="#content"', "")
    assert re.findall(r"""(?:src|href)="((?!/static/)[^"]*)""", page) == []
    assert "<style" not in page
    assert "style=" not in page
    assert not re.search(r"<script(?! type=\"module\" src=)", page)
