"""The published numbers fitted to the images: whatever their number, the trials of a new study can be drawn."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture
from pydantic import ValidationError

from beholder.design.draw import draw_question
from beholder.design.fit import FITTED, Change, fit_question
from beholder.design.items import Image, Pools
from beholder.design.new import NewStudy, make_study
from beholder.design.stage import run as design
from beholder.errors import StudyError
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Design
from beholder.tables.store import Store

GENERATORS, MOST = 9, 200

Make = Callable[..., NewStudy]


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders real and g0 … g8 with 200 images each."""
    root = tmp_path_factory.mktemp("fit-pictures")
    rng = np.random.default_rng(0)
    for generator in ("real", *(f"g{number}" for number in range(GENERATORS))):
        (root / generator).mkdir()
        for number in range(MOST):
            pixels = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
            Picture.fromarray(pixels).save(root / generator / f"{number:03d}.bmp")
    return root


@pytest.fixture
def make(pictures: Path, tmp_path: Path) -> Make:
    """Make a study of so many generators with so many images each, and as many real ones."""

    def new_study(protocol: str, generators: int, count: int, **numbers: int) -> NewStudy:
        names = [f"g{number}" for number in range(generators)]
        manifest = pictures / f"{generators}-{count}.csv"
        with manifest.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["path", "generator", "prompt", "real"])
            for name in ("real", *names):
                for number in range(count):
                    rows.writerow(
                        [f"{name}/{number:03d}.bmp", name, f"prompt {number}", str(name == "real").lower()]
                    )
        return make_study([protocol], tmp_path / "study", manifest=manifest, numbers=numbers)

    return new_study


def pools(generators: int, images: int) -> Pools:
    """So many images of each generator, one for each prompt, and as many real ones."""
    return Pools(
        real=tuple(Image(f"real/{i}", "real", True, False, None) for i in range(images)),
        generated=tuple(
            Image(f"g{g}/{i}", f"g{g}", False, False, f"p{i}") for g in range(generators) for i in range(images)
        ),
        gold=(),
    )


@pytest.mark.parametrize("images", [8, 40, 200])
@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_the_trials_of_a_new_study_can_be_drawn(make: Make, protocol: str, images: int) -> None:
    new_study = make(protocol, 9 if protocol == "hpd-ranking" else 2, images)
    assert not design(new_study.folder).skipped
    trials = Store(new_study.folder).read("trials")
    (question,) = new_study.study.questions
    assert trials["slot"].n_unique() == question.design.raters
    tests = trials.filter(trials["role"] == "test")
    assert tests.height == question.design.raters * question.design.trials
    shown = tests.explode("images").group_by("slot", "images").len()
    if question.kind in ("realism", "timed-realism", "rating", "rich-feedback"):
        assert shown["len"].max() == 1  # nobody judges an image twice


@pytest.mark.parametrize("generators", [2, 9])
@pytest.mark.parametrize("images", [8, 40, 200])
@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "hpd-ranking"])
def test_they_can_be_drawn_for_any_number_of_generators(protocol: str, images: int, generators: int) -> None:
    """Few raters are drawn, to be quick: slots do not depend on each other but for answers per item."""
    pool = pools(generators, images)
    (published,) = PROTOCOLS[protocol].questions()
    fitted, _ = fit_question(published, pool, {})
    if fitted.design.raters_per_item is None:
        few = fitted.design.model_copy(update={"raters": generators})
        fitted = fitted.model_copy(update={"design": few})
    slots = draw_question(fitted, pool, np.random.default_rng(0))
    assert len(slots) == fitted.design.raters


def numbers(protocol: str, pool: Pools, **chosen: int | None) -> dict[str, int | None]:
    """The numbers of the fitted design that were changed."""
    (published,) = PROTOCOLS[protocol].questions()
    fitted, changes = fit_question(published, pool, chosen)
    for change in changes:
        if change.setting != "images":
            assert change.fitted == getattr(fitted.design, change.setting)
            assert change.published == getattr(published.design, change.setting)
    return {change.setting: change.fitted for change in changes}


