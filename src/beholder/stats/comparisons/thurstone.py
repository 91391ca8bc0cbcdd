"""Thurstone's Case V: ratings on a normal scale from votes on pairs, by maximum likelihood, with raters resampled.

Each item has a quality with normal noise of the same spread, and the better one wins:

    P(i beats j) = Φ(θᵢ − θⱼ)        with Σ θ = 0,

so a rating counts standard deviations of a difference of two items (for those of one item, multiply by √2). A tie
is counted as half a vote for each. The log-likelihood is concave; its maximum is a probit regression without
intercept.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from beholder.errors import StatisticsError
from beholder.stats.comparisons.bradley_terry_likelihood import pseudo_votes
from beholder.stats.comparisons.item_ratings import MODEL, SANDWICH, ItemRatings, sandwich
from beholder.stats.comparisons.newton import maximise
from beholder.stats.comparisons.vote_table import (
    OUTCOMES,
    checked_votes,
    merge_pairs,
    votes_by_item,
    weighted_totals,
)
from beholder.stats.comparisons.win_graph import strongly_connected

TIE_RULE = "half a vote each"


@dataclass(frozen=True, eq=False, kw_only=True)
class Thurstone(ItemRatings):
    """A fitted model. Ratings are standard deviations of a difference, around 0."""

    def win_probability(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
        """Return P(a is preferred to b), a tie counted half; indices broadcast."""
        return np.asarray(special.ndtr(self.ratings[np.asarray(a)] - self.ratings[np.asarray(b)]), np.float64)


def thurstone(
    pairs: ArrayLike,
    counts: ArrayLike | sparse.csr_array,
    *,
    items: int,
    weights: NDArray[np.integer] | None = None,
) -> Thurstone:
    """Fit Case V to votes, and again to each bootstrap replicate of raters.

    Everything given is as for :func:`beholder.stats.comparisons.bradley_terry.bradley_terry`, and so is what is
    done where the maximum is not finite: every compared pair then gets a pseudo-vote, half for each side.
    """
    order, votes, by_rater = checked_votes(pairs, counts, items)
    if weights is not None and not by_rater:
        raise StatisticsError("resampling raters needs counts as (raters, pairs, 3); found totals (pairs, 3)")
    merged, table = merge_pairs(order, votes, keep_order=False)
    wins = _halve_ties(table, len(merged))  # (raters, 2 · pairs)
    spread = np.zeros((len(merged), items))
    spread[np.arange(len(merged)), merged[:, 0]] = 1
    spread[np.arange(len(merged)), merged[:, 1]] = -1
    totals = np.asarray(wins.sum(axis=0), np.float64)[None]
    point, needed = _fit(merged, spread, totals, np.zeros(items), prior=False)
    ratings, prior = point[0], bool(needed[0])

    replicates, lacking = np.empty((0, items)), np.zeros(0, np.bool_)
    if weights is not None:
        block = max(1, 8_000_000 // (items**2 + 12 * len(merged) + wins.shape[0]))
        fits = [
            _fit(merged, spread, drawn, ratings, prior=prior) for drawn in weighted_totals(wins, weights, block)
        ]
        replicates, lacking = np.concatenate([f[0] for f in fits]), np.concatenate([f[1] for f in fits])
    likelihood = _Probit.of(spread, totals + (_prior(merged) if prior else 0.0))
    inverse = np.linalg.inv(likelihood.curve(point)[1][0]) - 1 / items  # the added direction, taken out again
    pull = _influence(spread, ratings, wins, inverse) if by_rater else np.empty((0, items))
    load = votes_by_item(order, votes, items)
    return Thurstone(
        ratings=ratings,
        rating_replicates=replicates,
        covariance=sandwich(pull) if by_rater else inverse,
        covariance_kind=SANDWICH if by_rater else MODEL,
        model_covariance=inverse,
        influence=pull,
        answers_by_rater=load if by_rater else load[:0],
        answers=np.rint(load.sum(axis=0)).astype(np.int64),
        log_likelihood=float(_Probit.of(spread, totals).value(point)[0]),
        prior_used=prior,
        prior_share=float(lacking.mean()) if len(lacking) else 0.0,
        tie_rule=TIE_RULE,
    )


@dataclass(frozen=True, eq=False)
class _Probit:
    """The likelihood of each replicate's votes: a :class:`beholder.stats.comparisons.newton.Likelihood`."""

    spread: NDArray[np.float64]  # (pairs, items): +1 for the first, −1 for the second
    won: NDArray[np.float64]  # (replicates, pairs)
    lost: NDArray[np.float64]  # (replicates, pairs)

    @classmethod
    def of(cls, spread: NDArray[np.float64], totals: NDArray[np.float64]) -> "_Probit":
        """Split wins and losses (replicates, 2 · pairs)."""
        return cls(spread, totals[:, : len(spread)], totals[:, len(spread) :])

    def take(self, replicates: NDArray[np.int64]) -> "_Probit":
        return _Probit(self.spread, self.won[replicates], self.lost[replicates])

    def value(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        gap = beta @ self.spread.T
        terms = self.won * special.log_ndtr(gap) + self.lost * special.log_ndtr(-gap)
        return np.asarray(terms.sum(axis=1), np.float64)

    def slope(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        gap = beta @ self.spread.T
        return np.asarray((self.won * _mills(gap) - self.lost * _mills(-gap)) @ self.spread, np.float64)

    def curve(self, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gradient, and the negative Hessian with 11ᵀ/items added, so that a step keeps Σθ."""
        gap = beta @ self.spread.T
        up, down = _mills(gap), _mills(-gap)
        bend = self.won * up * (up + gap) + self.lost * down * (down - gap)  # (replicates, pairs)
        matrix = (self.spread.T * bend[:, None, :]) @ self.spread + 1 / self.spread.shape[1]
        return np.asarray((self.won * up - self.lost * down) @ self.spread, np.float64), matrix


def _fit(
    pairs: NDArray[np.int64],
    spread: NDArray[np.float64],
    totals: NDArray[np.float64],
    start: NDArray[np.float64],
    *,
    prior: bool,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the ratings (replicates, items) of ``totals``, and which replicates needed pseudo-votes."""
    won, lost = totals[:, : len(pairs)], totals[:, len(pairs) :]
    needs = prior | ~strongly_connected(pairs, won > 0, lost > 0, spread.shape[1])
    smoothed = totals + np.where(needs[:, None], _prior(pairs), 0.0)
    ratings, runaway = maximise(_Probit.of(spread, smoothed), start, len(totals))
    if runaway.any():
        raise StatisticsError(
            f"Thurstone's model has no finite fit in {int(runaway.sum())} of {len(totals)} replicates; found "
            f"{totals.sum(axis=1).max():.3g} votes per replicate"
        )
    return ratings, needs


def _influence(
    spread: NDArray[np.float64], ratings: NDArray[np.float64], wins: sparse.csr_array, inverse: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return H⁻¹ u (raters, items), u the score of one rater's votes."""
    gap = spread @ ratings
    scores = np.concatenate([_mills(gap)[:, None] * spread, -_mills(-gap)[:, None] * spread])  # (2 · pairs, items)
    return np.asarray(wins @ (scores @ inverse), np.float64)


def _halve_ties(table: sparse.csr_array, pairs: int) -> sparse.csr_array:
    """Turn (raters, 3 · pairs) votes, outcome by outcome, into wins and losses (raters, 2 · pairs)."""
    each = np.arange(pairs)
    rows = np.concatenate([each, pairs + each, 2 * pairs + each, 2 * pairs + each])
    columns = np.concatenate([each, pairs + each, each, pairs + each])
    credit = np.repeat([1.0, 1.0, 0.5, 0.5], pairs)
    halved = sparse.coo_array((credit, (rows, columns)), shape=(OUTCOMES * pairs, 2 * pairs)).tocsr()
    return sparse.csr_array(table @ halved)


def _prior(pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(pseudo_votes(pairs, ties=False)[: OUTCOMES - 1].reshape(-1), np.float64)


def _mills(gap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return φ/Φ at ``gap``, safe far below 0."""
    return np.asarray(np.exp(-(gap**2) / 2 - special.log_ndtr(gap)) / np.sqrt(2 * np.pi), np.float64)
