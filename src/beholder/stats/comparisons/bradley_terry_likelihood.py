"""The likelihood of Davidson's model for many replicates at once, with its gradient and Hessian.

With s = ½, −½, 0 and t = 0, 0, 1 for (first wins, second wins, tie), a vote has the log-probability
s·d + t·δ − log(e^{d/2} + e^{−d/2} + e^δ), d = θᵢ − θⱼ + γ. So the gradient is observed minus expected (s, t), and
the negative Hessian is n·Cov(s, t) a pair; both reach the items through the pair's +1 (first) and −1 (second).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from beholder.errors import StatisticsError

PSEUDO_VOTE = 1.0  # shared by the outcomes of each compared pair, where a finite maximum needs it


@dataclass(frozen=True, eq=False)
class Model:
    """The layout of the parameters (θ…, γ if fitted, δ if fitted) and the pairs the likelihood needs."""

    items: int
    pairs: NDArray[np.int64]  # (pairs, 2), each once; in one order only, unless a side effect is fitted
    spread: NDArray[np.float64]  # (pairs, params): +1 for the first, −1 for the second, +1 for γ
    prior: NDArray[np.float64]  # (3, pairs) the pseudo-votes
    side: int | None  # column of γ
    tie: int | None  # column of δ

    @property
    def size(self) -> int:
        """The number of parameters, all θ counted."""
        return self.items + (self.side is not None) + (self.tie is not None)

    @classmethod
    def of(cls, pairs: NDArray[np.int64], items: int, *, ties: bool, side_effect: bool) -> "Model":
        """Lay out the parameters for the compared pairs (pairs, 2), sorted and each once."""
        side, tie = items if side_effect else None, items + side_effect if ties else None
        spread = np.zeros((len(pairs), items + side_effect + ties))
        spread[np.arange(len(pairs)), pairs[:, 0]] = 1
        spread[np.arange(len(pairs)), pairs[:, 1]] = -1
        if side is not None:
            spread[:, side] = 1
            if np.linalg.matrix_rank(spread[:, : items + 1]) < items:
                raise StatisticsError(
                    "a side effect cannot be told from the ratings: no pair (or ring of pairs) was shown in both "
                    "orders; show pairs in both orders, or fit without a side effect"
                )
        return cls(items, pairs, spread, pseudo_votes(pairs, ties=ties), side, tie)


def pseudo_votes(pairs: NDArray[np.int64], *, ties: bool) -> NDArray[np.float64]:
    """Return (3, pairs): 0.1 vote for each two items, shared by their orders and by the outcomes of the model."""
    _, group, orders = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True, return_counts=True)
    outcomes = np.array([1.0, 1.0, 1.0]) / 3 if ties else np.array([0.5, 0.5, 0.0])
    return np.asarray(PSEUDO_VOTE * outcomes[:, None] / orders[group.reshape(-1)], np.float64)


@dataclass(frozen=True, eq=False)
class VoteLikelihood:
    """The likelihood of each replicate's votes: a :class:`beholder.stats.comparisons.newton.Likelihood`."""

    model: Model
    votes: NDArray[np.float64]  # (replicates, pairs)
    lead: NDArray[np.float64]  # (replicates, pairs): (first's wins − second's wins)/2
    ties: NDArray[np.float64]  # (replicates,)

    @classmethod
    def of(cls, model: Model, totals: NDArray[np.float64]) -> "VoteLikelihood":
        """Reduce votes (replicates, 3, pairs)."""
        first, second, tie = totals[:, 0], totals[:, 1], totals[:, 2]
        return cls(model, first + second + tie, (first - second) / 2, tie.sum(axis=1))

    def take(self, replicates: NDArray[np.int64]) -> "VoteLikelihood":
        """Keep some of the replicates."""
        return VoteLikelihood(self.model, self.votes[replicates], self.lead[replicates], self.ties[replicates])

    def value(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihood (replicates,)."""
        gap = beta @ self.model.spread.T
        size, norm = _norm(self.model, beta, gap)[:2]
        value = (self.lead * gap).sum(axis=1) - (self.votes * (size / 2 + np.log(norm))).sum(axis=1)
        tie = self.model.tie
        return np.asarray(value if tie is None else value + beta[:, tie] * self.ties, np.float64)

    def slope(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient (replicates, params)."""
        return self._slope(*expect(self.model, beta))

    def curve(self, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gradient, and the negative Hessian (replicates, params, params) plus 11ᵀ/items over the θ.

        Without it the matrix is singular along θ + constant; with it a Newton step keeps Σθ as it is.
        """
        lead, equal = expect(self.model, beta)
        return self._slope(lead, equal), self._information(lead, equal)

    def _slope(self, lead: NDArray[np.float64], equal: NDArray[np.float64]) -> NDArray[np.float64]:
        gradient = np.asarray((self.lead - self.votes * lead) @ self.model.spread, np.float64)
        if self.model.tie is not None:
            gradient[:, self.model.tie] = self.ties - (self.votes * equal).sum(axis=1)
        return gradient

    def _information(self, lead: NDArray[np.float64], equal: NDArray[np.float64]) -> NDArray[np.float64]:
        items, side, tie = self.model.items, self.model.side, self.model.tie
        spread_s = self.votes * ((1 - equal) / 4 - lead**2)  # (replicates, pairs): n Var s
        matrix = np.zeros((len(spread_s), self.model.size, self.model.size))
        matrix[:, :items, :items] = 1 / items
        first, second, each = self.model.pairs[:, 0], self.model.pairs[:, 1], np.arange(items)
        matrix[:, first, second] -= spread_s
        matrix[:, second, first] -= spread_s
        matrix[:, each, each] += spread_s @ (self.model.spread[:, :items] ** 2)
        if side is not None:
            matrix[:, :, side] = spread_s @ self.model.spread
            matrix[:, side, :] = matrix[:, :, side]
        if tie is not None:
            joint = -self.votes * lead * equal  # n Cov(s, t)
            matrix[:, :, tie] = joint @ self.model.spread
            matrix[:, tie, :] = matrix[:, :, tie]
            matrix[:, tie, tie] = (self.votes * equal * (1 - equal)).sum(axis=1)
        return matrix


def expect(model: Model, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return E s = (p₁ − p₂)/2 and E t = p₃ of one vote, each (replicates, pairs), at ``beta``."""
    gap = beta @ model.spread.T
    _, norm, lesser, equal = _norm(model, beta, gap)
    return np.sign(gap) * (1 - lesser) / (2 * norm), equal / norm


def covariance(
    model: Model, beta: NDArray[np.float64], totals: NDArray[np.float64], *, prior: bool
) -> NDArray[np.float64]:
    """Return H⁻¹ (params, params) at ``beta`` (params,): right only if all votes (3, pairs) are independent."""
    _, information = VoteLikelihood.of(model, totals[None] + (model.prior if prior else 0.0)).curve(beta[None])
    inverse = np.linalg.inv(information[0])
    inverse[: model.items, : model.items] -= 1 / model.items  # the added direction, taken out again
    return np.asarray(inverse, np.float64)


def influence(
    model: Model, beta: NDArray[np.float64], table: sparse.csr_array, inverse: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return H⁻¹ u (raters, params), u the score of one rater's votes (raters, 3 · pairs) at ``beta``.

    To first order this is how far the estimate moves by that rater; Σ l lᵀ is the sandwich covariance.
    """
    lead, equal = (column[0] for column in expect(model, beta[None]))  # (pairs,)
    scores = np.concatenate([(s - lead)[:, None] * model.spread for s in (0.5, -0.5, 0.0)])  # (3 · pairs, params)
    if model.tie is not None:
        scores[:, model.tie] = np.concatenate([t - equal for t in (0.0, 0.0, 1.0)])
    return np.asarray(table @ (scores @ inverse), np.float64)


def _norm(
    model: Model, beta: NDArray[np.float64], gap: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return |d|, and 1 + e^{−|d|} + e^{δ−|d|/2} with its last two terms, e^{|d|/2} divided out of all three."""
    size = np.abs(gap)
    lesser = np.exp(-size)
    if model.tie is None:
        return size, 1 + lesser, lesser, np.zeros((1, 1))
    equal = np.exp(beta[:, [model.tie]] - size / 2)
    return size, 1 + lesser + equal, lesser, equal
