"""How fragile a claim is: the fewest prompts (or raters) whose removal changes its verdict.

Units are removed in the order in which they speak most for the claim, and after each removal everything is
estimated again; the number needed is found by bisection, then checked one by one downwards. Finding the very
smallest set would mean trying all of them; removing by influence comes close (Broderick, Giordano and Meager 2020,
*An automatic finite-sample robustness metric*), so the number is an upper bound that is usually exact.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError


@dataclass(frozen=True, eq=False)
class Fragility:
    """The fewest units whose removal changes a verdict."""

    removed: NDArray[np.int64] | None  # the units, most influential first; None where no removal does it
    units: int

    @property
    def share(self) -> float:
        """The proportion of all units; 1 where no removal changes the verdict."""
        return 1.0 if self.removed is None else len(self.removed) / self.units


def fragility(support: ArrayLike, holds: Callable[[NDArray[np.bool_]], bool], *, most: float = 0.5) -> Fragility:
    """Find the fewest units whose removal changes a verdict.

    Args:
        support: How far each unit speaks for the claim, such as its influence on the difference (units,).
        holds: Whether the claim holds when only the units marked True are kept.
        most: The largest proportion of units that is tried.

    Returns:
        The units to remove, or None where removing ``most`` of them leaves the verdict as it is.

    Example:
        >>> scores = np.array([5.0, 6.0, -1.0, -1.0, -1.0, -1.0])  # the mean is above 0 because of two of them
        >>> fragility(scores, lambda keep: scores[keep].mean() > 0).removed.tolist()
        [1, 0]
    """
    pull = np.asarray(support, np.float64)
    if pull.ndim != 1 or len(pull) < 2 or not np.all(np.isfinite(pull)):
        raise StatisticsError(f"fragility needs the finite support of at least two units; found {pull.shape}")
    if not holds(np.ones(len(pull), np.bool_)):
        raise StatisticsError("fragility is that of a claim that holds; this one does not hold with all units")
    order = np.argsort(-pull, kind="stable")
    limit = min(int(most * len(pull)), len(pull) - 1)

    def survives(count: int) -> bool:
        keep = np.ones(len(pull), np.bool_)
        keep[order[:count]] = False
        return holds(keep)

    low, high = 0, limit
    if limit == 0 or survives(limit):
        return Fragility(None, len(pull))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if survives(middle) else (low, middle)
    return Fragility(order[:high].astype(np.int64), len(pull))
