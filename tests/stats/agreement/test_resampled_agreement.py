import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engines.pickling import PicklingEngine

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import long_answers
from beholder.stats.agreement.fleiss import fleiss_kappa
from beholder.stats.agreement.gwet import gwet_ac
from beholder.stats.agreement.krippendorff import Scale, krippendorff_alpha
from beholder.stats.agreement.resampled_agreement import agreement_estimate, pairable
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.bootstrap_intervals import bca_interval


def test_the_interval_is_bca_with_the_jackknife() -> None:
    rng = np.random.default_rng(0)
    score = rng.exponential(size=12)
    answers = long_answers(np.arange(12), np.zeros(12, int), score)
    weights = rater_weights(np.zeros(12, np.int64), 500, rng)

    def mean(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(drawn @ score / drawn.sum(axis=1), np.float64)

    estimate = agreement_estimate(answers, weights, mean, level=0.9)
    influence = (score - score.mean()) / 11  # what leaving one out takes from the mean
    low, high = bca_interval(
        [score.mean()], mean(weights.astype(np.float64))[:, None], influence[:, None], 12, level=0.9
    )
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((score.mean(), low[0], high[0]))
    assert (estimate.raters, estimate.items, estimate.answers, estimate.replicates) == (12, 1, 12, 500)


def test_raters_and_items_without_answers_are_not_counted() -> None:
    drawn_weights = []

    def none(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn_weights.append(drawn)
        return np.zeros(len(drawn))

    answers = long_answers([1, 3, 4, 4], [2, 2, 2, 6], [0, 1, 1, 0], rater_count=6)
    estimate = agreement_estimate(answers, np.ones((2, 6), np.int64), none, level=0.95)
    assert (estimate.raters, estimate.items, estimate.answers) == (3, 2, 4)
    left_out = drawn_weights[0][1:-2]
    assert [np.flatnonzero(row == 0).tolist() for row in left_out] == [[1], [3], [4]]


def test_many_raters_are_left_out_by_groups() -> None:
    group_counts = []

    def count(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        group_counts.append(drawn)
        return np.asarray(drawn.sum(axis=1), np.float64)

    answers = long_answers(np.arange(450), np.zeros(450, int), np.zeros(450))
    agreement_estimate(answers, np.ones((3, 450), np.int64), count, level=0.95)
    left = group_counts[0][1:-3]
    assert left.shape == (200, 450)
    assert set(left.sum(axis=1)) == {447, 448}  # groups of two or three
    assert np.all((left == 0).sum(axis=0) == 1)  # everyone once


def test_blocks_of_replicates_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    who, what = (index.ravel() for index in np.indices((6, 30)))
    values, weights = rng.integers(0, 3, 180), rater_weights(np.zeros(6, np.int64), 100, rng)
    full = fleiss_kappa(who, what, values, weights)
    monkeypatch.setattr("beholder.stats.agreement.pair_agreement._BLOCK", 1)
    assert fleiss_kappa(who, what, values, weights) == full


def test_undefined_statistics_have_no_interval() -> None:
    answers = long_answers([0, 1, 2], [0, 0, 0], [0, 1, 2])
    weights = np.ones((10, 3), np.int64)
    estimate = agreement_estimate(answers, weights, lambda drawn: np.full(len(drawn), np.nan), level=0.95)
    assert np.isnan([estimate.value, estimate.low, estimate.high]).all()
    with pytest.raises(StatisticsError, match=r"\(replicates, 3 raters\); found \(10, 2\)"):
        agreement_estimate(answers, weights[:, :2], lambda drawn: drawn.sum(axis=1), level=0.95)


def test_pairable_answers_are_on_shared_items() -> None:
    answers = pairable(long_answers([0, 1, 0, 2], [0, 0, 1, 3], [5, 6, 7, 8]))
    assert answers.values.tolist() == [5, 6]
    assert (answers.rater_count, answers.item_count) == (3, 4)


SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")


@pytest.mark.parametrize("statistic", [*SCALES, "gwet"])
@pytest.mark.parametrize("each_rates", [800, 4000])
def test_replicates_of_other_processes_are_equal_to_the_byte(statistic: str, each_rates: int) -> None:
    # each of 20 raters rates a fifth of the items (sparse products), or all (dense ones)
    rng = np.random.default_rng(3)
    what = np.concatenate([rng.permutation(4000)[:each_rates] for _ in range(20)])
    who, values = np.repeat(np.arange(20), each_rates), rng.integers(1, 6, 20 * each_rates)
    weights = rater_weights(np.zeros(20, np.int64), 100, rng)

    def estimated(by: PicklingEngine | None) -> Estimate:
        each = by.map if by else map
        if statistic == "gwet":
            return gwet_ac(who, what, values, weights, credit="quadratic", each=each)
        scale = next(scale for scale in SCALES if scale == statistic)
        return krippendorff_alpha(who, what, values, weights, scale=scale, each=each)

    engine = PicklingEngine()
    assert estimated(engine) == estimated(None)
    assert engine.done >= 2
