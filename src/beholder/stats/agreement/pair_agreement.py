"""How often two raters of an item agree, and how far that is beyond chance: what Fleiss' κ and Gwet's AC share.

For an item whose raters i have the weights wᵢ, the pairs i ≠ j of different raters agree by Σ wᵢwⱼ c(vᵢ, vⱼ) of
Σ wᵢwⱼ, where c is the credit of two answers, and the proportion of category k is Σ wᵢ over its raters, over Σ wᵢ.
Items are taken by their number of answers. With zᵢ = [wᵢ > 0], an item with one answer has the proportion zᵢ and
no pair, and one with two has zᵢzⱼ pairs, which agree by c, and weighs zᵢ + zⱼ − zᵢzⱼ: sums over such items are
forms in z. Proportions of two different answers, and items with more answers, are computed item by item.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from beholder.stats.agreement.answers import LongAnswers
from beholder.stats.agreement.resampled_agreement import InBlocks
from beholder.stats.each import Map

Numbers = NDArray[np.float64]

OfPairs = Callable[[Numbers, Numbers], Numbers]
"""A statistic of the mean agreement of pairs (replicates,) and of the mean proportions (categories, replicates):
one number per replicate."""

_BLOCK = 100_000  # elements of the largest array held at a time: few enough to stay in the cache
_FEWEST = 16  # replicates done at a time, however many items there are


def on_pairs(
    answers: LongAnswers, category: NDArray[np.integer], credit: Numbers, statistic: OfPairs, *, each: Map = map
) -> InBlocks:
    """Return a statistic of weighted raters from one of pairs.

    ``category`` (answers,) numbers the category of each answer, and ``credit`` (categories, categories) is what a
    pair counts, with 1 on the diagonal. Agreement is the mean over items with two raters, proportions are means
    over items with one; nan where there is none. ``each`` applies it to blocks of replicates.
    """
    parts = _by_answers(answers, np.asarray(category, np.int64), credit)
    step = max(_FEWEST, _BLOCK // max(part.rows for part in parts))
    return InBlocks(partial(_of_weights, parts, statistic), step, each)


def _of_weights(parts: "list[_Single | _Two | _Several]", statistic: OfPairs, weights: Numbers) -> Numbers:
    drawn = np.ascontiguousarray(weights.T)  # (raters, replicates)
    return statistic(*mean_pairs([part.sums(drawn) for part in parts]))


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over items, for each replicate."""

    agreement: Numbers  # (replicates,) of the mean credit of each item's pairs
    paired: Numbers  # (replicates,) items with a pair
    proportions: Numbers  # (categories, replicates)
    judged: Numbers  # (replicates,) items with a rater


def mean_pairs(parts: list[PairSums]) -> tuple[Numbers, Numbers]:
    """Return the mean agreement of pairs (replicates,) and the mean proportions (categories, replicates)."""
    agreement, paired, judged = (
        sum((getattr(part, name) for part in parts), np.zeros(1)) for name in ("agreement", "paired", "judged")
    )
    proportions = sum((part.proportions for part in parts), np.zeros((1, 1)))
    observed = np.where(paired > 0, agreement / np.maximum(paired, 1), np.nan)
    return observed, proportions / np.maximum(judged, 1)


def sums_of_counts(sums: Numbers, copies: Numbers, credit: Numbers) -> PairSums:
    """Return the sums over items from Σw (categories, items, replicates) and Σw² (items, replicates)."""
    size = sums.sum(axis=0)  # (items, replicates)
    pairs = size * size
    pairs -= copies
    if np.array_equal(credit, np.eye(len(credit))):
        beside = sums
    else:
        beside = (credit @ sums.reshape(len(sums), -1)).reshape(sums.shape)
    agree = sums[0] * beside[0]
    for own, other in zip(sums[1:], beside[1:], strict=True):
        agree += own * other
    agree -= copies  # 0 where there is no pair
    paired, judged = (np.minimum(number, 1.0).sum(axis=0) for number in (pairs, size))
    agree /= np.maximum(pairs, 1.0, out=pairs)
    np.maximum(size, 1.0, out=size)
    proportions = np.stack([(own / size).sum(axis=0) for own in sums])
    return PairSums(agree.sum(axis=0), paired, proportions, judged)


def beyond_chance(observed: Numbers, chance: Numbers) -> Numbers:
    """Return (observed − chance)/(1 − chance), nan where chance alone would agree on everything."""
    defined = chance < 1 - 1e-12
    return np.where(defined, (observed - chance) / np.where(defined, 1 - chance, 1.0), np.nan)


@dataclass(frozen=True, eq=False)
class _Single:
    """Items with one answer: how many of each rater are in each category (categories, raters)."""

    chosen: Numbers

    @property
    def rows(self) -> int:
        return int(self.chosen.shape[1])

    def sums(self, weights: Numbers) -> PairSums:
        proportions = self.chosen @ np.minimum(weights, 1.0)
        none = np.zeros(weights.shape[1])
        return PairSums(none, none, proportions, proportions.sum(axis=0))


