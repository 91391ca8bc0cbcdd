"""Answers in long form (rater, item, value), checked once, and laid out as categories or as a full matrix."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError


@dataclass(frozen=True, eq=False)
class LongAnswers:
    """One row per answer; each rater answered each item at most once."""

    raters: NDArray[np.int64]  # (answers,) 0 … raters − 1
    items: NDArray[np.int64]  # (answers,) 0 … item_count − 1
    values: NDArray[np.float64]  # (answers,)
    rater_count: int
    item_count: int


def long_answers(
    raters: ArrayLike, items: ArrayLike, values: ArrayLike, *, rater_count: int | None = None
) -> LongAnswers:
    """Check three columns of one length: integer indices from 0, finite values, no rater twice on an item."""
    who, what, value = np.asarray(raters), np.asarray(items), np.asarray(values, np.float64)
    if not (who.ndim == what.ndim == value.ndim == 1 and len(who) == len(what) == len(value) > 0):
        raise StatisticsError(
            "answers need raters, items and values of one length, at least one row; found shapes "
            f"{who.shape}, {what.shape}, {value.shape}"
        )
    if who.dtype.kind not in "iu" or what.dtype.kind not in "iu" or who.min() < 0 or what.min() < 0:
        raise StatisticsError(
            f"raters and items need to be integer indices from 0; found {who.dtype} and {what.dtype}"
        )
    if not np.all(np.isfinite(value)):
        raise StatisticsError(f"values need to be finite; found {int((~np.isfinite(value)).sum())} that are not")
    item_count = int(what.max()) + 1
    keys = who.astype(np.int64) * item_count + what
    keys.sort()
    if np.any(keys[1:] == keys[:-1]):
        rows, counts = np.unique(keys, return_counts=True)
        rater, item = divmod(int(rows[counts > 1][0]), item_count)
        raise StatisticsError(
            f"each rater may answer each item once; found {len(who) - len(rows)} repeats, the first by rater "
            f"{rater} on item {item}; keep one answer of each"
        )
    del keys
    highest = int(who.max()) + 1
    if rater_count is not None and rater_count < highest:
        raise StatisticsError(f"found rater index {highest - 1}, but only {rater_count} raters")
    who, what = who.astype(np.int64, copy=False), what.astype(np.int64, copy=False)
    return LongAnswers(who, what, value, rater_count or highest, item_count)


def places_by_first_answer(answers: LongAnswers) -> NDArray[np.intp]:
    """Return each item's place (items,) in the order of first answers; items without an answer come last.

    Raters often share many of their items. These then lie together, and what is held by item is read from memory
    in runs, not here and there.
    """
    first = np.full(answers.item_count, len(answers.items))
    first[answers.items[::-1]] = np.arange(len(answers.items))[::-1]  # the last one stays
    places = np.empty(answers.item_count, np.intp)
    places[np.argsort(first, kind="stable")] = np.arange(answers.item_count)
    return places


def category_numbers(
    answers: LongAnswers, categories: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the values of the categories in ascending order, and each answer's category as a number from 0.

    ``categories`` are all values that raters could give; by default, those that occur. An answer that is
    none of them is refused.
    """
    if categories is None:
        values, number = np.unique(answers.values, return_inverse=True)
        return values, number
    values = np.unique(np.asarray(categories, np.float64))
    unknown = np.setdiff1d(answers.values, values)
    if len(unknown) > 0 or not np.all(np.isfinite(values)):
        raise StatisticsError(
            f"answers need to be among the categories {values.tolist()}; found {unknown[:5].tolist()}"
        )
    return values, np.searchsorted(values, answers.values)


def category_counts(counts: ArrayLike, statistic: str) -> NDArray[np.float64]:
    """Check a table (items, categories) of how many raters put each item in each category."""
    table = np.asarray(counts, np.float64)
    if table.ndim != 2 or table.size == 0 or not np.all(np.isfinite(table)) or np.any(table < 0):
        raise StatisticsError(
            f"{statistic} needs counts (items, categories) of at least 0; found shape {table.shape}"
        )
    if not np.any(table.sum(axis=1) >= 2):
        raise StatisticsError(f"{statistic} needs at least one item with two answers; found none")
    return table


def complete_matrix(answers: LongAnswers, statistic: str) -> NDArray[np.float64]:
    """Return values (raters, items) of those that occur; an answer that is missing is refused."""
    raters, row = np.unique(answers.raters, return_inverse=True)
    items, column = np.unique(answers.items, return_inverse=True)
    matrix = np.full((len(raters), len(items)), np.nan)
    matrix[row, column] = answers.values
    missing = np.isnan(matrix)
    if missing.any():
        at, what = (int(index[0]) for index in np.nonzero(missing))
        raise StatisticsError(
            f"{statistic} needs every rater on every item; found {int(missing.sum())} of {matrix.size} missing, "
            f"the first of rater {raters[at]} on item {items[what]}; leave out items or raters, or use "
            "Krippendorff's α"
        )
    return matrix
