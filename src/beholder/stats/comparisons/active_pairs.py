"""Which pair to ask about next: the expected information of a vote under Bradley–Terry, and sampling by it.

The ratings θ have a normal posterior (Laplace's approximation), so the gap d = θᵢ − θⱼ of a pair is normal too.
What a vote y is expected to tell about all ratings is its mutual information with d,

    gain = H(E p(d)) − E H(p(d)),    p(d) = 1/(1 + e^{−d}),    H the entropy in nats,

a one-dimensional integral, here by Gauss–Hermite quadrature for all pairs at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.comparisons.newton import maximise

_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(40)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of the ratings."""

    mean: NDArray[np.float64]  # (items,)
    covariance: NDArray[np.float64]  # (items, items)


@dataclass(frozen=True, eq=False)
class PairPlan:
    """Every pair with the chance that it is served next."""

    pairs: NDArray[np.int64]  # (pairs, 2), every two items once
    gain: NDArray[np.float64]  # (pairs,) nats that one vote is expected to tell
    propensity: NDArray[np.float64]  # (pairs,) summing to 1, each at least exploration / pairs
    exploration: float

    def draw(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return ``size`` indices of pairs, independent of each other; log their ``propensity`` with the votes."""
        return rng.choice(len(self.pairs), size=size, p=self.propensity)

    @property
    def weights(self) -> NDArray[np.float64]:
        """What a vote on each pair counts (pairs,), so that means are as if pairs had been drawn evenly."""
        return 1 / (len(self.pairs) * self.propensity)


def laplace_posterior(
    first: ArrayLike, second: ArrayLike, wins: ArrayLike, items: int, spread: float
) -> Posterior:
    """Return the posterior of Bradley–Terry ratings: its peak, and the inverse curvature there.

    A row is a pair asked about: items ``first`` and ``second`` and the proportion of the vote that went to the
    first (1, 0, or ½ for a tie). The prior is independent normal around 0 with standard deviation ``spread``, so
    there may be no votes at all, or items that were never compared.
    """
    left, right, won = np.asarray(first), np.asarray(second), np.asarray(wins, np.float64)
    if any(c.ndim != 1 or c.shape != won.shape for c in (left, right, won)):
        raise StatisticsError(f"votes need columns of one length; found {left.shape}, {right.shape}, {won.shape}")
    if len(won) and (
        min(left.min(), right.min()) < 0 or max(left.max(), right.max()) >= items or np.any(left == right)
    ):
        raise StatisticsError(f"votes must be on two different items of 0…{items - 1}")
    if items < 1 or not spread > 0 or not np.all((won >= 0) & (won <= 1)):
        raise StatisticsError("a posterior needs an item, a positive spread, and wins between 0 and 1")
    likelihood = _Penalised.of(left.astype(np.int64), right.astype(np.int64), won, items, spread)
    peak, _ = maximise(likelihood, np.zeros(items), 1)
    return Posterior(peak[0], np.asarray(np.linalg.inv(likelihood.curve(peak)[1][0]), np.float64))


def information_gain(posterior: Posterior, pairs: ArrayLike) -> NDArray[np.float64]:
    """Return the expected information, in nats, of one vote on each of ``pairs`` (pairs, 2), as (pairs,)."""
    mean, variance = _gaps(posterior, np.asarray(pairs, np.int64))
    chance = special.expit(mean[:, None] + np.sqrt(variance)[:, None] * _NODES)  # (pairs, nodes)
    mass = _MASSES / _MASSES.sum()
    remaining = (special.entr(chance) + special.entr(1 - chance)) @ mass
    average = chance @ mass
    return np.asarray(np.maximum(special.entr(average) + special.entr(1 - average) - remaining, 0.0), np.float64)


def best_batch(posterior: Posterior, size: int) -> NDArray[np.int64]:
    """Return ``size`` pairs (size, 2) to be asked about together, chosen one by one by their gain.

    After each choice the covariance is updated as if the vote had come in, whichever way: a vote on x = eᵢ − eⱼ
    adds the information E p(1 − p) · x xᵀ. So a batch spreads over the items instead of repeating its best pair.
    """
    if size < 1:
        raise StatisticsError(f"a batch needs at least one pair; found {size}")
    pairs = all_pairs(len(posterior.mean))
    chosen = np.empty((size, 2), np.int64)
    believed = posterior
    for place in range(size):
        pair = pairs[int(np.argmax(information_gain(believed, pairs)))]
        chosen[place] = pair
        believed = Posterior(believed.mean, _after_vote(believed, pair))
    return chosen


def plan_pairs(posterior: Posterior, *, batch: int | None = None, exploration: float = 0.2) -> PairPlan:
    """Return the chance of every pair to be served next.

    A proportion ``exploration`` of the pairs is drawn evenly; the rest follows how often each pair stands
    in the best batch of ``batch`` pairs (as many as items by default). The propensity of every pair is thus
    positive and known, and estimates can be weighted back to even pairs (:attr:`PairPlan.weights`).
    """
    if not 0 < exploration <= 1:
        raise StatisticsError(f"exploration must be above 0 and at most 1; found {exploration}")
    items = len(posterior.mean)
    pairs = all_pairs(items)
    chosen = best_batch(posterior, items if batch is None else batch)
    place = np.searchsorted(pairs[:, 0] * items + pairs[:, 1], chosen[:, 0] * items + chosen[:, 1])
    frequency = np.bincount(place, minlength=len(pairs)) / len(chosen)
    propensity = exploration / len(pairs) + (1 - exploration) * frequency
    return PairPlan(pairs, information_gain(posterior, pairs), propensity, exploration)


def all_pairs(items: int) -> NDArray[np.int64]:
    """Return every two of the items, smaller index first, sorted (pairs, 2)."""
    if items < 2:
        raise StatisticsError(f"pairs need at least two items; found {items}")
    return np.stack(np.triu_indices(items, k=1), axis=1).astype(np.int64)


def _gaps(posterior: Posterior, pairs: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and variance of the gap of each pair (pairs,)."""
    left, right = pairs[:, 0], pairs[:, 1]
    cov, own = posterior.covariance, np.diag(posterior.covariance)
    variance = own[left] + own[right] - 2 * cov[left, right]
    return posterior.mean[left] - posterior.mean[right], np.maximum(variance, 0.0)


def _after_vote(posterior: Posterior, pair: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the covariance once a vote on ``pair`` (2,) has come in: (Σ⁻¹ + w x xᵀ)⁻¹, w = E p(1 − p)."""
    mean, variance = _gaps(posterior, pair[None])
    chance = special.expit(mean[0] + np.sqrt(variance[0]) * _NODES)
    weight = float((chance * (1 - chance)) @ _MASSES / _MASSES.sum())
    column = posterior.covariance[:, pair[0]] - posterior.covariance[:, pair[1]]  # Σ x
    return np.asarray(
        posterior.covariance - weight / (1 + weight * variance[0]) * np.outer(column, column), np.float64
    )


@dataclass(frozen=True, eq=False)
class _Penalised:
    """Bradley–Terry with a normal prior: a :class:`beholder.stats.comparisons.newton.Likelihood`."""

    first: NDArray[np.int64]  # (pairs,) each two items once
    second: NDArray[np.int64]
    won: NDArray[np.float64]  # (pairs,)
    votes: NDArray[np.float64]  # (pairs,)
    items: int
    spread: float

    @classmethod
    def of(
        cls, left: NDArray[np.int64], right: NDArray[np.int64], won: NDArray[np.float64], items: int, spread: float
    ) -> "_Penalised":
        """Sum votes by pair."""
        won = np.where(left < right, won, 1 - won)
        keys, pair = np.unique(np.minimum(left, right) * items + np.maximum(left, right), return_inverse=True)
        first, second = np.divmod(keys, items)
        pair = pair.reshape(-1)
        wins = np.asarray(np.bincount(pair, won, len(keys)), np.float64)
        votes = np.bincount(pair, minlength=len(keys))
        return cls(first, second, wins, votes.astype(np.float64), items, spread)

    def take(self, replicates: NDArray[np.int64]) -> "_Penalised":
        del replicates  # there is one only
        return self

    def value(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        gap = beta[0, self.first] - beta[0, self.second]
        fit = (self.won * special.log_expit(gap) + (self.votes - self.won) * special.log_expit(-gap)).sum()
        return np.array([fit - (beta[0] ** 2).sum() / (2 * self.spread**2)])

    def slope(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.curve(beta)[0]

    def curve(self, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gradient (1, items) and the negative Hessian (1, items, items)."""
        chance = special.expit(beta[0, self.first] - beta[0, self.second])
        excess, bend = self.won - self.votes * chance, self.votes * chance * (1 - chance)
        gradient = np.bincount(self.first, excess, self.items) - np.bincount(self.second, excess, self.items)
        matrix = np.zeros((self.items, self.items))
        matrix[self.first, self.second] = matrix[self.second, self.first] = -bend
        own = np.bincount(self.first, bend, self.items) + np.bincount(self.second, bend, self.items)
        matrix[np.arange(self.items), np.arange(self.items)] = own + 1 / self.spread**2
        return (gradient - beta[0] / self.spread**2)[None], matrix[None]
