"""Bradley–Terry ratings with ties (Davidson 1970) and an optional side effect, with people resampled.

For items i (shown first) and j (shown second) the outcomes (first wins, second wins, tie) have the logits

    θᵢ + γ,    θⱼ,    (θᵢ + θⱼ + γ)/2 + δ        with Σ θ = 0.

Only d = θᵢ − θⱼ + γ and δ matter: the probabilities are proportional to e^{d/2}, e^{−d/2}, e^δ. The
log-likelihood (:mod:`beholder.stats.bradley_terry_likelihood`) is concave, and Newton's method finds its maximum
for one set of votes or for all bootstrap draws at once (:mod:`beholder.stats.bradley_terry_newton`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.bootstrap import effective_people, method_name
from beholder.stats.bootstrap_intervals import Rule, bca_interval, percentile_interval
from beholder.stats.bradley_terry_likelihood import Model, influence, model_covariance
from beholder.stats.bradley_terry_newton import fit_totals
from beholder.stats.estimate import Estimate, Estimates
from beholder.stats.win_graph import comparison_components

FIRST, SECOND, TIE = 0, 1, 2  # the outcomes of a vote, in the order of the last axis of counts
TIE_RULE = "davidson"


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """A fitted model. Ratings are natural-log odds around 0: a is preferred to b with odds e^{θa − θb}."""

    ratings: NDArray[np.float64]  # (items,) θ, summing to 0
    tie: float | None  # δ, or None where no ties occur
    side: float | None  # γ, the advantage of being shown first, or None where not asked for
    rating_draws: NDArray[np.float64]  # (draws, items)
    tie_draws: NDArray[np.float64] | None  # (draws,)
    side_draws: NDArray[np.float64] | None  # (draws,)
    covariance: NDArray[np.float64]  # (items, items) of the ratings
    covariance_kind: str  # "sandwich over people", or "model" where only totals were given
    influence: NDArray[np.float64]  # (people, items) how far each person's votes move each rating
    answers_by_person: NDArray[np.float64]  # (people, items) votes in which the item took part
    answers: NDArray[np.int64]  # (items,) votes in which the item took part
    log_likelihood: float
    prior_used: bool  # whether the point estimate needed pseudo-votes
    prior_share: float  # share of the draws that needed them; 0 with no draws
    tie_rule: str = TIE_RULE

    @property
    def people(self) -> NDArray[np.int64]:
        """How many people judged each item (items,); 0 where only totals were given."""
        return np.asarray(np.count_nonzero(self.answers_by_person, axis=0), np.int64)

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Standard errors of the ratings (items,) from ``covariance``: a check on the bootstrap."""
        return np.sqrt(np.diag(self.covariance))

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

    def estimates(self, *, level: float = 0.95, rule: Rule = "bca", expand: bool = True) -> Estimates:
        """Return the ratings with their bootstrap intervals."""
        if len(self.rating_draws) == 0:
            raise StatisticsError("intervals of ratings need bootstrap draws; this fit was made without weights")
        if rule == "bca":
            effective = effective_people(self.answers_by_person)
            low, high = bca_interval(
                self.ratings,
                self.rating_draws,
                self.influence,
                self.people,
                effective=effective,
                level=level,
                expand=expand,
            )
        else:
            low, high = percentile_interval(self.rating_draws, self.people, level=level, expand=expand)
        return Estimates(
            value=self.ratings,
            low=low,
            high=high,
            level=level,
            method=method_name(rule, expand=expand),
            raters=self.people,
            answers=self.answers,
            draws=len(self.rating_draws),
        )

    def side_estimate(self, *, level: float = 0.95) -> Estimate:
        """Return γ, the advantage of being shown first, with its expanded percentile interval."""
        return self._single("side effect", self.side, self.side_draws, level)

    def tie_estimate(self, *, level: float = 0.95) -> Estimate:
        """Return δ, how common ties are, with its expanded percentile interval."""
        return self._single("tie parameter", self.tie, self.tie_draws, level)

    def _single(self, name: str, value: float | None, draws: NDArray[np.float64] | None, level: float) -> Estimate:
        if value is None or draws is None or len(draws) == 0:
            raise StatisticsError(f"the {name} was not fitted, or was fitted without weights: it has no interval")
        people = int(np.count_nonzero(self.answers_by_person.any(axis=1)))
        low, high = percentile_interval(draws[:, None], people, level=level)
        return Estimate(
            value=value,
            low=float(low[0]),
            high=float(high[0]),
            level=level,
            method=method_name("percentile", expand=True),
            raters=people,
            answers=int(self.answers.sum()) // 2,  # a vote takes part in two items
            draws=len(draws),
        )


