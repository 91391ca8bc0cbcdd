"""Plackett–Luce ratings from rankings of any length, with raters resampled.

A ranking is a row of choices: the best of all, then the best of the rest, and so on. A choice c from a set S has

    P(c | S) = e^{θ_c} / Σ_{m ∈ S} e^{θ_m}        with Σ θ = 0,

which for two items is Bradley–Terry. The log-likelihood Σ θ_c − Σ log Σ e^{θ_m} is concave, and depends on the
rankings only through how often each item was chosen and how often each set was chosen from.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from beholder.errors import StatisticsError
from beholder.stats.comparisons.bradley_terry_likelihood import PSEUDO_VOTE
from beholder.stats.comparisons.item_ratings import MOST_ITEMS, SANDWICH, ItemRatings, sandwich
from beholder.stats.comparisons.newton import maximise
from beholder.stats.comparisons.vote_table import weighted_totals
from beholder.stats.comparisons.win_graph import require_connected, strongly_connected
from beholder.stats.intervals.likelihood_lines import LikelihoodLines

TIE_RULE = "none: rankings have no ties"
ABSENT = -1  # fills the end of a ranking shorter than the longest


@dataclass(frozen=True, eq=False, kw_only=True)
class PlackettLuce(ItemRatings):
    """A fitted model. Ratings are natural-log odds around 0: a is put before b with odds e^{θa − θb}."""

    def win_probability(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
        """Return P(a is put before b); indices broadcast."""
        return np.asarray(special.expit(self.ratings[np.asarray(a)] - self.ratings[np.asarray(b)]), np.float64)

    def choice_probabilities(self, items: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each of the items ``items`` (items,) to be put first."""
        return np.asarray(special.softmax(self.ratings[np.asarray(items)]), np.float64)