@dataclass(frozen=True, eq=False)
class _Two:
    """Items with two answers, first counted for the category of the second, then moved where the first differs."""

    credits: sparse.csr_array  # (raters, raters) Σ credit
    second: list[sparse.csr_array]  # by category: (raters, raters) items whose second answer it is
    judged_by: Numbers  # (categories, raters) the same items, by either rater
    differing: tuple[NDArray[np.int64], NDArray[np.int64]]  # (items whose answers differ,) their raters
    moves: sparse.csr_array  # (categories, items whose answers differ) to the first answer's, from the second's

    @property
    def rows(self) -> int:
        return max(len(self.differing[0]), int(self.judged_by.shape[1]))

    def sums(self, weights: Numbers) -> PairSums:
        drawn = np.minimum(weights, 1.0)  # z
        together = np.stack([np.einsum("rd,rd->d", matrix @ drawn, drawn) for matrix in self.second])
        presence = self.judged_by @ drawn - together  # (categories, replicates) weight of the items
        fraction = weights[self.differing[0]]
        both = weights[self.differing[1]]
        both += fraction
        fraction /= np.maximum(both, 1.0, out=both)
        agreement = np.einsum("rd,rd->d", self.credits @ drawn, drawn)
        return PairSums(
            agreement, together.sum(axis=0), presence + np.asarray(self.moves @ fraction), presence.sum(axis=0)
        )


@dataclass(frozen=True, eq=False)
class _Several:
    """Items with three answers or more."""

    gave: sparse.csr_array  # (categories · items, raters)
    judged: sparse.csr_array  # (items, raters)
    credit: Numbers

    @property
    def rows(self) -> int:
        return int(self.judged.shape[0])

    def sums(self, weights: Numbers) -> PairSums:
        sums = np.asarray(self.gave @ weights).reshape(len(self.credit), self.rows, -1)
        return sums_of_counts(sums, np.asarray(self.judged @ weights**2), self.credit)


def _by_answers(
    answers: LongAnswers, category: NDArray[np.int64], credit: Numbers
) -> list[_Single | _Two | _Several]:
    """Return the items by their number of answers."""
    count = np.bincount(answers.items)[answers.items]
    parts: list[_Single | _Two | _Several] = []
    for number, make in ((count == 1, _single), (count == 2, _two), (count >= 3, _several)):
        if number.any():
            order = np.flatnonzero(number)[np.argsort(answers.items[number], kind="stable")]
            columns = answers.items[order], answers.raters[order], category[order]
            parts.append(make(*columns, answers.rater_count, credit))
    return parts


def _single(
    _: NDArray[np.int64], rater: NDArray[np.int64], category: NDArray[np.int64], raters: int, credit: Numbers
) -> _Single:
    chosen = np.bincount(category * raters + rater, minlength=len(credit) * raters)
    return _Single(chosen.reshape(len(credit), raters).astype(np.float64))


def _two(
    _: NDArray[np.int64], rater: NDArray[np.int64], category: NDArray[np.int64], raters: int, credit: Numbers
) -> _Two:
    first, second = rater[::2], rater[1::2]
    first_category, second_category = category[::2], category[1::2]
    judged_by = np.zeros((len(credit), raters))
    for side in (first, second):
        np.add.at(judged_by, (second_category, side), 1.0)
    differ = np.flatnonzero(first_category != second_category)
    place = np.arange(len(differ))
    moves = sparse.csr_array(
        (
            np.repeat((1.0, -1.0), len(differ)),
            (np.concatenate([first_category[differ], second_category[differ]]), np.tile(place, 2)),
        ),
        shape=(len(credit), len(differ)),
    )

    def matrix(entries: Numbers) -> sparse.csr_array:
        there = entries != 0
        return sparse.csr_array((entries[there], (first[there], second[there])), shape=(raters, raters))

    return _Two(
        credits=matrix(credit[first_category, second_category]),
        second=[matrix((second_category == number).astype(np.float64)) for number in range(len(credit))],
        judged_by=judged_by,
        differing=(first[differ], second[differ]),
        moves=moves,
    )


def _several(
    item: NDArray[np.int64], rater: NDArray[np.int64], category: NDArray[np.int64], raters: int, credit: Numbers
) -> _Several:
    items, row = np.unique(item, return_inverse=True)
    ones, count = np.ones(len(row)), len(items)
    return _Several(
        gave=sparse.csr_array((ones, (category * count + row, rater)), shape=(len(credit) * count, raters)),
        judged=sparse.csr_array((ones, (row, rater)), shape=(count, raters)),
        credit=credit,
    )
