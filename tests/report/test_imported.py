"""Imported data: raters' totals without images or answers, and published means without raters."""

import re
from pathlib import Path

import pytest

from beholder.consolidate.stage import run as consolidate
from beholder.formats import agiqa, richhf
from beholder.formats.folder import write_folder
from beholder.formats.layer6_files import IMAGE_COLUMNS, RATER_COLUMNS
from beholder.formats.layer6_study import read_study
from beholder.formats.richhf_study import read_study as read_richhf
from beholder.rank.stage import run as rank
from beholder.report.sections.heatmaps import MOST
from beholder.report.stage import PAGE, run
from beholder.study.study import load_study
from beholder.tables.store import Store

RATERS = ((3, 0.25), (2, 0.0), (2, 0.5), (4, 0.0), (3, 0.25), (4, 0.0))
"""Right answers of four, and by how much errors on generated images exceed the mean of both."""


@pytest.fixture(scope="module")
def layer6(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a release of one set: two models, three raters each, four answers per rater in 4 s."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "data").mkdir()
    (folder / "per-image-data").mkdir()
    rows = [
        f"p{n},{'good' if n < 3 else 'bad'},{r}.0,{1 - r / 4},{1 - r / 4 + d},{1 - r / 4 - d},{0.5 + d},4,2,2"
        for n, (r, d) in enumerate(RATERS)
    ]
    (folder / "data" / "faces.csv").write_text("\n".join([",".join(RATER_COLUMNS), *rows]) + "\n")
    images = ["0,good,0,r.png,6,1,0.16666666666666666", "1,good,1,g.png,6,1,0.16666666666666666"]
    images += ["2,bad,0,r.png,6,0,0.0", "3,bad,1,b.png,6,5,0.8333333333333334"]
    labels = folder / "per-image-data" / "faces_labeled_data.csv"
    labels.write_text("\n".join([",".join(IMAGE_COLUMNS), *images]) + "\n")
    study = folder / "study"
    write_folder(read_study(folder), study, form="layer6", source=folder)
    return page_of(study)


def page_of(study: Path) -> str:
    consolidate(study)
    rank(study)
    run(study)
    return (study / PAGE).read_text(encoding="utf-8")


def test_the_table_of_layer_6_has_means_and_standard_errors(layer6: str) -> None:
    # good: errors .25, .5, .5: mean 41.7 %, s = 14.434, /√3 = 8.33; bad: 0, .25, 0: mean 8.3 %, SE 8.33
    table = re.sub(r"<[^>]+>|\s+", " ", layer6[layer6.index("Where the errors come from") :])
    assert re.search(r"good\s+41\.7\s+± 8\.33", table)
    assert re.search(r"bad\s+8\.3\s+± 8\.33", table)


def test_raters_are_said_to_be_resampled_where_they_were(layer6: str) -> None:
    notes = re.sub(r"\s+", " ", layer6[layer6.index("How to read the numbers</h2>") :])
    assert "t intervals over raters" in notes
    assert "intervals over prompts" not in notes


def test_raters_are_placed_by_accuracy_and_mean_time(layer6: str) -> None:
    assert "Scatter of 6 raters by mean time and accuracy in faces: 6 used, 0 excluded in all." in layer6
    assert "1.0 s <small>mean</small>" in layer6
    assert "cannot be shown" not in layer6


def test_what_is_not_known_is_left_out_and_said(layer6: str) -> None:
    assert "The image files are not available, so no examples are shown." in layer6
    for absent in ("Effect of screening", "Likely label errors", "Best and worst images", "Staircases"):
        assert absent not in layer6


def test_published_means_have_no_raters_to_extrapolate_from(tmp_path: Path) -> None:
    rows = [
        f"{model}_normal_{n:03d}.jpg,prompt {n},,,,{1 + n / 10 + gain},0.5,{2 + n / 10},0.5"
        for model, gain in (("a", 0.0), ("b", 1.0))
        for n in range(12)
    ]
    head = "name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align"
    (tmp_path / "data.csv").write_text("\n".join([head, *rows]) + "\n")
    write_folder(agiqa.read_study(tmp_path / "data.csv"), tmp_path / "study", form="agiqa", source=tmp_path)
    html = page_of(tmp_path / "study")
    assert "The confidence interval over prompts is" in html
    notes = re.sub(r"\s+", " ", html[html.index("How to read the numbers</h2>") :])
    assert "t intervals over prompts" in notes
    assert "intervals over raters" not in notes
    assert "Width of the confidence interval against the number of raters" not in html
    assert "by speed, and by accuracy" not in html


def test_rich_feedback_without_images_or_generators_still_shows_its_maps(every_kind: Path, tmp_path: Path) -> None:
    store, study = Store(every_kind), load_study(every_kind)
    names = ("prompts", "images", "trials", "sessions", "answers", "marks", "raters")
    alone = study.model_copy(update={"questions": (study.question("feedback"),)})
    (file,) = richhf.write(alone, {name: store.read(name) for name in names}, tmp_path).files
    write_folder(read_richhf(file), tmp_path / "study", form="richhf", source=file)
    html = page_of(tmp_path / "study")
    assert (
        "Which generator made which image is not known" in html
        or "has not been rated" in html
        or "silence" in html
    )
    assert "What is wrong, and where" in html
    assert html.count("the image file is not available") == html.count("implausibility marked on") == MOST
