"""The agreement of a metric with raters, worked by hand, against scipy, by laws and by a published table."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import KINDS, correlation
from beholder.stats.correlation.jackknife import jackknife_correlation
from beholder.stats.correlation.metric_agreement import STATISTICS, Agreement, Opinions, agreement, single_value
from beholder.stats.intervals.bootstrap import rater_weights

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared"))
LAYER6 = SHARED / "data" / "layer6-realism"


def agree(x: object, y: object, statistic: str, *, replicates: int = 200, error: float = 0.1) -> Agreement:
    values = np.asarray(y, np.float64)
    rng = np.random.default_rng(1)
    weights = rater_weights(np.zeros(len(values), np.int64), replicates, rng)
    opinions = Opinions(values, np.full(len(values), error))
    return agreement(np.asarray(x), opinions, statistic, weights, noise=rng.standard_normal((100, len(values))))


class TestByHand:
    def test_pair_accuracy_over_items(self) -> None:
        # raters: 1 < 2 < 3 = 3; metric 5, 5, 7, 6.
        # pairs: (0,1) metric equal → ½; (0,2), (0,3), (1,2), (1,3) right; (2,3) raters equal: out
        # 4.5 of 5
        assert single_value([5, 5, 7, 6], [1, 2, 3, 3], "pair-accuracy") == pytest.approx(0.9)

    def test_kendall_counts_pairs(self) -> None:
        # 5 pairs of 6 in order, 1 against: (5 − 1)/6
        assert single_value([1, 2, 4, 3], [1, 2, 3, 4], "kendall") == pytest.approx(4 / 6)

    def test_few_items_have_no_interval(self) -> None:
        agreed = agree([1, 2, 4, 3], [1, 2, 3, 4], "spearman")
        assert agreed.value == pytest.approx(0.8)
        assert np.isnan([agreed.low, agreed.high]).all()
        assert agreed.interval == "none"

    def test_intervals_over_items(self) -> None:
        # closed forms for orders of independent items, (τ + 1)/2 for pairs; else each unit is left out in turn
        rng = np.random.default_rng(6)
        x = rng.normal(size=20)
        y = x + rng.normal(size=20)
        for kind in KINDS[1:]:
            agreed, closed = agree(x, y, kind), correlation(x, y, kind=kind)
            assert (agreed.low, agreed.high) == pytest.approx((closed.low, closed.high))
            assert agreed.interval == closed.method
        pairs, tau = agree(x, y, "pair-accuracy"), correlation(x, y, kind="kendall")
        assert (pairs.low, pairs.high) == pytest.approx(((tau.low + 1) / 2, (tau.high + 1) / 2))
        linear, left = agree(x, y, "pearson"), jackknife_correlation(x, y)
        assert (linear.low, linear.high) == pytest.approx((left.low, left.high))
        assert linear.interval == "jackknife over items, Fisher z"
        prompts = np.repeat(np.arange(10), 2)
        weights = rater_weights(np.zeros(10, np.int64), 50, rng)
        grouped = agreement(x, Opinions(y, np.full(20, 0.1)), "spearman", weights, clusters=prompts)
        out = jackknife_correlation(x, y, kind="spearman", clusters=prompts)
        assert (grouped.low, grouped.high) == pytest.approx((out.low, out.high))
        assert grouped.interval == "jackknife over prompts, Fisher z"

    def test_a_perfect_order_has_no_interval(self) -> None:
        # every replicate is perfect as well: [1, 1] would be false certainty
        agreed = agree([1, 2, 3, 5, 9, 10], range(6), "spearman")
        assert agreed.value == pytest.approx(1)
        assert np.isnan([agreed.low, agreed.high]).all()

    def test_a_constant_metric_has_no_agreement_but_is_no_error(self) -> None:
        agreed = agree([2.0] * 6, range(6), "pearson")
        assert np.isnan([agreed.value, agreed.low, agreed.people_low]).all()

    def test_an_unknown_statistic_is_named(self) -> None:
        with pytest.raises(StatisticsError, match="'rho'"):
            agree(range(6), range(6), "rho")


class TestLaws:
    @pytest.mark.parametrize("statistic", STATISTICS)
    def test_intervals_hold_the_value_and_turn_with_the_metric(self, statistic: str) -> None:
        rng = np.random.default_rng(3)
        y = rng.normal(size=12)
        x = y + rng.normal(size=12) * 0.7
        up, down = agree(x, y, statistic), agree(-x, y, statistic)
        assert up.low < up.value < up.high
        assert up.people_low < up.value < up.people_high
        turned = 1.0 if statistic == "pair-accuracy" else 0.0
        assert down.value == pytest.approx(turned - up.value)
        assert down.replicates == pytest.approx(turned - up.replicates)

    @pytest.mark.parametrize("statistic", STATISTICS)
    def test_certain_opinions_leave_no_doubt_about_raters(self, statistic: str) -> None:
        rng = np.random.default_rng(4)
        x, y = rng.normal(size=(2, 8))
        agreed = agree(x, y, statistic, error=0.0)
        assert agreed.people_low == pytest.approx(agreed.value, abs=1e-12)
        assert agreed.people_high == pytest.approx(agreed.value, abs=1e-12)

    def test_pair_accuracy_without_ties_is_kendall_moved(self) -> None:
        x, y = np.random.default_rng(5).normal(size=(2, 30))
        tau = stats.kendalltau(x, y).statistic
        assert single_value(x, y, "pair-accuracy") == pytest.approx((tau + 1) / 2, abs=1e-12)

    def test_clusters_are_drawn_together(self) -> None:
        x, y = np.random.default_rng(6).normal(size=(2, 20))
        group = np.repeat(np.arange(10), 2)
        weights = rater_weights(np.zeros(10, np.int64), 50, np.random.default_rng(7))
        agreed = agreement(x, Opinions(y, np.full(20, np.nan)), "pearson", weights, clusters=group)
        spread = np.repeat(weights[0], 2)
        assert agreed.replicates[0] == pytest.approx(np.corrcoef(np.repeat(x, spread), np.repeat(y, spread))[0, 1])
        assert np.isnan(agreed.p_value)  # items are not independent
        assert np.isnan(agreed.people_low)  # errors are not known


@pytest.mark.skipif(not LAYER6.is_dir(), reason="the Layer 6 data is not available")
class TestPublished:
    def test_every_correlation_of_the_layer6_table(self) -> None:
        board = pl.read_csv(LAYER6 / "published_dinov2_leaderboard.csv")
        raters = pl.read_csv(LAYER6 / "expected_human_error_by_model.csv")
        expected = pl.read_csv(LAYER6 / "expected_metric_vs_human_correlations.csv")
        joined = board.join(raters, left_on=["dataset", "model_csv"], right_on=["dataset", "model"])
        names = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_tau_b"}
        checked = 0
        for row in expected.iter_rows(named=True):
            part = joined.filter(pl.col("dataset") == row["dataset"])
            assert part.height == row["n"]
            for statistic, name in names.items():
                if row[name] is None:
                    continue
                agreed = agree(part[row["metric"]], part["err_rt_mean"], statistic, replicates=20, error=np.nan)
                assert round(agreed.value, 4) == row[name], (row["metric"], row["dataset"], statistic)
                assert round(agreed.p_value, 4) == row[f"{statistic}_p"], (
                    row["metric"],
                    row["dataset"],
                    statistic,
                )
                checked += 1
        assert checked == 2 * (3 * expected.height // 2 - 1)
