"""Layer 6's files: hand-worked rows, the real release, and its oddities."""

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.formats.conftest import Making, study_of

from beholder.errors import StudyError, TableError
from beholder.formats import layer6
from beholder.formats.answered import answered_tests
from beholder.formats.layer6_files import IMAGE_COLUMNS, RATER_COLUMNS, read_release, read_set, write_set
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared"))
RELEASE = SHARED / "data" / "layer6-realism"
needs_release = pytest.mark.skipif(not RELEASE.exists(), reason=f"the Layer 6 release is not at {RELEASE}")

QUESTION = RealismQuestion(name="faces")


def judge(making: Making, rater: str, image: str, expected: str, choice: str, seconds: float) -> None:
    making.judged(rater, QUESTION, [image], {"realism": {"choice": choice}}, expected=expected, seconds=seconds)


@pytest.fixture
def small(making: Making) -> Making:
    """Two raters, one for each model; the first is right on 3 of 4."""
    for image in ("r1", "r2"):
        making.image(image, "real")
    for image, generator in (("a1", "alpha"), ("a2", "alpha"), ("b1", "Beta")):
        making.image(image, generator)
    making.session("p", "faces")
    making.session("q", "faces")
    judge(making, "p", "a1", "generated", "generated", 1.25)
    judge(making, "p", "r1", "real", "real", 2.0)
    judge(making, "p", "a2", "generated", "real", 0.5)
    judge(making, "p", "r2", "real", "real", 1.0)
    judge(making, "q", "b1", "generated", "generated", 3.0)
    judge(making, "q", "r1", "real", "generated", 1.0)
    return making


def test_both_files_by_hand(small: Making, tmp_path: Path) -> None:
    """p: 3 of 4 right; of 2 fakes 1 wrong; 3 times 'real'; 4.75 s = 1.75 + 3. q: 1 of 2 right."""
    written = layer6.write(study_of(QUESTION), small.tables(), tmp_path)
    assert [file.relative_to(tmp_path).as_posix() for file in written.files] == [
        "data/faces.csv",
        "per-image-data/faces_labeled_data.csv",
    ]
    assert written.files[0].read_text() == (
        "id,model,num_correct,err_rt,f_err_rt,r_err_rt,r_ans_rt,resp_time,f_resp_time,r_resp_time\n"
        "participant_0,alpha,3.0,0.25,0.5,0.0,0.75,4.75,1.75,3.0\n"
        "participant_1,Beta,1.0,0.5,0.0,1.0,0.0,4.0,3.0,1.0\n"
    )
    assert written.files[1].read_text() == (
        ",model,generated,image_path,number_guesses,number_guesses_generated,soft_label\n"
        "0,alpha,0,images/r1.png,1,0,0.0\n"
        "1,alpha,0,images/r2.png,1,0,0.0\n"
        "2,alpha,1,images/a1.png,1,1,1.0\n"
        "3,alpha,1,images/a2.png,1,0,0.0\n"
        "4,Beta,0,images/r1.png,1,1,1.0\n"
        "5,Beta,1,images/b1.png,1,1,1.0\n"
    )


def test_what_was_written_is_read_again(small: Making, tmp_path: Path) -> None:
    layer6.write(study_of(QUESTION), small.tables(), tmp_path)
    release_set = read_set(tmp_path, "faces", trials=None)
    answers = layer6._with_judged_model(answered_tests(small.tables(), "faces"), small.tables()["images"])
    assert_frame_equal(release_set.participants, layer6.participants(answers).select(list(RATER_COLUMNS)))
    assert release_set.images is not None
    assert release_set.images[""].to_list() == list(range(6))


def test_only_complete_sessions_and_valid_test_answers_count(small: Making, tmp_path: Path) -> None:
    small.session("left", "faces", status="returned")
    judge(small, "left", "a1", "generated", "real", 1.0)
    small.judged("p", QUESTION, ["a1"], {"realism": {"choice": "real"}}, expected="generated", role="gold")
    small.judged("p", QUESTION, ["a2"], {"realism": {"choice": "real"}}, expected="generated", valid=False)
    written = layer6.write(study_of(QUESTION), small.tables(), tmp_path)
    assert written.notes == ("faces: 1 raters who did not complete the question are left out",)
    assert read_set(tmp_path, "faces", trials=None).participants.height == 2


