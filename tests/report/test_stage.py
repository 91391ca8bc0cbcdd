import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import drawing_process

from beholder.errors import StageError
from beholder.report.site.images_page import IMAGES_PAGE
from beholder.report.stage import PAGE, STILLS, run
from beholder.study.study import FILE_NAME
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

MakeStudy = Callable[..., Path]
ONE = ["hype-infinity"]
RECORD = Provenance("test", {}, 0, {})


@pytest.fixture(scope="module")
def study(make_study: MakeStudy) -> Path:
    folder = make_study(protocols=["hype-infinity", "mos"])
    with drawing_process():
        run(folder)
    return folder


def test_what_was_written(study: Path) -> None:
    html = (study / PAGE).read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "alpha ranks first by all three measures." in html
    assert "By realism, beta and gamma: not enough evidence to separate them yet; about 36 more raters." in html
    assert "collected (UTC)" not in html  # nobody was asked on the day that the simulation's clock says
    for page in (html, (study / IMAGES_PAGE).read_text(encoding="utf-8")):
        assert "The raters in this study are simulated." in page
    for part in ("ground truth", "Which generators are significantly different", "by speed, and by accuracy"):
        assert part in html
    assert "Where the errors come from" in html
    assert "count every rater the same, however many answers they gave" in html
    notes = ["note-intervals", "note-separated", "note-weight"]  # text refers to the first two as 1 and 2
    assert re.findall(r'<li id="(note-[a-z]+)"', html) == notes
    stills = {path.stem for path in (study / STILLS).glob("*.svg")}
    assert stills == set(re.findall(r'data-chart="([^"]+)"', html))
    assert {"realism-ratings", "realism-pairs", "opinion-quality-slice-1", "raters-realism", "agreement"} <= stills
    assert not any("var(--" in path.read_text(encoding="utf-8") for path in (study / STILLS).glob("*.svg"))


def test_unchanged_work_is_skipped_and_the_same_inputs_give_the_same_bytes(study: Path) -> None:
    before = (study / PAGE).read_bytes()
    assert run(study).skipped
    outcome = run(study, force=True)
    assert not outcome.skipped
    assert outcome.rows["pages"] == 2
    assert outcome.rows["charts"] == len(list((study / STILLS).glob("*.svg")))
    assert (study / PAGE).read_bytes() == before
    (study / IMAGES_PAGE).unlink()
    assert not run(study).skipped
    assert (study / IMAGES_PAGE).is_file()


def test_what_changes_makes_a_new_report(make_study: MakeStudy) -> None:
    folder = make_study(["alpha", "beta"], protocols=ONE)
    assert not run(folder).skipped
    toml = folder / FILE_NAME
    toml.write_text(toml.read_text(encoding="utf-8").replace("Small & <b>plain</b>", "Another"), encoding="utf-8")
    assert not run(folder).skipped
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert "<h1>Another</h1>" in html
    assert "note-weight" not in html  # error rates have no choice of weights
    ratings = Store(folder).read("ratings")
    Store(folder).write({"ratings": ratings.filter(ratings["slice"] == "all")}, RECORD)
    assert not run(folder).skipped
    assert not list((folder / STILLS).glob("*slice*"))  # drawings of charts that are no more are gone
    (folder / PAGE).write_text("<html>torn", encoding="utf-8")
    assert not run(folder).skipped


def test_what_counts_the_same_is_said(make_study: MakeStudy) -> None:
    folder = make_study(["alpha", "beta"], protocols=["mos"])
    toml = folder / FILE_NAME
    text = toml.read_text(encoding="utf-8")
    toml.write_text(text.replace('weight = "raters"', 'weight = "answers"'), encoding="utf-8")
    run(folder)
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert 'count every answer the same (<code>weight = "answers"</code>)' in html
    assert "count every rater the same, however" not in html


def test_comments_are_on_the_page_of_single_images_only_when_asked_for(make_study: MakeStudy) -> None:
    folder = make_study(protocols=ONE)
    run(folder, comments={})
    assert "do not publish it" in (folder / IMAGES_PAGE).read_text()
    assert not run(folder).skipped  # a report without them is another report
    assert "stay in the database" in (folder / IMAGES_PAGE).read_text()


def test_names_are_text_wherever_they_stand(make_study: MakeStudy) -> None:
    names = ['<script>alert("x")</script>', "a</script><img src=x onerror=alert(1)>", "'\"&"]
    folder = make_study(names, protocols=ONE)
    run(folder)
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "<b>plain</b>" not in html
    assert "<i>& a dog</i>" not in html
    assert "&lt;script&gt;alert" in html


def test_a_study_nobody_has_answered(make_study: MakeStudy) -> None:
    folder = make_study(answered=False)
    run(folder)
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert html.count("Nobody has taken part yet.") == 3
    assert "No generator has been rated yet." in html
    assert run(folder).skipped


def test_nobody_could_be_used(make_study: MakeStudy) -> None:
    folder = make_study(protocols=ONE)
    store = Store(folder)
    empty = {name: TABLES[name].empty() for name in ("ratings", "separations", "labels")}
    raters = store.read("raters").with_columns(used=False)
    store.write({**empty, "raters": raters}, RECORD)
    run(folder)
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert html.count("The answers of any of the 6 raters could not be used, so there is no rating.") == 1


def test_one_generator_without_separations_or_intervals(make_study: MakeStudy) -> None:
    folder = make_study(["alone"], protocols=ONE)
    store = Store(folder)
    bare = dict.fromkeys(("low", "high", "naive_low", "naive_high"))
    rows = [{**row, **bare} for row in store.read("ratings").to_dicts()]
    store.write({"ratings": TABLES["ratings"].frame(rows)}, RECORD)
    run(folder)
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert "Only alone was judged, so there is nothing to compare it with." in html
    assert "Which generators are significantly different" not in html


def test_stale_tables_are_named(make_study: MakeStudy) -> None:
    folder = make_study(["alpha", "beta"], protocols=ONE)
    store = Store(folder)
    old = Provenance("rank", {}, 0, {"raters": "the hash of an older table"})
    store.write({"ratings": store.read("ratings")}, old)
    run(folder)
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert "<code>ratings</code> was written before raters changed" in html


def test_ground_truth_is_not_shown_with_real_raters(make_study: MakeStudy) -> None:
    folder = make_study(["alpha", "beta"], protocols=ONE)
    store = Store(folder)
    sessions = store.read("sessions").with_columns(simulated=False)
    store.write({"sessions": sessions}, RECORD)
    run(folder)
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert "ground truth" not in html
    assert "collected (UTC)" in html
    for page in (html, (folder / IMAGES_PAGE).read_text(encoding="utf-8")):
        assert "are simulated" not in page


def test_without_images_it_says_what_to_run(make_study: MakeStudy) -> None:
    folder = make_study(answered=False)
    Store(folder).path("images").unlink()
    with pytest.raises(StageError, match=r"images\.parquet is missing"):
        run(folder)
