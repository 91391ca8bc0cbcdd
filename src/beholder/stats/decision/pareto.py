"""The Pareto front: entries that no other entry beats or equals in every measure."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError


def pareto_front(measures: ArrayLike) -> NDArray[np.bool_]:
    """Say which entries no other dominates.

    An entry dominates another if it is at least as good in every measure and better in one. An entry with a
    missing measure (nan) cannot be compared: it is not on the front and dominates nobody.

    Args:
        measures: One row per entry, one column per measure, higher is better (entries, measures).

    Returns:
        Whether each entry is on the front (entries,).

    Example:
        >>> pareto_front([[3, 1], [2, 2], [1, 1], [1, 3]]).tolist()
        [True, True, False, True]
    """
    table = _table(measures)
    complete = np.asarray(~np.isnan(table).any(axis=1), np.bool_)
    at_least = (table[:, None] >= table[None]).all(axis=2)  # (entries, entries) row at least as good as column
    better = (table[:, None] > table[None]).any(axis=2)
    dominated = (at_least & better & complete[:, None]).any(axis=0)
    return np.asarray(complete & ~dominated, np.bool_)


def surely_dominated(lower: ArrayLike, upper: ArrayLike) -> NDArray[np.bool_]:
    """Say which entries are dominated even if every measure lies at the unfavourable end of its interval.

    Args:
        lower: Lower ends of the intervals, higher is better (entries, measures).
        upper: Upper ends of the intervals (entries, measures).

    Returns:
        Whether some other entry's lower ends are all at or above the entry's upper ends, one of them above
        (entries,).

    Example:
        >>> surely_dominated([[2.0, 2.0], [0.0, 0.0], [1.0, 1.0]], [[3.0, 3.0], [1.0, 1.0], [2.5, 2.5]]).tolist()
        [False, True, False]
    """
    low, high = _table(lower), _table(upper)
    if low.shape != high.shape:
        raise StatisticsError(f"both ends of the intervals need one shape; found {low.shape} and {high.shape}")
    at_least = (low[:, None] >= high[None]).all(axis=2)  # nan compares as False
    better = (low[:, None] > high[None]).any(axis=2)
    return np.asarray((at_least & better).any(axis=0), np.bool_)


def _table(measures: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(measures, np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise StatisticsError(f"measures must be (entries, measures), at least one of each; found {table.shape}")
    return table
