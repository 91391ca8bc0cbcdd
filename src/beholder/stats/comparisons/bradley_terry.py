"""Bradley–Terry ratings with ties (Davidson 1970) and an optional side effect, with raters resampled.

For items i (shown first) and j (shown second) the outcomes (first wins, second wins, tie) have the logits

    θᵢ + γ,    θⱼ,    (θᵢ + θⱼ + γ)/2 + δ        with Σ θ = 0.

Only d = θᵢ − θⱼ + γ and δ matter: the probabilities are proportional to e^{d/2}, e^{−d/2}, e^δ. The
log-likelihood (:mod:`beholder.stats.comparisons.bradley_terry_likelihood`) is concave, and Newton's method finds
its maximum for one set of votes or for all bootstrap replicates at once
(:mod:`beholder.stats.comparisons.bradley_terry_newton`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from beholder.errors import StatisticsError
from beholder.stats.comparisons.bradley_terry_likelihood import Model, VoteLikelihood, covariance, influence
from beholder.stats.comparisons.bradley_terry_newton import fit_totals
from beholder.stats.comparisons.item_ratings import MODEL, MOST_ITEMS, SANDWICH, ItemRatings, sandwich
from beholder.stats.comparisons.vote_table import (
    OUTCOMES,
    checked_votes,
    merge_pairs,
    votes_by_item,
    weighted_totals,
)
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import method_name
from beholder.stats.intervals.bootstrap_intervals import percentile_interval
from beholder.stats.intervals.likelihood_lines import LikelihoodLines

TIE_RULE = "davidson"


@dataclass(frozen=True, eq=False, kw_only=True)
class BradleyTerry(ItemRatings):
    """A fitted model. Ratings are natural-log odds around 0: a is preferred to b with odds e^{θa − θb}."""

    tie: float | None  # δ, or None where no ties occur
    side: float | None  # γ, the advantage of being shown first, or None where not asked for
    tie_replicates: NDArray[np.float64] | None  # (replicates,)
    side_replicates: NDArray[np.float64] | None  # (replicates,)

    def outcome_probabilities(self, first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
        """Return P(first wins), P(second wins), P(tie) on a last axis of 3, side effect included.

        ``first`` and ``second`` are item indices that broadcast against each other.
        """
        gap = self.ratings[np.asarray(first)] - self.ratings[np.asarray(second)] + (self.side or 0.0)
        tie = np.full_like(gap, -np.inf if self.tie is None else self.tie)
        return np.asarray(special.softmax(np.stack([gap / 2, -gap / 2, tie], axis=-1), axis=-1), np.float64)

    def win_probability(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
        """Return P(a is preferred to b), a tie counted half, without any side effect.

        Indices broadcast: ``fit.win_probability(np.arange(k)[:, None], np.arange(k))`` is the whole matrix.
        """
        gap = self.ratings[np.asarray(a)] - self.ratings[np.asarray(b)]
        tie = 0.0 if self.tie is None else np.exp(self.tie)
        return np.asarray((np.exp(gap / 2) + tie / 2) / (np.exp(gap / 2) + np.exp(-gap / 2) + tie), np.float64)

    def side_estimate(self, *, level: float = 0.95) -> Estimate:
        """Return γ, the advantage of being shown first, with its expanded percentile confidence interval."""
        return self._single("side effect", self.side, self.side_replicates, level)

    def tie_estimate(self, *, level: float = 0.95) -> Estimate:
        """Return δ, how common ties are, with its expanded percentile confidence interval."""
        return self._single("tie parameter", self.tie, self.tie_replicates, level)

    def _single(
        self, name: str, value: float | None, replicates: NDArray[np.float64] | None, level: float
    ) -> Estimate:
        if value is None or replicates is None or len(replicates) == 0:
            raise StatisticsError(f"the {name} was not fitted, or was fitted without weights: it has no interval")
        rater_count = int(np.count_nonzero(self.answers_by_rater.any(axis=1)))
        low, high = percentile_interval(replicates[:, None], rater_count, level=level)
        return Estimate(
            value=value,
            low=float(low[0]),
            high=float(high[0]),
            level=level,
            method=method_name("percentile", expand=True),
            raters=rater_count,
            answers=int(self.answers.sum()) // 2,  # a vote takes part in two items
            replicates=len(replicates),
        )


def bradley_terry(
    pairs: ArrayLike,
    counts: ArrayLike | sparse.csr_array,
    *,
    items: int,
    weights: NDArray[np.integer] | None = None,
    side_effect: bool = False,
) -> BradleyTerry:
    """Fit Davidson's model to votes, and again to each bootstrap replicate of raters.

    ``pairs`` (pairs, 2) holds the item shown first and the item shown second; both orders, and repeats, may
    occur. ``counts`` holds each rater's votes for first, second and tie: sparse (raters, 3 · pairs) from
    :func:`beholder.stats.comparisons.vote_table.tally_votes`, or dense (raters, pairs, 3), or (pairs, 3) the
    totals, which allow no bootstrap and a covariance that takes all votes as independent. ``weights`` (replicates,
    raters) come from :func:`beholder.stats.intervals.bootstrap.rater_weights`.

    δ is fitted where ties occur. γ is fitted with ``side_effect``, and needs pairs shown in both orders.

    The maximum is finite only if each item can be reached from each other along "beat or tied with". Where it
    is not, or the fit shows that the maximum is at infinity for another reason, every compared pair gets a
    pseudo-vote, shared equally by the outcomes of the model (win, loss, and tie where ties are fitted):
    ``prior_used`` and ``prior_share`` say so. Of two items without ties this is Firth's penalty.
    Items that were never compared, even through others, cannot be rated together: that is an error.
    """
    order, votes, by_rater = checked_votes(pairs, counts, items)
    if weights is not None and not by_rater:
        raise StatisticsError("resampling raters needs counts as (raters, pairs, 3); found totals (pairs, 3)")
    merged, table = merge_pairs(order, votes, keep_order=side_effect)
    totals = np.asarray(table.sum(axis=0), np.float64).reshape(OUTCOMES, len(merged))
    model = Model.of(merged, items, ties=bool(totals[2].sum() > 0), side_effect=side_effect)
    point = fit_totals(model, totals[None], start=None)
    beta, prior = point.parameters[0], bool(point.prior[0])  # (params,)

    replicates, needed = np.empty((0, len(beta))), np.zeros(0, np.bool_)
    if weights is not None:
        replicates, needed = _refit(model, table, weights, beta, prior=prior)
    inverse = covariance(model, beta, totals, prior=prior)
    pull = influence(model, beta, table, inverse) if by_rater else np.empty((0, model.size))
    spread = sandwich(pull) if by_rater else inverse
    load = votes_by_item(order, votes, items)  # (raters, items)
    smoothed = VoteLikelihood.of(model, totals[None] + (model.prior if prior else 0.0))
    tie, side = model.tie, model.side
    return BradleyTerry(
        ratings=beta[:items],
        tie=None if tie is None else float(beta[tie]),
        side=None if side is None else float(beta[side]),
        rating_replicates=replicates[:, :items],
        tie_replicates=None if tie is None else replicates[:, tie],
        side_replicates=None if side is None else replicates[:, side],
        covariance=spread[:items, :items],
        covariance_kind=SANDWICH if by_rater else MODEL,
        model_covariance=inverse[:items, :items],
        influence=pull[:, :items],
        answers_by_rater=load if by_rater else load[:0],
        answers=np.rint(load.sum(axis=0)).astype(np.int64),
        log_likelihood=float(VoteLikelihood.of(model, totals[None]).value(beta[None])[0]),
        prior_used=prior,
        prior_share=float(needed.mean()) if len(needed) else 0.0,
        tie_rule=TIE_RULE,
        likelihood=LikelihoodLines(smoothed.value, beta, inverse) if items <= MOST_ITEMS else None,
    )


def _refit(
    model: Model, table: sparse.csr_array, weights: NDArray[np.integer], start: NDArray[np.float64], *, prior: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the parameters of every replicate (replicates, params), and whether it needed the prior."""
    block = max(1, 8_000_000 // (model.size**2 + 12 * len(model.pairs) + table.shape[0]))  # some 100 MB
    fits = [
        fit_totals(model, totals.reshape(len(totals), OUTCOMES, -1), start=start, prior=prior)
        for totals in weighted_totals(table, weights, block)
    ]
    return np.concatenate([fit.parameters for fit in fits]), np.concatenate([fit.prior for fit in fits])
