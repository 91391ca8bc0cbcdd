from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from beholder.errors import StatisticsError
from beholder.stats.comparisons.thurstone import TIE_RULE, thurstone
from beholder.stats.intervals.bootstrap import rater_weights

PAIRS = np.array(list(combinations(range(5), 2)))


def simulate(
    rng: np.random.Generator, raters: int = 30, votes: int = 3, taste: float = 0.3, ties: float = 0.0
) -> NDArray[np.int64]:
    """Return counts (raters, pairs, 3)."""
    own = np.linspace(-0.8, 0.8, 5) + rng.normal(0, taste, (raters, 5))
    win = special.ndtr(own[:, PAIRS[:, 0]] - own[:, PAIRS[:, 1]]) * (1 - ties)
    chances = np.stack([win, 1 - ties - win, np.full_like(win, ties)], axis=-1)
    return rng.multinomial(votes, chances)


def test_two_items_by_hand() -> None:
    # 29, 9 and 4 ties, half each: 31 to 11 of 42; Φ⁻¹(31/42) = .6375. Information of d: n φ²/(Φ(1 − Φ))
    fit = thurstone([[0, 1]], [[29, 9, 4]], items=2)
    gap = stats.norm.ppf(31 / 42)
    assert gap == pytest.approx(0.6375, abs=1e-4)
    assert fit.ratings == pytest.approx([gap / 2, -gap / 2])
    assert fit.win_probability(0, 1) == pytest.approx(31 / 42)
    error = np.sqrt(31 / 42 * 11 / 42 / 42) / stats.norm.pdf(gap)
    assert fit.standard_errors == pytest.approx([error / 2] * 2)  # expected = observed information at the maximum
    assert fit.log_likelihood == pytest.approx(31 * np.log(31 / 42) + 11 * np.log(11 / 42))
    assert (fit.tie_rule, fit.covariance_kind) == (TIE_RULE, "model")


def test_sandwich_by_hand() -> None:
    # 3:1, 2:2 and 1:3: d = 0, φ/Φ = √(2/π); scores of d √(2/π)·(2, 0, −2); 12 votes · 2/π information
    # influence on d: (2, 0, −2)/(12 √(2/π)), on θ₀ half; Var = 3/2 · 2 · (1/(12 √(2/π)))² = π/96
    fit = thurstone([[0, 1]], [[[3, 1, 0]], [[2, 2, 0]], [[1, 3, 0]]], items=2)
    assert fit.covariance[0, 0] == pytest.approx(np.pi / 96)


@pytest.mark.parametrize("ties", [0.0, 0.2])
def test_against_statsmodels(ties: float) -> None:
    counts = simulate(np.random.default_rng(0), ties=ties).sum(axis=0)
    spread = np.zeros((len(PAIRS), 5))
    spread[np.arange(len(PAIRS)), PAIRS[:, 0]] = 1
    spread[np.arange(len(PAIRS)), PAIRS[:, 1]] = -1
    basis = np.vstack([np.eye(4), -np.ones(4)])  # the last rating is minus the sum of the others
    won, lost = counts[:, 0] + counts[:, 2] / 2, counts[:, 1] + counts[:, 2] / 2
    probit = sm.families.Binomial(link=sm.families.links.Probit())
    model = sm.GLM(np.stack([won, lost], axis=1), spread @ basis, family=probit)
    theirs = model.fit(tol=1e-14, method="newton", maxiter=200)
    fit = thurstone(PAIRS, counts, items=5)
    np.testing.assert_allclose(fit.ratings, basis @ theirs.params, atol=1e-9)
    observed = np.linalg.inv(-model.hessian(theirs.params, observed=True))
    np.testing.assert_allclose(fit.covariance, basis @ observed @ basis.T, atol=1e-9)


def test_each_draw_is_the_fit_to_its_own_votes() -> None:
    rng = np.random.default_rng(1)
    counts = simulate(rng, raters=12, ties=0.2)
    weights = rater_weights(np.zeros(12, np.int64), 10, rng)
    fit = thurstone(PAIRS, counts, items=5, weights=weights)
    for replicate in range(10):
        alone = thurstone(PAIRS, np.tensordot(weights[replicate], counts, 1), items=5)
        np.testing.assert_allclose(fit.rating_replicates[replicate], alone.ratings, atol=1e-8)


def test_sandwich_agrees_with_bootstrap() -> None:
    rng = np.random.default_rng(2)
    weights = rater_weights(np.zeros(200, np.int64), 2000, rng)
    fit = thurstone(PAIRS, simulate(rng, raters=200), items=5, weights=weights)
    np.testing.assert_allclose(fit.rating_replicates.std(axis=0), fit.standard_errors, rtol=0.07)
    estimates = fit.estimates()
    assert np.all((estimates.low < estimates.value) & (estimates.value < estimates.high))
    assert estimates.replicates == 2000


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = simulate(rng, raters=8, ties=0.1)
    fit = thurstone(PAIRS, counts, items=5)
    assert fit.ratings.sum() == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(thurstone(PAIRS, counts[:, :, [1, 0, 2]], items=5).ratings, -fit.ratings, atol=1e-8)
    turned = thurstone(PAIRS[:, ::-1], counts[:, :, [1, 0, 2]], items=5)
    np.testing.assert_allclose(turned.ratings, fit.ratings, atol=1e-8)
    names = rng.permutation(5)
    np.testing.assert_allclose(thurstone(names[PAIRS], counts, items=5).ratings[names], fit.ratings, atol=1e-8)
    np.testing.assert_allclose(fit.influence.sum(axis=0), np.zeros(5), atol=1e-7)


def test_all_ties_are_equal_and_finite() -> None:
    fit = thurstone([[0, 1], [1, 2]], [[[0, 0, 4], [0, 0, 2]], [[0, 0, 1], [0, 0, 3]]], items=3)
    assert not fit.prior_used
    assert fit.ratings == pytest.approx(np.zeros(3), abs=1e-12)


def test_unbeaten_needs_the_prior() -> None:
    fit = thurstone([[0, 1]], [[20, 0, 0]], items=2)
    assert fit.prior_used
    assert fit.win_probability(0, 1) == pytest.approx(20.5 / 21)


def test_one_rater_has_ratings_but_no_errors() -> None:
    fit = thurstone([[0, 1]], [[[3, 1, 0]]], items=2)
    assert fit.ratings[0] == pytest.approx(stats.norm.ppf(0.75) / 2)
    assert np.isnan(fit.standard_errors).all()


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="2 separate groups"):
        thurstone([[0, 2], [1, 3]], [[1, 1, 0], [1, 1, 0]], items=4)
    with pytest.raises(StatisticsError, match="at least one vote"):
        thurstone([[0, 1]], [[0, 0, 0]], items=2)
    with pytest.raises(StatisticsError, match="found totals"):
        thurstone([[0, 1]], [[1, 1, 0]], items=2, weights=np.ones((3, 1), np.int64))