def bradley_terry(
    pairs: ArrayLike,
    counts: ArrayLike,
    *,
    items: int,
    weights: NDArray[np.integer] | None = None,
    side_effect: bool = False,
) -> BradleyTerry:
    """Fit Davidson's model to votes, and again to each bootstrap draw of people.

    ``pairs`` (pairs, 2) holds the item shown first and the item shown second; both orders, and repeats, may
    occur. ``counts`` (people, pairs, 3) holds each person's votes for first, second and tie, or (pairs, 3) the
    totals, which allow no bootstrap and a covariance that takes all votes as independent. ``weights``
    (draws, people) come from :func:`beholder.stats.bootstrap.person_weights`.

    δ is fitted where ties occur. γ is fitted with ``side_effect``, and needs pairs shown in both orders.

    The maximum is finite only if each item can be reached from each other along "beat or tied with". Where it
    is not, or the fit shows that the maximum is at infinity for another reason, every compared pair gets a
    pseudo-vote of 0.1, shared equally by the outcomes of the model (win, loss, and tie where ties are fitted):
    ``prior_used`` and ``prior_share`` say so.
    Items that were never compared, even through others, cannot be rated together: that is an error.
    """
    order, votes = _checked(pairs, counts, items)  # (pairs, 2), (people, pairs, 3)
    by_person = np.asarray(counts).ndim == 3
    _check_connected(order, votes, items)
    model = Model.of(order, votes.sum(axis=0), items, side_effect=side_effect)
    tallies = model.merge(order, votes)  # (people, merged pairs, 3)
    point = fit_totals(model, tallies.sum(axis=0)[None], start=None)
    beta, prior = point.parameters[0], bool(point.prior[0])  # (params,)

    draws = np.empty((0, len(beta)))
    needed = np.zeros(0, np.bool_)
    if weights is not None:
        if not by_person:
            raise StatisticsError("resampling people needs counts as (people, pairs, 3); found totals (pairs, 3)")
        draws, needed = _refit(model, tallies, weights, beta, prior=prior)
    inverse = model_covariance(model, beta, tallies, prior=prior)
    pull = influence(model, beta, tallies, inverse) if by_person else np.empty((0, model.size))
    covariance = _sandwich(pull) if by_person else inverse
    load = _votes_by_item(order, votes, items)  # (people, items)
    tie, side = model.tie, model.side
    return BradleyTerry(
        ratings=beta[:items],
        tie=None if tie is None else float(beta[tie]),
        side=None if side is None else float(beta[side]),
        rating_draws=draws[:, :items],
        tie_draws=None if tie is None else draws[:, tie],
        side_draws=None if side is None else draws[:, side],
        covariance=covariance[:items, :items],
        covariance_kind="sandwich over people" if by_person else "model",
        influence=pull[:, :items],
        answers_by_person=load if by_person else load[:0],
        answers=np.rint(load.sum(axis=0)).astype(np.int64),
        log_likelihood=float(point.log_likelihood[0]),
        prior_used=prior,
        prior_share=float(needed.mean()) if len(needed) else 0.0,
    )


