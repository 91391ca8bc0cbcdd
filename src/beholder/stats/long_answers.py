"""Long answers (rater, item, value): the check that every statistic on them starts with."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError


@dataclass(frozen=True, eq=False)
class LongAnswers:
    """One row an answer; each rater answered each item at most once."""

    raters: NDArray[np.int64]  # (answers,) 0 … people − 1
    items: NDArray[np.int64]  # (answers,) 0 … item_count − 1
    values: NDArray[np.float64]  # (answers,)
    people: int
    item_count: int


def long_answers(
    raters: ArrayLike, items: ArrayLike, values: ArrayLike, *, people: int | None = None
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
    rows, counts = np.unique(who.astype(np.int64) * item_count + what, return_counts=True)
    if len(rows) < len(who):
        rater, item = divmod(int(rows[counts > 1][0]), item_count)
        raise StatisticsError(
            f"each rater may answer an item once; found {len(who) - len(rows)} repeats, the first by rater "
            f"{rater} on item {item}; keep one answer of each"
        )
    known = int(who.max()) + 1
    if people is not None and people < known:
        raise StatisticsError(f"found rater index {known - 1}, but only {people} people")
    return LongAnswers(who.astype(np.int64), what.astype(np.int64), value, people or known, item_count)
