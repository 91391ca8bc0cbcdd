"""The likelihood of Davidson's model for many draws at once, with its gradient and Hessian.

With s = ½, −½, 0 and t = 0, 0, 1 for (first wins, second wins, tie), a vote has the log-probability
s·d + t·δ − log(e^{d/2} + e^{−d/2} + e^δ), d = θᵢ − θⱼ + γ. So the gradient is observed minus expected (s, t), and
the negative Hessian is n·Cov(s, t) a pair; both reach the items through the pair's +1 (first) and −1 (second).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError

PSEUDO_VOTE = 0.1  # shared by the outcomes of each compared pair, where a finite maximum needs it


@dataclass(frozen=True, eq=False)
class Model:
    """The layout of the parameters (θ…, γ if fitted, δ if fitted) and the pairs the likelihood needs."""

    items: int
    pairs: NDArray[np.int64]  # (pairs, 2), each once; in one order only, unless a side effect is fitted
    spread: NDArray[np.float64]  # (pairs, items): +1 for the first, −1 for the second
    prior: NDArray[np.float64]  # (pairs, 3) the pseudo-votes
    side: int | None  # column of γ
    tie: int | None  # column of δ

    @property
    def size(self) -> int:
        """The number of parameters, all θ counted."""
        return self.items + (self.side is not None) + (self.tie is not None)

    @classmethod
    def of(
        cls, order: NDArray[np.int64], totals: NDArray[np.float64], items: int, *, side_effect: bool
    ) -> "Model":
        """Decide from pairs (pairs, 2) and totals (pairs, 3) what is fitted and which pairs are kept apart."""
        compared = order[totals.sum(axis=1) > 0]
        kept = np.unique(compared if side_effect else np.sort(compared, axis=1), axis=0)
        spread = np.zeros((len(kept), items))
        spread[np.arange(len(kept)), kept[:, 0]] = 1
        spread[np.arange(len(kept)), kept[:, 1]] = -1
        constant = np.ones((len(kept), 1))
        if side_effect and np.linalg.matrix_rank(np.hstack([spread, constant])) < items:
            raise StatisticsError(
                "a side effect cannot be told from the ratings: no pair (or ring of pairs) was shown in both "
                "orders; show pairs in both orders, or fit without a side effect"
            )
        ties = bool(totals[:, 2].sum() > 0)
        _, group, orders = np.unique(np.sort(kept, axis=1), axis=0, return_inverse=True, return_counts=True)
        outcomes = np.array([1.0, 1.0, 1.0]) / 3 if ties else np.array([0.5, 0.5, 0.0])
        prior = PSEUDO_VOTE * outcomes / orders[group.reshape(-1), None]
        side, tie = items if side_effect else None, items + side_effect if ties else None
        return cls(items, kept, spread, prior, side, tie)

    def merge(self, order: NDArray[np.int64], votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum votes (people, given pairs, 3) into the kept pairs, turned round where only one order is kept."""
        turned = (order[:, 0] > order[:, 1]) & (self.side is None)
        code = np.where(turned, order[:, 1] * self.items + order[:, 0], order[:, 0] * self.items + order[:, 1])
        kept = self.pairs[:, 0] * self.items + self.pairs[:, 1]  # sorted, as np.unique left it
        known = np.flatnonzero(np.isin(code, kept))  # the others have no votes
        known = known[np.argsort(code[known], kind="stable")]
        facing = votes[:, known]
        facing[:, turned[known]] = facing[:, turned[known]][:, :, [1, 0, 2]]
        return np.asarray(np.add.reduceat(facing, np.searchsorted(code[known], kept), axis=1), np.float64)


@dataclass(frozen=True, eq=False)
class Tally:
    """What the likelihood needs of the votes of each draw."""

    votes: NDArray[np.float64]  # (draws, pairs)
    lead: NDArray[np.float64]  # (draws, pairs): (first's wins − second's wins)/2
    ties: NDArray[np.float64]  # (draws,)

    @classmethod
    def of(cls, totals: NDArray[np.float64]) -> "Tally":
        """Reduce votes (draws, pairs, 3)."""
        lead = (totals[:, :, 0] - totals[:, :, 1]) / 2
        return cls(totals.sum(axis=2), lead, totals[:, :, 2].sum(axis=1))

    def take(self, draws: NDArray[np.int64]) -> "Tally":
        """Keep some of the draws."""
        return Tally(self.votes[draws], self.lead[draws], self.ties[draws])