def test_numbers_that_fit_are_left_as_published() -> None:
    for protocol in ("hype-infinity", "layer6-realism", "mos", "rich-feedback"):
        assert numbers(protocol, pools(2, 200)) == {}
    assert numbers("hpd-pairs", pools(3, 40)) == {}  # 120 pairs
    assert numbers("hpd-ranking", pools(9, 60)) == {}  # 30 raters × 20 = 10 answers for each of 60


def test_opinions_of_eighty_images() -> None:
    """30 raters × 40 trials = 1,200 = 15 answers for each of 80 images."""
    assert numbers("mos", pools(2, 40)) == {"trials": 40}
    # 16 images × 15 = 240 answers: 24 raters × 10 trials is the most raters with ten trials; then one block
    assert numbers("mos", pools(2, 8)) == {"raters": 24, "trials": 10, "blocks": 1, "attention_every": 10}


def test_rich_feedback_of_eighty_images() -> None:
    """15 raters × 16 trials = 240 = 3 answers for each of 80 images; 20 trials had an attention check, so 16."""
    assert numbers("rich-feedback", pools(2, 40)) == {"trials": 16, "attention_every": 16}


def test_realism_shrinks_with_its_qualification() -> None:
    """40 real images: 20 in the test and 20 in the qualification, and as many generated ones."""
    assert numbers("hype-infinity", pools(2, 40)) == {"trials": 40, "qualification": 40}


def test_a_qualification_of_few_images_is_left_out() -> None:
    """Of 19 real images ten would be left for the test: too few for both, so all serve the test."""
    assert numbers("hype-infinity", pools(2, 19)) == {"trials": 38, "qualification": 0}
    assert numbers("hype-infinity", pools(2, 8)) == {"trials": 16, "qualification": 0}


def test_repeats_go_with_trials() -> None:
    """8 pairs: a tenth of them, at least one, is asked again; a check after every 25 would never come."""
    assert numbers("hpd-pairs", pools(2, 8)) == {"trials": 8, "repeats": 1, "attention_every": 8}


def test_rows_are_as_long_as_prompts_have_images() -> None:
    assert numbers("hpd-ranking", pools(4, 60)) == {"images": 4}
    (published,) = PROTOCOLS["hpd-ranking"].questions()
    fitted, (change,) = fit_question(published, pools(4, 60), {})
    assert isinstance(fitted, RankingQuestion)
    assert fitted.images == 4
    assert str(change) == "images 4 (published: 9)"


def test_chosen_numbers_are_not_fitted() -> None:
    fitted = numbers("mos", pools(2, 40), raters=7)
    assert fitted == {"trials": 80, "raters_per_item": 7}  # each of 80 images by all seven
    assert numbers("hpd-pairs", pools(2, 40), trials=20, repeats=5) == {"attention_every": 20}
    assert numbers("hype-infinity", pools(2, 40), trials=60) == {"qualification": 20}
    assert numbers("mos", pools(2, 40), raters_per_item=None) == {"trials": 80}


def test_chosen_numbers_that_contradict_each_other_are_an_error() -> None:
    with pytest.raises(ValidationError, match=r"repeats \(9\) cannot exceed trials \(3\)"):
        numbers("hpd-pairs", pools(2, 40), trials=3, repeats=9)


def test_a_study_that_cannot_be_drawn_is_not_made(make: Make, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="8 items to judge, but each rater judges 20 without repetition"):
        make("hpd-pairs", 2, 8, trials=20)
    with pytest.raises(StudyError, match="gold, qualification and training trials need a known answer"):
        make("mos", 2, 8, training=4)
    with pytest.raises(StudyError, match="0 items to judge"):
        make("hpd-ranking", 2, 8)
    with pytest.raises(StudyError, match="mos: a trial shows a fixed number of images"):
        make("mos", 2, 8, images=4)
    assert not (tmp_path / "study").exists()


def test_a_change_in_words() -> None:
    assert str(Change("trials", 100, 40)) == "trials 40 (published: 100)"
    assert str(Change("qualification", 100, 0)) == "qualification none (published: 100)"


def test_every_fitted_setting_is_one_of_the_design() -> None:
    assert set(FITTED) == set(Design.model_fields) - {"between", "real_share"}
