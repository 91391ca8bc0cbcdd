"""What scores are worth: forecasts from single ratings where there are some, from mean labels elsewhere."""

import numpy as np
import pytest

from beholder.improve.calibration import Calibration
from beholder.stats.prediction.selected_gain import METHOD, RATINGS_METHOD, selected_gain, selected_gain_of_ratings

RATINGS = tuple((0.25 * (image % 5), 0.25 * min(image % 5 + 1, 4)) for image in range(20))


def calibration(ratings: tuple[tuple[float, ...], ...], points: int) -> Calibration:
    rng = np.random.default_rng(0)
    labels = np.array([np.mean(several) for several in RATINGS])
    scores = labels[:, None] + rng.normal(0, 0.1, (20, 1))
    return Calibration(labels, scores, np.arange(20), 0.01, "plausibility", ratings, points)


@pytest.fixture
def candidates() -> np.ndarray:
    return np.random.default_rng(1).uniform(0, 1, (12, 3, 1))


def test_single_ratings_on_points_are_taken_as_intervals(candidates: np.ndarray) -> None:
    chosen, rated = candidates[..., 0].argmax(axis=1), calibration(RATINGS, 5)
    forecast = rated.forecast(candidates, chosen)
    assert forecast is not None
    assert forecast.method == RATINGS_METHOD
    flat = np.array([rating for several in RATINGS for rating in several])
    rows = np.repeat(np.arange(20), 2)
    assert forecast == selected_gain_of_ratings(flat, rows, 5, rated.scores, candidates, chosen).gain


@pytest.mark.parametrize(("ratings", "points"), [((), 5), (RATINGS, 0), ((*RATINGS[:-1], ()), 5)])
def test_means_are_taken_where_single_ratings_or_points_are_missing(
    candidates: np.ndarray, ratings: tuple[tuple[float, ...], ...], points: int
) -> None:
    chosen = candidates[..., 0].argmax(axis=1)
    means = calibration(ratings, points)
    forecast = means.forecast(candidates, chosen)
    assert forecast is not None
    assert forecast.method == METHOD
    plain = selected_gain(means.labels, means.scores, candidates, chosen, label_variance=0.01)
    assert forecast == plain.gain


def test_too_few_labels_give_no_forecast(candidates: np.ndarray) -> None:
    many = calibration(RATINGS, 5)
    few = Calibration(many.labels[:3], many.scores[:3], np.arange(3), 0.01, "plausibility", RATINGS[:3], 5)
    assert few.forecast(candidates, np.zeros(12, int)) is None
