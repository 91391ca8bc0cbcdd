"""``beholder import``: a study that runs to its report, or nothing at all."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Ran

from beholder.formats.catalogue import FORMATS, READABLE
from beholder.formats.layer6_files import IMAGE_COLUMNS, RATER_COLUMNS

Run = Callable[..., Ran]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release of one set: two models, three raters each, four answers per rater."""
    folder = tmp_path / "release"
    (folder / "data").mkdir(parents=True)
    rows = [
        f"p{n},{'good' if n < 3 else 'bad'},{r}.0,{1 - r / 4},{1 - r / 4 + d},{1 - r / 4 - d},{0.5 + d},4,2,2"
        for n, (r, d) in enumerate([(3, 0.25), (2, 0.0), (2, 0.5), (4, 0.0), (3, 0.25), (4, 0.0)])
    ]
    (folder / "data" / "faces.csv").write_text("\n".join([",".join(RATER_COLUMNS), *rows]) + "\n")
    (folder / "per-image-data").mkdir()
    images = ["0,good,0,r.png,6,1,0.16666666666666666", "1,good,1,g.png,6,1,0.16666666666666666"]
    images += ["2,bad,0,r.png,6,0,0.0", "3,bad,1,b.png,6,5,0.8333333333333334"]
    file = folder / "per-image-data" / "faces_labeled_data.csv"
    file.write_text("\n".join([",".join(IMAGE_COLUMNS), *images]) + "\n")
    return folder


def test_a_release_runs_to_its_report(run: Run, release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    imported = run("import", "layer6", release, folder)
    assert imported.code == 0
    assert "12 totals, 6 sessions, 4 published, 3 images" in imported.out
    assert "does not add up: faces: good: 4 wrong answers on generated images by rater, 5 by image" in imported.out
    assert "The image files are not available" in (folder / "import.md").read_text()
    ran = run("run", folder)
    assert ran.code == 0, ran.err
    assert "design: unchanged" in ran.out
    page = (folder / "report.html").read_text()
    assert "The image files are not available, so no examples are shown." in page
    assert "the image file cannot be read" not in page
    assert "collected (UTC)" not in page
    assert run("run", folder).out.count("unchanged") == 4


def test_published_scores_run_to_a_report_that_says_whose_they_are(run: Run, tmp_path: Path) -> None:
    rows = [
        f"{model}_normal_{n:03d}.jpg,prompt {n},,,,{1 + n / 10 + gain},0.5,{2 + n / 10},0.5"
        for model, gain in (("a", 0.0), ("b", 1.0))
        for n in range(12)
    ]
    head = "name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align"
    (tmp_path / "data.csv").write_text("\n".join([head, *rows]) + "\n")
    assert run("import", "agiqa", tmp_path / "data.csv", tmp_path / "study").code == 0
    assert run("run", tmp_path / "study").code == 0
    page = (tmp_path / "study" / "report.html").read_text()
    assert "The confidence interval is over prompts." in page
    assert "The confidence interval is over raters." not in page
    assert "raters took part" not in page


def test_data_that_names_no_generators_still_runs(run: Run, tmp_path: Path) -> None:
    choice = {"prompt": "a cat", "file_path": ["a.png", "b.png"], "human_preference": [1, 0], "user_hash": "u"}
    (tmp_path / "train.json").write_text(json.dumps([choice]))
    assert run("import", "hpd", tmp_path / "train.json", tmp_path / "study").code == 0
    ran = run("run", tmp_path / "study")
    assert ran.code == 0, ran.err
    page = (tmp_path / "study" / "report.html").read_text()
    assert "Which generator made which image is not known, so there is nothing to rate." in page


def test_all_faults_are_told_and_nothing_is_written(run: Run, release: Path, tmp_path: Path) -> None:
    by_rater = release / "data" / "faces.csv"
    by_rater.write_text(by_rater.read_text().replace("p1,", "p0,").replace("p2,good,2.0", "p2,good,2.5"))
    refused = run("import", "layer6", release, tmp_path / "study")
    assert refused.code == 2
    assert "the id occurs twice: p0" in refused.err
    assert "num_correct is no whole number: p2" in refused.err
    assert "Traceback" not in refused.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release"]


def test_a_folder_that_holds_something_is_left_alone(run: Run, release: Path, tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    assert run("import", "layer6", release, tmp_path / "study", "--json").code == 0
    before = {path: path.read_bytes() for path in (tmp_path / "study").rglob("*") if path.is_file()}
    again = run("import", "layer6", release, tmp_path / "study")
    assert again.code == 2
    assert "it is there already" in again.err
    assert {path: path.read_bytes() for path in (tmp_path / "study").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("form", READABLE)
def test_a_source_that_is_not_there_is_told(run: Run, form: str, tmp_path: Path) -> None:
    refused = run("import", form, tmp_path / "nothing", tmp_path / "study")
    assert refused.code == 2
    assert refused.err.startswith("error: ")
    assert not (tmp_path / "study").exists()


def test_formats_that_make_no_study_are_not_offered(run: Run, tmp_path: Path) -> None:
    assert set(FORMATS) - set(READABLE) == {"parquet", "csv", "jspsych", "datasets"}
    assert run("import", "jspsych", tmp_path, tmp_path / "study").code == 2