def test_someone_who_judged_two_models_does_not_fit(small: Making, tmp_path: Path) -> None:
    judge(small, "p", "b1", "generated", "real", 1.0)
    with pytest.raises(StudyError, match="1 raters judged several generators"):
        layer6.write(study_of(QUESTION), small.tables(), tmp_path)


def test_a_study_without_realism_cannot_be_written(making: Making, tmp_path: Path) -> None:
    with pytest.raises(
        StudyError, match=r"no question of kind realism or timed-realism; the study has 'p' \(pair\)"
    ):
        layer6.write(study_of(PairQuestion(name="p")), making.tables(), tmp_path)


@needs_release
@pytest.mark.parametrize("name", ["cifar10", "imagenet256"])
def test_the_release_is_read_and_written_byte_for_byte(name: str, tmp_path: Path) -> None:
    release_set = read_set(RELEASE, name)
    assert release_set.images is not None
    write_set(tmp_path, name, release_set.participants, release_set.images)
    assert (tmp_path / "data" / f"{name}.csv").read_bytes() == (RELEASE / "data" / f"{name}.csv").read_bytes()
    source = RELEASE / "per-image-data" / f"{name.removesuffix('256')}_labeled_data.csv"
    assert (tmp_path / "per-image-data" / f"{name}_labeled_data.csv").read_bytes() == source.read_bytes()


@needs_release
def test_the_release_does_not_reconcile_and_says_so() -> None:
    """As facts has it: raters in the file of the images without a row of their own."""
    cifar, imagenet = read_release(RELEASE)
    assert (cifar.name, cifar.participants.height) == ("cifar10", 328)
    assert (imagenet.name, imagenet.participants.height) == ("imagenet256", 279)
    more = {model.model: (model.by_image or 0) - model.participants for model in cifar.differences}
    assert more == {"ACGAN": 1, "LSGM-ODE": 2, "MHGAN": 1, "StyleGAN2-ada": 2, "StyleGAN-XL": 1}
    assert {model.model: (model.by_image or 0) - model.participants for model in imagenet.differences} == {
        "ADMG": 1
    }


@needs_release
def test_ids_restart_in_each_set() -> None:
    cifar, imagenet = read_release(RELEASE)
    assert cifar.participants["id"][0] == imagenet.participants["id"][0] == "participant_0"
    assert cifar.participants["num_correct"].dtype == pl.Float64


ROW = "participant_0,m,150.0,0.25,0.3,0.2,0.55,100.0,50.0,50.0"


def person_file(folder: Path, *rows: str) -> Path:
    (folder / "data").mkdir()
    (folder / "data" / "s.csv").write_text("\n".join([",".join(RATER_COLUMNS), *rows]) + "\n")
    return folder


def test_a_missing_model_is_reported(tmp_path: Path) -> None:
    """As with ct2 of lsun256."""
    person_file(tmp_path, ROW)
    (tmp_path / "per-image-data").mkdir()
    row = "0,other,1,x.png,200,100,0.5"
    (tmp_path / "per-image-data" / "s_labeled_data.csv").write_text(f"{','.join(IMAGE_COLUMNS)}\n{row}\n")
    release_set = read_set(tmp_path, "s")
    assert [(model.model, model.participants, model.by_image) for model in release_set.differences] == [
        ("m", 1, None),
        ("other", 0, 1.0),
    ]


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    person_file(
        tmp_path,
        ROW,
        ROW,
        ROW.replace("participant_0", "p1").replace("150.0", "149.5"),
        ROW.replace("participant_0", "p2").replace("100.0", "90.0"),
    )
    with pytest.raises(TableError) as caught:
        read_set(tmp_path, "s")
    assert caught.value.faults == (
        "num_correct is no whole number: p1",
        "resp_time is not f_resp_time + r_resp_time: p2",
        "the id occurs twice: participant_0",
        "err_rt is not 1 − num_correct/200: p1",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "columns nothing; expected id"),
        ("id,model\n", "columns id, model; expected id, model, num_correct"),
        (
            f"{','.join(RATER_COLUMNS)}\na,b,x,y,1,1,1,1,1,1\nshort\n",
            "line 2: num_correct is 'x'(.|\n)*line 3: 1 values",
        ),
        ("version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    ],
)
def test_files_that_are_none_are_refused(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "s.csv").write_text(content)
    with pytest.raises(TableError, match=message):
        read_set(tmp_path, "s")


def test_a_folder_without_sets_is_refused(tmp_path: Path, sound: Callable[..., None]) -> None:  # noqa: ARG001
    with pytest.raises(TableError, match="no CSV files"):
        read_release(tmp_path)
