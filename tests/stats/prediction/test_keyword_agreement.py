import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.prediction.keyword_agreement import MEASURES, keyword_agreement

# image 0: one of two found, one wrong; image 1: none marked at all; image 2: one marked, none found
PREDICTED = [True, False, True, False, False, False, False]
MARKED = [True, True, False, False, False, True, False]
IMAGES = [0, 0, 0, 1, 1, 2, 2]


def test_by_hand() -> None:
    agreement = keyword_agreement(PREDICTED, MARKED, IMAGES)
    assert agreement.pooled() == pytest.approx({"precision": 1 / 2, "recall": 1 / 3, "f1": 2 / 5})
    assert agreement.by_image() == pytest.approx({"precision": 1 / 4, "recall": 1 / 4, "f1": 1 / 4})


@given(st.integers(0, 2**32 - 1))
def test_pooled_is_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, people, images = rng.random(60) < 0.4, rng.random(60) < 0.3, rng.integers(0, 12, 60)
    agreement = keyword_agreement(model, people, images)
    *theirs, _ = precision_recall_fscore_support(people, model, average="binary", zero_division=np.nan)
    assert [agreement.pooled()[name] for name in MEASURES] == pytest.approx(theirs, rel=1e-12, nan_ok=True)
    turned = keyword_agreement(people, model, images)
    assert turned.pooled()["precision"] == pytest.approx(agreement.pooled()["recall"], nan_ok=True)
    same = keyword_agreement(people, people, images)
    assert set(same.by_image().values()) == {1.0}


def test_by_image_is_scikit_learns_samples_average() -> None:
    rng = np.random.default_rng(3)
    model, people = rng.random((2, 30, 8)) < 0.35
    marked = (model | people).any(axis=1)
    agreement = keyword_agreement(model.ravel(), people.ravel(), np.repeat(np.arange(30), 8))
    *theirs, _ = precision_recall_fscore_support(people[marked], model[marked], average="samples", zero_division=0)
    assert [agreement.by_image()[name] for name in MEASURES] == pytest.approx(theirs, rel=1e-12)


def test_intervals_resample_images() -> None:
    rng = np.random.default_rng(1)
    people = rng.random(2400) < 0.3
    model = np.where(rng.random(2400) < 0.8, people, rng.random(2400) < 0.3)
    images = np.repeat(np.arange(300), 8)
    agreement = keyword_agreement(model, people, images)
    weights = rater_weights(np.zeros(300, int), 500, rng)
    for values, estimates in (
        (agreement.pooled(), agreement.pooled_estimates(weights)),
        (agreement.by_image(), agreement.by_image_estimates(weights)),
    ):
        for name in MEASURES:
            estimate = estimates[name]
            assert estimate.value == pytest.approx(values[name])
            assert estimate.low < estimate.value < estimate.high
            assert 0.03 < estimate.high - estimate.low < 0.2


def test_images_of_one_prompt_are_drawn_together() -> None:
    rng = np.random.default_rng(2)
    people = np.repeat(rng.random(400) < 0.3, 6)  # six images of each prompt, alike
    model = np.repeat(rng.random(400) < 0.5, 6) & people
    images = np.repeat(np.arange(600), 4)
    agreement = keyword_agreement(model, people, images)
    prompts = np.arange(600) // 6
    alone = agreement.pooled_estimates(rater_weights(np.zeros(600, int), 500, rng))["recall"]
    together = agreement.pooled_estimates(rater_weights(np.zeros(100, int), 500, rng), clusters=prompts)["recall"]
    assert together.value == alone.value
    assert together.high - together.low > 1.3 * (alone.high - alone.low)
    means = agreement.by_image_estimates(rater_weights(np.zeros(100, int), 500, rng), clusters=prompts)
    assert means["f1"].value == pytest.approx(agreement.by_image()["f1"])


def test_nothing_marked() -> None:
    agreement = keyword_agreement([False, False], [False, False], [0, 1])
    assert np.isnan(list(agreement.pooled().values())).all()
    assert np.isnan(list(agreement.by_image().values())).all()


@pytest.mark.parametrize(
    ("predicted", "marked", "images", "says"),
    [
        ([True], [True, False], [0], "one length"),
        ([], [], [], "one length"),
        ([1, 0], [True, False], [0, 0], "true or false"),
        ([True], [True], [-1], "indices from 0"),
        ([True], [True], [0.5], "indices from 0"),
    ],
)
def test_refused(predicted: list[bool], marked: list[bool], images: list[int], says: str) -> None:
    with pytest.raises(StatisticsError, match=says):
        keyword_agreement(predicted, marked, images)
