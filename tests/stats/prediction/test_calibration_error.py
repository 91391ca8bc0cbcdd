"""The calibration error of proportions: by hand, against scikit-learn, and by law."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special
from sklearn.calibration import calibration_curve

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.prediction.calibration_error import CalibrationError, calibration_error, equal_bins

Array = NDArray[np.float64]


def once(clusters: int) -> NDArray[np.int32]:
    """Everyone drawn once, in each of two replicates."""
    return np.ones((2, clusters), np.int32)


def world(seed: int, images: int, shift: float = 0.0) -> CalibrationError:
    """Predictions off by a shift, of images whose proportions are spread about what would be true."""
    rng = np.random.default_rng(seed)
    mean = special.expit(rng.normal(-0.3, 1, images))
    answers = rng.integers(3, 11, images)
    yes = rng.binomial(answers, rng.beta(20 * mean, 20 * (1 - mean)))
    weights = rater_weights(np.zeros(images, np.int64), 200, rng)
    return calibration_error(np.clip(mean + shift, 0, 1), yes / answers, answers, weights)


class TestByHand:
    def test_two_bins(self) -> None:
        # bins of 4 answers: {.1 of 2, .3 of 2} and {.8 of 4}
        # predicted .2 and .8; observed (0 + 1)/4 and 2/4; distances .05 and .3, by answers (.05 · 4 + .3 · 4)/8
        ece = calibration_error([0.8, 0.1, 0.3], [0.5, 0.0, 0.5], [4, 2, 2], once(3), bins=2)
        assert ece.predicted == pytest.approx([0.2, 0.8])
        assert ece.observed == pytest.approx([0.25, 0.5])
        assert ece.answers.tolist() == [4, 4]
        assert ece.value == pytest.approx(0.175)
        # first bin: differences 2 · .1 and 2 · (−.2), about their mean −.05 an answer: .3 and −.3
        # variance (.09 + .09) · 2/1 = .36; one image alone tells of no variance
        assert ece.by_chance == pytest.approx(np.sqrt(2 * 0.36 / np.pi) / 8)

    def test_pooled_answers_are_no_error(self) -> None:
        # ten images of 40 %, one answer each, four of them yes: no single share is near .4, the pooled one is
        ece = calibration_error(np.full(10, 0.4), [1] * 4 + [0] * 6, np.ones(10), once(10))
        assert ece.value == pytest.approx(0)
        assert np.isnan(ece.observed).sum() == 9

    def test_bins(self) -> None:
        assert equal_bins(np.array([0.3, 0.1, 0.2, 0.4]), np.ones(4), 2).tolist() == [1, 0, 0, 1]
        assert equal_bins(np.array([0.3, 0.1, 0.3, 0.3]), np.ones(4), 4).tolist() == [2, 0, 2, 2]
        assert equal_bins(np.array([0.1, 0.9]), np.array([1.0, 9.0]), 10).tolist() == [0, 5]


def test_against_scikit_learn() -> None:
    rng = np.random.default_rng(4)
    predicted = rng.random(1000)
    yes = (rng.random(1000) < predicted**2).astype(np.float64)
    ece = calibration_error(predicted, yes, np.ones(1000), once(1000))
    observed, mean = calibration_curve(yes, predicted, n_bins=10, strategy="quantile")
    assert ece.answers.tolist() == [100] * 10
    np.testing.assert_allclose(ece.observed, observed, atol=1e-9)
    np.testing.assert_allclose(ece.predicted, mean, atol=1e-9)
    assert ece.value == pytest.approx(float(np.abs(observed - mean).mean()), abs=1e-9)


class TestLaws:
    def test_true_predictions_are_off_by_chance_alone(self) -> None:
        errors = [world(seed, 600) for seed in range(40)]
        noise = np.mean([ece.by_chance for ece in errors])
        assert np.mean([ece.value for ece in errors]) == pytest.approx(noise, rel=0.1)
        assert sum(ece.low > 0 for ece in errors) <= 3

    def test_a_shift_is_found_and_held(self) -> None:
        errors = [world(seed, 600, 0.08) for seed in range(40)]
        assert np.mean([ece.value for ece in errors]) == pytest.approx(0.08, abs=0.006)
        assert sum(ece.low <= 0.08 <= ece.high for ece in errors) >= 36
        assert all(ece.low > 0 for ece in errors)

    @given(st.integers(0, 200))
    def test_order_and_turning_round_change_nothing(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        answers = rng.integers(1, 6, 30)
        predicted, proportions = rng.random(30), rng.integers(0, answers + 1) / answers
        once_weighted = calibration_error(predicted, proportions, answers, once(30), bins=3)
        turn = rng.permutation(30)
        two = calibration_error(predicted[turn], proportions[turn], answers[turn], once(30), bins=3)
        assert two.value == pytest.approx(once_weighted.value)
        assert 0 <= once_weighted.low <= once_weighted.value <= once_weighted.high

    def test_clusters_that_hang_together_are_noisier(self) -> None:
        rng = np.random.default_rng(5)
        group = np.repeat(np.arange(50), 8)
        predicted = np.full(400, 0.5)
        yes = np.repeat((rng.random(50) < 0.5).astype(np.float64), 8)  # a prompt's images, all alike
        apart = calibration_error(predicted, yes, np.ones(400), once(400))
        together = calibration_error(predicted, yes, np.ones(400), once(50), clusters=group)
        assert together.value == pytest.approx(apart.value)
        assert together.by_chance == pytest.approx(apart.by_chance * np.sqrt(8), rel=0.02)


@pytest.mark.parametrize(
    ("predicted", "proportions", "answers", "clusters", "message"),
    [
        ([0.5], [0.5, 0.5], [1], None, "one length"),
        ([], [], [], None, "not empty"),
        ([1.5], [0.5], [1], None, "from 0 to 1"),
        ([0.5], [0.5], [0], None, "above 0"),
        ([0.5], [0.5], [1], [0.5], "integer index"),
        ([0.5], [0.5], [1], [1], "2 clusters"),
    ],
)
def test_faults(
    predicted: list[float],
    proportions: list[float],
    answers: list[float],
    clusters: list[float] | None,
    message: str,
) -> None:
    with pytest.raises(StatisticsError, match=message):
        calibration_error(predicted, proportions, answers, once(1), clusters=clusters)
