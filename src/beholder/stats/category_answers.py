"""Answers that are categories: the numbers of the categories, and a table of how many people chose each."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.long_answers import LongAnswers


def category_numbers(
    answers: LongAnswers, categories: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the values of the categories in ascending order, and each answer's category as a number from 0.

    ``categories`` are all the values a rater could give; those found, where none are given. An answer that is
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
    """Check a table (items, categories) of how many people put each item in each category."""
    table = np.asarray(counts, np.float64)
    if table.ndim != 2 or table.size == 0 or not np.all(np.isfinite(table)) or np.any(table < 0):
        raise StatisticsError(
            f"{statistic} needs counts (items, categories) of at least 0; found shape {table.shape}"
        )
    if not np.any(table.sum(axis=1) >= 2):
        raise StatisticsError(f"{statistic} needs at least one item with two answers; found none")
    return table