def plackett_luce(
    raters: ArrayLike,
    rankings: ArrayLike,
    *,
    items: int,
    placed: ArrayLike | None = None,
    weights: NDArray[np.integer] | None = None,
) -> PlackettLuce:
    """Fit the model to rankings, and again to each bootstrap replicate of raters.

    ``rankings`` (rankings, longest) holds item indices, best first, each row filled up with −1; a ranking may be
    of some of the items only. ``placed`` (rankings,) says how many of a row's items were put in order, where the
    rest are only known to come after them: 1 is a choice of the best. ``raters`` (rankings,) are indices of
    raters, ``weights`` (replicates, raters) come from
    :func:`beholder.stats.intervals.bootstrap.rater_weights`. Ties are refused; break them at random, or leave the
    order open with ``placed``.

    The maximum is finite only if each item can be reached from each other along "put before". Where it cannot,
    every two items that met in a ranking get a pseudo-vote, half for each, as in Bradley–Terry:
    ``prior_used`` and ``prior_share`` say so. Items that never met, even through others, cannot be rated together:
    that is an error.
    """
    who, rows, ordered = _checked(raters, rankings, placed, items)
    choices = _Choices.of(who, rows, ordered, items)
    require_connected(choices.pairs, items)
    model = _Model.of(choices, items)
    totals = np.asarray(choices.table.sum(axis=0), np.float64)[None]
    point, needed = _fit(model, totals, np.zeros(items), prior=False)
    ratings, prior = point[0], bool(needed[0])

    replicates, lacking = np.empty((0, items)), np.zeros(0, np.bool_)
    if weights is not None:
        block = max(1, 8_000_000 // (items**2 + 4 * choices.table.shape[1] + choices.table.shape[0]))
        fits = [
            _fit(model, drawn, ratings, prior=prior) for drawn in weighted_totals(choices.table, weights, block)
        ]
        replicates, lacking = np.concatenate([f[0] for f in fits]), np.concatenate([f[1] for f in fits])
    likelihood = _Luce.of(model, totals, np.array([prior]))
    inverse = np.linalg.inv(likelihood.curve(point)[1][0]) - 1 / items  # the added direction, taken out again
    pull = _influence(model, ratings, choices.table, inverse)
    return PlackettLuce(
        ratings=ratings,
        rating_replicates=replicates,
        covariance=sandwich(pull),
        covariance_kind=SANDWICH,
        model_covariance=inverse,
        influence=pull,
        answers_by_rater=choices.load,
        answers=np.rint(choices.load.sum(axis=0)).astype(np.int64),
        log_likelihood=float(_Luce.of(model, totals, np.array([False])).value(point)[0]),
        prior_used=prior,
        prior_share=float(lacking.mean()) if len(lacking) else 0.0,
        tie_rule=TIE_RULE,
        likelihood=LikelihoodLines(likelihood.value, ratings, inverse) if items <= MOST_ITEMS else None,
    )


@dataclass(frozen=True, eq=False)
class _Choices:
    """Rankings taken apart: what each rater chose, from which sets, and who came before whom."""

    table: sparse.csr_array  # (raters, items + sets + 2 · pairs): times chosen, times chosen from, before, after
    sets: NDArray[np.bool_]  # (sets, items) membership
    pairs: NDArray[np.int64]  # (pairs, 2) that met, sorted and each once
    load: NDArray[np.float64]  # (raters, items) rankings in which the item took part

    @classmethod
    def of(
        cls, who: NDArray[np.int64], rows: NDArray[np.int64], placed: NDArray[np.int64], items: int
    ) -> "_Choices":
        rater_count, longest = int(who.max()) + 1, rows.shape[1]
        size = (rows != ABSENT).sum(axis=1)
        member = np.zeros((len(rows), longest, items), np.bool_)  # the set left at each stage
        row, place = np.nonzero(rows != ABSENT)
        for stage in range(longest):
            later = place >= stage
            member[row[later], stage, rows[row[later], place[later]]] = True
        real = np.arange(longest) < np.minimum(placed, size - 1)[:, None]  # (rankings, longest) real choices
        sets, which = np.unique(np.packbits(member[real], axis=1), axis=0, return_inverse=True)
        chosen, chooser = rows[real], np.broadcast_to(who[:, None], real.shape)[real]
        before, after, by = _met(rows, who, real)
        low, high = np.minimum(before, after), np.maximum(before, after)
        keys, pair = np.unique(low * items + high, return_inverse=True)
        pair = pair.reshape(-1)
        offset = items + len(sets)
        column = np.concatenate(
            [chosen, items + which.reshape(-1), offset + pair + np.where(before < after, 0, len(keys))]
        )
        rater = np.concatenate([chooser, chooser, by])
        shape = (rater_count, offset + 2 * len(keys))
        table = sparse.coo_array((np.ones(len(column)), (rater, column)), shape=shape).tocsr()
        load = np.zeros((rater_count, items))
        np.add.at(load, (who[row], rows[row, place]), 1.0)
        unpacked = np.unpackbits(sets, axis=1, count=items).astype(np.bool_)
        return cls(table, unpacked, np.stack(np.divmod(keys, items), axis=1), load)


@dataclass(frozen=True, eq=False)
class _Model:
    """The sets that are chosen from, those of the pseudo-votes last."""

    items: int
    member: sparse.csr_array  # (sets + pairs, items) 1 for the items of a set
    together: (
        sparse.csr_array
    )  # (sets + pairs, items · items) 1 for every two items of a set, and each with itself
    pairs: NDArray[np.int64]  # (pairs, 2)

    @classmethod
    def of(cls, choices: _Choices, items: int) -> "_Model":
        duels = np.zeros((len(choices.pairs), items), np.bool_)
        duels[np.arange(len(duels))[:, None], choices.pairs] = True
        member = sparse.csr_array(np.concatenate([choices.sets, duels]).astype(np.float64))
        return cls(items, member, _squared(member), choices.pairs)

    @property
    def sets(self) -> int:
        """The number of sets of the rankings themselves."""
        return self.member.shape[0] - len(self.pairs)


@dataclass(frozen=True, eq=False)
class _Luce:
    """The likelihood of each replicate's choices: a :class:`beholder.stats.comparisons.newton.Likelihood`.

    With s = e^θ, N a set's times and Z its Σ s, items are expected to be chosen s · Σ N/Z over their sets, and two
    items i, j of a set have the curvature −sᵢ sⱼ Σ N/Z² over the sets of both. So all is sums over sets.
    """

    member: sparse.csr_array  # (sets, items)
    together: sparse.csr_array  # (sets, items · items)
    chosen: NDArray[np.float64]  # (replicates, items)
    times: NDArray[np.float64]  # (replicates, sets)

    @classmethod
    def of(cls, model: _Model, totals: NDArray[np.float64], prior: NDArray[np.bool_]) -> "_Luce":
        """Take the columns of :class:`_Choices`; ``prior`` (replicates,) says where pseudo-votes are added."""
        chosen, times = totals[:, : model.items], totals[:, model.items : model.items + model.sets]
        if not prior.any():
            return cls(model.member[: model.sets], model.together[: model.sets], chosen, times)
        meetings = np.bincount(model.pairs.ravel(), minlength=model.items)  # pairs of each item
        duels = np.broadcast_to(PSEUDO_VOTE * prior[:, None], (len(prior), len(model.pairs)))
        return cls(
            model.member,
            model.together,
            chosen + PSEUDO_VOTE / 2 * meetings * prior[:, None],
            np.concatenate([times, duels], axis=1),
        )

    def take(self, replicates: NDArray[np.int64]) -> "_Luce":
        return _Luce(self.member, self.together, self.chosen[replicates], self.times[replicates])

    def value(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        top = beta.max(axis=1, keepdims=True)
        norm = top + np.log(_times(np.exp(beta - top), self.member.T))  # (replicates, sets)
        return np.asarray((self.chosen * beta).sum(axis=1) - (self.times * norm).sum(axis=1), np.float64)

    def slope(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        strength, sums = self._sums(beta)
        return np.asarray(self.chosen - strength * _times(self.times / sums, self.member), np.float64)

    def curve(self, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gradient, and the negative Hessian with 11ᵀ/items added, so that a step keeps Σθ."""
        strength, sums = self._sums(beta)
        items = strength.shape[1]
        expected = strength * _times(self.times / sums, self.member)  # (replicates, items)
        shared = _times(self.times / sums**2, self.together).reshape(-1, items, items)
        matrix = 1 / items - shared * strength[:, :, None] * strength[:, None, :]
        matrix[:, np.arange(items), np.arange(items)] += expected
        return np.asarray(self.chosen - expected, np.float64), np.asarray(matrix, np.float64)

    def _sums(self, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return e^θ (replicates, items), the largest 1, and its sum over each set (replicates, sets)."""
        strength = np.exp(beta - beta.max(axis=1, keepdims=True))
        return strength, _times(strength, self.member.T)


def _fit(
    model: _Model, totals: NDArray[np.float64], start: NDArray[np.float64], *, prior: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the ratings (replicates, items) of ``totals`` (replicates, columns), and who needed pseudo-votes."""
    duels = totals[:, model.items + model.sets :]
    before, after = duels[:, : len(model.pairs)] > 0, duels[:, len(model.pairs) :] > 0
    needs = prior | ~strongly_connected(model.pairs, before, after, model.items)
    ratings, runaway = maximise(_Luce.of(model, totals, needs), start, len(totals))
    if runaway.any():
        raise StatisticsError(
            f"Plackett–Luce has no finite fit in {int(runaway.sum())} of {len(totals)} replicates; found "
            f"{totals[:, : model.items].sum(axis=1).max():.3g} choices a replicate"
        )
    return ratings, needs


def _influence(
    model: _Model, ratings: NDArray[np.float64], table: sparse.csr_array, inverse: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return H⁻¹ u (raters, items), u the score of one rater's choices: chosen less expected."""
    strength = np.exp(ratings - ratings.max()) * model.member[: model.sets].toarray()
    chance = strength / strength.sum(axis=1, keepdims=True)  # (sets, items)
    unused = np.zeros((2 * len(model.pairs), model.items))
    scores = np.concatenate([np.eye(model.items), -chance, unused])
    return np.asarray(table @ (scores @ inverse), np.float64)


def _squared(member: sparse.csr_array) -> sparse.csr_array:
    """Return (sets, items · items): 1 where both items are in the set."""
    sets, items = member.shape
    size = np.diff(member.indptr)
    row = np.repeat(np.arange(sets), size)
    partners = size[row]  # each entry meets all of its set
    begin = np.repeat(np.cumsum(partners) - partners, partners)
    other = np.repeat(member.indptr[row], partners) + np.arange(partners.sum()) - begin
    column = np.repeat(member.indices.astype(np.int64), partners) * items + member.indices[other]
    ones = np.ones(len(column))
    return sparse.coo_array((ones, (np.repeat(row, partners), column)), shape=(sets, items * items)).tocsr()


def _times(dense: NDArray[np.float64], table: sparse.csr_array | sparse.csc_array) -> NDArray[np.float64]:
    """Return dense @ table, laid out row by row."""
    return np.ascontiguousarray((table.T @ dense.T).T)


def _met(
    rows: NDArray[np.int64], who: NDArray[np.int64], real: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return items put before others, those others, and the raters who did so, a row for each two in a ranking."""
    parts = []
    for front, back in combinations(range(rows.shape[1]), 2):
        compared = real[:, front] & (rows[:, back] != ABSENT)
        parts.append((rows[compared, front], rows[compared, back], who[compared]))
    before, after, by = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return before, after, by


def _checked(
    raters: ArrayLike, rankings: ArrayLike, placed: ArrayLike | None, items: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    who, rows = np.asarray(raters), np.asarray(rankings)
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or rows.shape[0] == 0 or rows.shape[1] < 2:
        raise StatisticsError(
            f"rankings must be integers (rankings, at least 2), at least one; found {rows.dtype} of shape "
            f"{rows.shape}"
        )
    if who.shape != (len(rows),) or who.dtype.kind not in "iu" or who.min() < 0:
        raise StatisticsError(f"raters must be one index a ranking; found {who.dtype} of shape {who.shape}")
    rows = rows.astype(np.int64)
    there = rows != ABSENT
    size = there.sum(axis=1)
    if items < 2 or rows.min() < ABSENT or rows.max() >= items:
        raise StatisticsError(f"rankings must hold items of 0…{items - 1}, at least two items in all, or −1")
    if np.any(there != (np.arange(rows.shape[1]) < size[:, None])) or np.any(size < 2):
        raise StatisticsError("every ranking needs at least two items, and −1 only after the last of them")
    ordered = np.sort(np.where(there, rows, items + np.arange(rows.shape[1])), axis=1)
    if np.any(ordered[:, 1:] == ordered[:, :-1]):
        raise StatisticsError("an item can stand in a ranking once only, and two items cannot share a place")
    ranked = size if placed is None else np.asarray(placed)
    if ranked.shape != size.shape or ranked.dtype.kind not in "iu" or np.any((ranked < 1) | (ranked > size)):
        raise StatisticsError("placed must be one number for each ranking, of 1 … its number of items")
    return who.astype(np.int64), rows, ranked.astype(np.int64)