@dataclass(frozen=True, eq=False)
class Expected:
    """What the model expects of one vote, for each draw and pair (draws, pairs)."""

    gap: NDArray[np.float64]  # d
    log_norm: NDArray[np.float64]  # log(e^{d/2} + e^{−d/2} + e^δ)
    lead: NDArray[np.float64]  # E s = (p₁ − p₂)/2
    tie: NDArray[np.float64]  # E t = p₃


def expect(model: Model, beta: NDArray[np.float64]) -> Expected:
    """Evaluate the model at ``beta`` (draws, params)."""
    gap = beta[:, model.pairs[:, 0]] - beta[:, model.pairs[:, 1]]  # (draws, pairs)
    if model.side is not None:
        gap += beta[:, [model.side]]
    size = np.abs(gap)
    lesser = np.exp(-size)  # e^{|d|/2} is divided out of all three terms, so none overflows
    equal = np.zeros_like(gap) if model.tie is None else np.exp(beta[:, [model.tie]] - size / 2)
    norm = 1 + lesser + equal
    return Expected(gap, size / 2 + np.log(norm), np.sign(gap) * (1 - lesser) / (2 * norm), equal / norm)


def log_likelihood(
    model: Model, beta: NDArray[np.float64], tally: Tally, expected: Expected
) -> NDArray[np.float64]:
    """Return the log-likelihood of each draw (draws,)."""
    value: NDArray[np.float64] = np.einsum("dp,dp->d", tally.lead, expected.gap)
    value -= np.einsum("dp,dp->d", tally.votes, expected.log_norm)
    return value if model.tie is None else value + beta[:, model.tie] * tally.ties


def score(model: Model, tally: Tally, expected: Expected) -> NDArray[np.float64]:
    """Return the gradient of the log-likelihood (draws, params)."""
    excess = tally.lead - tally.votes * expected.lead  # (draws, pairs)
    gradient = np.empty((len(excess), model.size))
    gradient[:, : model.items] = excess @ model.spread
    if model.side is not None:
        gradient[:, model.side] = excess.sum(axis=1)
    if model.tie is not None:
        gradient[:, model.tie] = tally.ties - np.einsum("dp,dp->d", tally.votes, expected.tie)
    return gradient


def information(model: Model, tally: Tally, expected: Expected) -> NDArray[np.float64]:
    """Return the negative Hessian (draws, params, params), with 11ᵀ/items added over the θ.

    Without it the matrix is singular along θ + constant; with it a Newton step keeps Σθ as it is.
    """
    items, side, tie = model.items, model.side, model.tie
    spread_s = tally.votes * ((1 - expected.tie) / 4 - expected.lead**2)  # (draws, pairs): n Var s
    links = np.zeros((len(spread_s), items, items))
    links[:, model.pairs[:, 0], model.pairs[:, 1]] = spread_s
    links = links + links.transpose(0, 2, 1)
    matrix = np.zeros((len(spread_s), model.size, model.size))
    matrix[:, :items, :items] = 1 / items - links
    matrix[:, np.arange(items), np.arange(items)] += links.sum(axis=2)
    if side is not None:
        matrix[:, side, side] = spread_s.sum(axis=1)
        matrix[:, :items, side] = matrix[:, side, :items] = spread_s @ model.spread
    if tie is not None:
        joint = -tally.votes * expected.lead * expected.tie  # n Cov(s, t)
        matrix[:, tie, tie] = np.einsum("dp,dp->d", tally.votes, expected.tie * (1 - expected.tie))
        matrix[:, :items, tie] = matrix[:, tie, :items] = joint @ model.spread
        if side is not None:
            matrix[:, side, tie] = matrix[:, tie, side] = joint.sum(axis=1)
    return matrix


def model_covariance(
    model: Model, beta: NDArray[np.float64], votes: NDArray[np.float64], *, prior: bool
) -> NDArray[np.float64]:
    """Return H⁻¹ (params, params) at ``beta`` (params,): right only if all votes are independent."""
    totals = votes.sum(axis=0)[None] + (model.prior if prior else 0.0)
    matrix = information(model, Tally.of(totals), expect(model, beta[None]))[0]
    inverse = np.linalg.inv(matrix)
    inverse[: model.items, : model.items] -= 1 / model.items  # the added direction, taken out again
    return np.asarray(inverse, np.float64)


def influence(
    model: Model, beta: NDArray[np.float64], votes: NDArray[np.float64], inverse: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return H⁻¹ u (people, params), u the score of one person's votes (people, pairs, 3) at ``beta``.

    To first order this is how far the estimate moves by that person; Σ l lᵀ is the sandwich covariance.
    """
    everyone = np.broadcast_to(beta, (len(votes), model.size))
    scores = score(model, Tally.of(votes), expect(model, everyone))  # (people, params)
    return np.asarray(scores @ inverse, np.float64)
