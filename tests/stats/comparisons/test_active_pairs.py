from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, special

from beholder.errors import StatisticsError
from beholder.stats.comparisons.active_pairs import (
    Posterior,
    all_pairs,
    best_batch,
    information_gain,
    laplace_posterior,
    plan_pairs,
)

NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def random_posterior(rng: np.random.Generator, items: int) -> Posterior:
    root = rng.normal(0, 0.6, (items, items))
    return Posterior(rng.normal(0, 1, items), root @ root.T + 0.05 * np.eye(items))


def brute_force_gain(posterior: Posterior, pair: NDArray[np.int64]) -> float:
    """Σ over outcomes of P(y) · KL(posterior after y ‖ before), by quadrature over all ratings."""
    nodes, masses = np.polynomial.hermite_e.hermegauss(15)
    items = len(posterior.mean)
    grid = np.array(list(product(nodes, repeat=items)))  # (points, items)
    mass = np.prod(np.array(list(product(masses / masses.sum(), repeat=items))), axis=1)
    ratings = posterior.mean + grid @ np.linalg.cholesky(posterior.covariance).T
    win = special.expit(ratings[:, pair[0]] - ratings[:, pair[1]])
    gain = 0.0
    for likelihood in (win, 1 - win):
        evidence = float(mass @ likelihood)
        after = mass * likelihood / evidence
        gain += evidence * float(after @ np.log(likelihood / evidence))
    return gain


def test_gain_by_hand() -> None:
    # gaps of exactly ±g with chance ½ each would give log 2 − H(p(g)); a gap known for certain gives nothing.
    # for a small variance v around d = 0 the gain is p(1 − p) v/2 = v/8
    certain = Posterior(np.array([0.3, -0.3]), np.zeros((2, 2)))
    assert information_gain(certain, [[0, 1]])[0] == pytest.approx(0, abs=1e-12)
    small = Posterior(np.zeros(2), np.diag([0.0008, 0.0002]))
    assert information_gain(small, [[0, 1]])[0] == pytest.approx(0.001 / 8, rel=1e-3)
    # so uncertain that each vote decides: log 2 is the most a vote can tell
    vast = Posterior(np.zeros(2), 1e8 * np.eye(2))
    assert information_gain(vast, [[0, 1]])[0] == pytest.approx(np.log(2), rel=1e-3)


@pytest.mark.parametrize("items", [3, 4])
def test_gain_against_quadrature_over_all_ratings(items: int) -> None:
    posterior = random_posterior(np.random.default_rng(items), items)
    pairs = all_pairs(items)
    expected = [brute_force_gain(posterior, pair) for pair in pairs]
    np.testing.assert_allclose(information_gain(posterior, pairs), expected, rtol=1e-4)


def test_posterior_by_hand() -> None:
    # without votes it is the prior
    prior = laplace_posterior(*NOTHING, 3, 2.0)
    np.testing.assert_allclose(prior.mean, 0)
    np.testing.assert_allclose(prior.covariance, 4 * np.eye(3))
    # two items, one tie: mean 0, information 1/s² I + ¼ (1 −1; −1 1): 1 along (1, 1), 1.5 along (1, −1) at s = 1
    tied = laplace_posterior([0], [1], [0.5], 2, 1.0)
    np.testing.assert_allclose(tied.mean, 0, atol=1e-12)
    np.testing.assert_allclose(tied.covariance, [[5 / 6, 1 / 6], [1 / 6, 5 / 6]])


def test_posterior_against_scipy() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(0, 4, 60)
    right = (left + rng.integers(1, 4, 60)) % 4
    won = rng.choice([0.0, 0.5, 1.0], 60)

    def loss(theta: NDArray[np.float64]) -> float:
        gap = theta[left] - theta[right]
        fit = won * special.log_expit(gap) + (1 - won) * special.log_expit(-gap)
        return float(-fit.sum() + (theta**2).sum() / (2 * 1.5**2))

    best = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    posterior = laplace_posterior(left, right, won, 4, 1.5)
    np.testing.assert_allclose(posterior.mean, best.x, atol=1e-5)
    chance = special.expit(posterior.mean[left] - posterior.mean[right])
    spread = np.eye(4)[left] - np.eye(4)[right]  # (votes, items)
    second = spread.T @ (spread * (chance * (1 - chance))[:, None]) + np.eye(4) / 1.5**2
    np.testing.assert_allclose(posterior.covariance, np.linalg.inv(second), atol=1e-9)
    assert posterior.mean.sum() == pytest.approx(0, abs=1e-9)


