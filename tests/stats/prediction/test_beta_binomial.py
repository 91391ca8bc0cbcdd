"""The beta-binomial: by hand, against scipy and statsmodels, and by law."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from beholder.errors import StatisticsError
from beholder.stats.prediction.beta_binomial import Line, fit_line, log_likelihood

Array = NDArray[np.float64]


def simulate_answers(seed: int, images: int, line: Line) -> tuple[Array, Array, Array]:
    """Logits, how many answers were yes, and how many there were."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.5, images)
    proportion, totals = line.proportions(logits), rng.integers(1, 11, images)
    if line.dispersion:
        proportion = rng.beta(proportion / line.dispersion, (1 - proportion) / line.dispersion)
    return logits, rng.binomial(totals, proportion).astype(np.float64), totals.astype(np.float64)


class TestLikelihood:
    def test_by_hand(self) -> None:
        # 2 of 3, μ = .4, θ = .5: .4 · (.4 + .5) · (1 − .4) / (1 · 1.5 · 2) = .216 / 3 = .072
        assert log_likelihood([2], [3], [0.4], 0.5) == pytest.approx(np.log([0.072]))
        # no dispersion: .4² · .6 = .096
        assert log_likelihood([2], [3], [0.4]) == pytest.approx(np.log([0.096]))

    @pytest.mark.parametrize("dispersion", [1e-3, 0.1, 1.0, 7.0])
    def test_against_scipy(self, dispersion: float) -> None:
        rng = np.random.default_rng(0)
        n = rng.integers(1, 40, 300)
        k, mean = rng.integers(0, n + 1), rng.uniform(0.01, 0.99, 300)
        orders = np.log(special.comb(n, k))
        expected = stats.betabinom.logpmf(k, n, mean / dispersion, (1 - mean) / dispersion)
        np.testing.assert_allclose(log_likelihood(k, n, mean, dispersion) + orders, expected, atol=1e-9)
        expected = stats.binom.logpmf(k, n, mean)
        np.testing.assert_allclose(log_likelihood(k, n, mean) + orders, expected, atol=1e-9)

    @given(st.integers(1, 12), st.floats(0.01, 0.99), st.floats(0, 5))
    def test_all_counts_together_are_certain(self, totals: int, proportion: float, dispersion: float) -> None:
        k = np.arange(totals + 1)
        log_p = log_likelihood(k, np.full(totals + 1, totals), np.full(totals + 1, proportion), dispersion)
        assert np.exp(log_p) @ special.comb(totals, k) == pytest.approx(1)

    def test_what_was_called_impossible(self) -> None:
        assert log_likelihood([1, 0], [1, 1], [0.0, 0.0]).tolist() == [-np.inf, 0.0]

    @pytest.mark.parametrize(
        ("yes", "totals", "proportion", "dispersion", "message"),
        [
            ([1], [1, 2], [0.5], 0.0, "one length"),
            ([], [], [], 0.0, "one length"),
            ([2], [1], [0.5], 0.0, "no more that said yes"),
            ([0.5], [1], [0.5], 0.0, "whole numbers"),
            ([0], [0], [0.5], 0.0, "at least one asked"),
            ([1], [1], [1.5], 0.0, "from 0 to 1"),
            ([1], [1], [0.5], -1.0, "from 0; found -1"),
        ],
    )
    def test_faults(
        self, yes: list[float], totals: list[float], proportion: list[float], dispersion: float, message: str
    ) -> None:
        with pytest.raises(StatisticsError, match=message):
            log_likelihood(yes, totals, proportion, dispersion)


class TestLine:
    def test_the_line_is_logistic_regression(self) -> None:
        logits, yes, totals = simulate_answers(1, 400, Line(1.4, -0.3, 0.0))
        regression = sm.GLM(
            np.stack([yes, totals - yes], 1), sm.add_constant(logits), family=sm.families.Binomial()
        ).fit(tol=1e-12)
        fitted = fit_line(logits, yes, totals, prior=np.inf)
        assert (fitted.offset, fitted.slope) == pytest.approx(tuple(regression.params), abs=1e-6)
        assert fitted.proportions(logits) @ totals == pytest.approx(yes.sum(), abs=1e-4)  # right on the whole
        assert fitted.dispersion < 0.02

    def test_the_dispersion_is_the_likeliest_by_scipy(self) -> None:
        logits, yes, totals = simulate_answers(2, 300, Line(0.6, 0.5, 0.3))
        best = fit_line(logits, yes, totals)
        mean = best.proportions(logits)

        def likelihood(dispersion: float) -> float:
            return float(np.sum(stats.betabinom.logpmf(yes, totals, mean / dispersion, (1 - mean) / dispersion)))

        assert max(likelihood(0.98 * best.dispersion), likelihood(1.02 * best.dispersion)) < likelihood(
            best.dispersion
        )

    def test_a_known_line_is_found(self) -> None:
        fitted = fit_line(*simulate_answers(3, 20_000, Line(0.7, -0.4, 0.15)))
        assert (fitted.slope, fitted.offset) == pytest.approx((0.7, -0.4), abs=0.03)
        assert fitted.dispersion == pytest.approx(0.15, abs=0.02)

    @settings(max_examples=10)
    @given(st.integers(0, 50))
    def test_laws(self, seed: int) -> None:
        logits, yes, totals = simulate_answers(seed, 80, Line(1.0, 0.2, 0.1))
        line = fit_line(logits, yes, totals)
        turned = fit_line(-logits, totals - yes, totals)  # who says no, by logits of no
        assert (turned.slope, -turned.offset) == pytest.approx((line.slope, line.offset), abs=1e-3)
        order = np.argsort(logits)
        assert np.all(np.diff(line.proportions(logits[order])) >= 0)

    def test_few_answers_change_little_and_never_make_certain(self) -> None:
        single = fit_line([2.0], [1], [1])
        assert 0.5 < single.slope < 2
        assert abs(single.offset) < 0.5
        sure = fit_line([-1.0, 1.0], [0, 5], [5, 5])
        assert 0.02 < sure.proportions([-1.0])[0] < sure.proportions([1.0])[0] < 0.98

    def test_logits_must_be_numbers(self) -> None:
        with pytest.raises(StatisticsError, match="finite logit for each of 1"):
            fit_line([np.nan], [1], [1])