def tally_votes(
    raters: ArrayLike, first: ArrayLike, second: ArrayLike, outcomes: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Turn a long list of votes into ``pairs`` (pairs, 2) and ``counts`` (people, pairs, 3).

    ``raters`` are indices 0…people−1, ``first`` and ``second`` item indices, ``outcomes`` 0 (first wins),
    1 (second wins) or 2 (tie).
    """
    columns = [np.asarray(column) for column in (raters, first, second, outcomes)]
    if any(c.ndim != 1 or c.shape != columns[0].shape or c.dtype.kind not in "iu" for c in columns):
        found = ", ".join(f"{c.dtype} {c.shape}" for c in columns)
        raise StatisticsError(f"votes need four integer columns of one length; found {found}")
    who, one, two, outcome = columns
    if len(who) == 0 or min(c.min() for c in columns) < 0 or outcome.max() > TIE:
        raise StatisticsError("votes need at least one row, indices of at least 0 and outcomes 0, 1 or 2")
    wide = int(max(one.max(), two.max())) + 1
    keys, pair = np.unique(one.astype(np.int64) * wide + two, return_inverse=True)
    pairs = np.stack(np.divmod(keys, wide), axis=1)  # (pairs, 2), sorted
    shape = (int(who.max()) + 1, len(pairs), 3)
    cell = np.ravel_multi_index((who, pair.reshape(-1), outcome), shape)
    return pairs.astype(np.int64), np.bincount(cell, minlength=np.prod(shape)).reshape(shape).astype(np.float64)


def _checked(pairs: ArrayLike, counts: ArrayLike, items: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    order, votes = np.asarray(pairs), np.asarray(counts, np.float64)
    if order.ndim != 2 or order.shape[1] != 2 or order.dtype.kind not in "iu" or len(order) == 0:
        raise StatisticsError(f"pairs must be integers (pairs, 2); found {order.dtype} of shape {order.shape}")
    if votes.ndim not in (2, 3) or votes.shape[-2:] != (len(order), 3):
        raise StatisticsError(
            f"counts must be (people, {len(order)} pairs, 3) or ({len(order)} pairs, 3); found {votes.shape}"
        )
    if items < 2 or order.min() < 0 or order.max() >= items or np.any(order[:, 0] == order[:, 1]):
        raise StatisticsError(f"pairs must join two different items of 0…{items - 1}, at least two items in all")
    if not np.all(np.isfinite(votes)) or np.any(votes < 0) or votes.sum() == 0:
        raise StatisticsError("counts must be finite, at least 0, and hold at least one vote")
    return order.astype(np.int64), votes if votes.ndim == 3 else votes[None]


def _check_connected(order: NDArray[np.int64], votes: NDArray[np.float64], items: int) -> None:
    compared = votes.sum(axis=(0, 2)) > 0
    components = comparison_components(order[compared], items)
    if len(components) > 1:
        groups = "; ".join("{" + ", ".join(str(i) for i in group) + "}" for group in components)
        raise StatisticsError(
            f"items that were never compared, even through others, cannot be rated together: found "
            f"{len(components)} separate groups of item indices {groups}; collect votes between them, or rate "
            "each group alone"
        )


def _refit(
    model: Model,
    tallies: NDArray[np.float64],
    weights: NDArray[np.integer],
    start: NDArray[np.float64],
    *,
    prior: bool,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the parameters (draws, params) of every draw and whether it needed the prior, block by block."""
    people, pairs, outcomes = tallies.shape
    if weights.ndim != 2 or weights.shape[1] != people or len(weights) == 0:
        raise StatisticsError(f"weights must be (draws, {people} people); found {weights.shape}")
    flat = tallies.reshape(people, pairs * outcomes)
    block = max(1, 8_000_000 // (model.size**2 + 12 * pairs + people))  # bounds memory to some 100 MB
    parameters, needed = [], []
    for begin in range(0, len(weights), block):
        part = weights[begin : begin + block].astype(np.float64)  # (block, people)
        fit = fit_totals(model, (part @ flat).reshape(len(part), pairs, outcomes), start=start, prior=prior)
        parameters.append(fit.parameters)
        needed.append(fit.prior)
    return np.concatenate(parameters), np.concatenate(needed)


def _sandwich(pull: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return n/(n−1) Σ l lᵀ over the influence l of n people (people, params); nan for one person."""
    people = len(pull)
    if people < 2:
        return np.full((pull.shape[1],) * 2, np.nan)
    return np.asarray(people / (people - 1) * pull.T @ pull, np.float64)


def _votes_by_item(order: NDArray[np.int64], votes: NDArray[np.float64], items: int) -> NDArray[np.float64]:
    """Return how many votes of each person each item took part in, as (people, items)."""
    member = np.zeros((len(order), items))
    member[np.arange(len(order)), order[:, 0]] = 1
    member[np.arange(len(order)), order[:, 1]] = 1
    return np.asarray(votes.sum(axis=2) @ member, np.float64)