@given(st.integers(2, 8), st.floats(0.01, 1), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(items: int, exploration: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    posterior = random_posterior(rng, items)
    plan = plan_pairs(posterior, exploration=exploration)
    assert plan.propensity.sum() == pytest.approx(1)
    assert np.all(plan.propensity >= exploration / len(plan.pairs) - 1e-15)
    assert np.all((plan.gain >= 0) & (plan.gain <= np.log(2)))
    assert (plan.propensity * plan.weights).sum() == pytest.approx(1)
    shifted = Posterior(posterior.mean + 5, posterior.covariance + 3)  # what moves all ratings alike tells nothing
    np.testing.assert_allclose(information_gain(shifted, plan.pairs), plan.gain, atol=1e-9)
    turned = information_gain(posterior, plan.pairs[:, ::-1])
    np.testing.assert_allclose(turned, plan.gain, atol=1e-12)
    names = rng.permutation(items)
    renamed = Posterior(posterior.mean[np.argsort(names)], posterior.covariance[np.ix_(*[np.argsort(names)] * 2)])
    np.testing.assert_allclose(information_gain(renamed, names[plan.pairs]), plan.gain, atol=1e-12)
    wider = Posterior(posterior.mean, posterior.covariance + 2 * np.eye(items))
    close = np.abs(posterior.mean[plan.pairs[:, 0]] - posterior.mean[plan.pairs[:, 1]]) < 0.5
    assert np.all(information_gain(wider, plan.pairs)[close] > plan.gain[close])  # doubt is worth asking about


def test_a_batch_spreads_over_the_items() -> None:
    posterior = laplace_posterior(*NOTHING, 6, 1.0)
    batch = best_batch(posterior, 3)
    assert np.unique(batch).tolist() == [0, 1, 2, 3, 4, 5]  # nothing is known: every item once
    first = information_gain(posterior, all_pairs(6))
    assert best_batch(posterior, 1)[0].tolist() == all_pairs(6)[np.argmax(first)].tolist()


def test_a_batch_against_explicit_inverses() -> None:
    posterior = random_posterior(np.random.default_rng(7), 4)
    nodes, masses = np.polynomial.hermite_e.hermegauss(40)
    pairs, covariance = all_pairs(4), posterior.covariance
    for chosen in best_batch(posterior, 8):
        gains = information_gain(Posterior(posterior.mean, covariance), pairs)
        assert chosen.tolist() == pairs[np.argmax(gains)].tolist()
        x = np.eye(4)[chosen[0]] - np.eye(4)[chosen[1]]
        chance = special.expit(x @ posterior.mean + np.sqrt(x @ covariance @ x) * nodes)
        weight = (chance * (1 - chance)) @ masses / masses.sum()
        covariance = np.linalg.inv(np.linalg.inv(covariance) + weight * np.outer(x, x))


def test_draws_follow_the_propensities_and_can_be_weighted_back() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([1.0, 0.3, -0.2, -1.1])
    posterior = Posterior(truth, np.diag([1.0, 0.1, 0.1, 0.5]))
    plan = plan_pairs(posterior, exploration=0.3)
    drawn = plan.draw(40_000, rng)
    proportion = np.bincount(drawn, minlength=6) / 40_000
    np.testing.assert_allclose(proportion, plan.propensity, atol=0.012)
    # how often the smaller index wins, were all pairs drawn evenly: weights give it back, a plain mean does not
    chance = special.expit(truth[plan.pairs[:, 0]] - truth[plan.pairs[:, 1]])
    won = rng.random(40_000) < chance[drawn]
    assert np.mean(plan.weights[drawn] * won) == pytest.approx(chance.mean(), abs=0.02)
    assert abs(np.mean(won) - chance.mean()) > 0.03


def test_nonsense_is_refused() -> None:
    posterior = laplace_posterior(*NOTHING, 3, 1.0)
    with pytest.raises(StatisticsError, match="at least two items"):
        plan_pairs(laplace_posterior(*NOTHING, 1, 1.0))
    with pytest.raises(StatisticsError, match="exploration"):
        plan_pairs(posterior, exploration=0.0)
    with pytest.raises(StatisticsError, match="at least one pair"):
        best_batch(posterior, 0)
    with pytest.raises(StatisticsError, match="two different items"):
        laplace_posterior([0], [0], [1.0], 3, 1.0)
    with pytest.raises(StatisticsError, match="one length"):
        laplace_posterior([0], [1, 2], [1.0], 3, 1.0)
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        laplace_posterior([0], [1], [2.0], 3, 1.0)
