import numpy as np
import pytest
from scipy import optimize, special

from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.plackett_luce import plackett_luce
from beholder.stats.intervals.clustered_t import clustered_t
from beholder.stats.intervals.likelihood_lines import LikelihoodLines

PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def _votes(rng: np.random.Generator, raters: int) -> np.ndarray:
    wins = rng.binomial(4, [0.6, 0.8, 0.7], (raters, 3))
    return np.stack([wins, 4 - wins, np.zeros_like(wins)], axis=2).astype(float)


def test_roots_are_those_of_the_profile_likelihood() -> None:
    """The maximum under the constraint, found by scipy; the line differs from it in the fourth order only."""
    counts = _votes(np.random.default_rng(5), 12)
    fit = bradley_terry(PAIRS, counts, items=3)
    wins, losses = counts.sum(axis=0)[:, 0], counts.sum(axis=0)[:, 1]

    def loss(theta: np.ndarray) -> float:
        gap = theta[PAIRS[:, 0]] - theta[PAIRS[:, 1]]
        return float(-(wins * special.log_expit(gap) + losses * special.log_expit(-gap)).sum())

    def profile(gap: float) -> float:  # the loss with θ₀ − θ₂ = gap, at its least over θ₁
        return float(optimize.minimize_scalar(lambda middle: loss(np.array([gap, middle, 0.0]))).fun)

    best = loss(fit.ratings)
    estimate = fit.ratings[0] - fit.ratings[2]
    assert fit.likelihood is not None
    for value in (-0.5, 0.0, 1.0, 3.0):
        expected = np.sign(estimate - value) * np.sqrt(2 * (profile(value) - best))
        root = fit.likelihood.roots(np.array([[1.0, 0.0, -1.0]]), np.array([value]))[0]
        assert root == pytest.approx(expected, rel=0.01)


def test_limits_are_where_the_roots_say() -> None:
    fit = bradley_terry(PAIRS, _votes(np.random.default_rng(6), 8), items=3)
    assert fit.likelihood is not None
    contrasts, reach = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]]), np.array([2.0, 5.0])
    low, high = fit.likelihood.limits(contrasts, reach)
    np.testing.assert_allclose(fit.likelihood.roots(contrasts, low), reach, rtol=1e-9)
    np.testing.assert_allclose(fit.likelihood.roots(contrasts, high), -reach, rtol=1e-9)
    assert np.isnan(fit.likelihood.limits(contrasts, np.array([np.nan, 1.0]))[0]).tolist() == [True, False]


def test_a_normal_likelihood_gives_plain_scores() -> None:
    # ℓ = −½ θᵀHθ with H = [[2, 1], [1, 3]]: H⁻¹ = [[.6, −.2], [−.2, .4]]; θ₀ − θ₁ has the variance .6 + .4 + .4
    curvature = np.array([[2.0, 1.0], [1.0, 3.0]])
    normal = LikelihoodLines(
        lambda theta: -0.5 * np.einsum("ki,ij,kj->k", theta, curvature, theta),
        np.zeros(2),
        np.linalg.inv(curvature),
    )
    difference = np.array([[1.0, -1.0]])
    assert normal.errors(difference)[0] == pytest.approx(np.sqrt(1.4))
    assert normal.roots(difference, np.array([3.0]))[0] == pytest.approx(-3 / np.sqrt(1.4))


def test_rankings_of_two_are_votes() -> None:
    counts = _votes(np.random.default_rng(7), 6)
    fit = bradley_terry(PAIRS, counts, items=3)
    raters, rankings = [], []
    for rater, pair, outcome in zip(*np.nonzero(counts), strict=True):
        order = PAIRS[pair] if outcome == 0 else PAIRS[pair][::-1]
        rankings += [order] * int(counts[rater, pair, outcome])
        raters += [rater] * int(counts[rater, pair, outcome])
    ranked = plackett_luce(np.array(raters), np.array(rankings), items=3)
    votes, rows = clustered_t(fit.rater_influence()), clustered_t(ranked.rater_influence())
    np.testing.assert_allclose(rows.low, votes.low, rtol=1e-6)
    np.testing.assert_allclose(rows.high, votes.high, rtol=1e-6)
