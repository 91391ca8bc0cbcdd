"""Which two entries a voter is shown next: partly even, partly by expected information, always with a propensity.

A proportion of draws is even over all pairs, as decision 019 measured it (half). The others follow the expected
information of a vote (:mod:`beholder.stats.comparisons.active_pairs`), which sends votes to entries that are new
or close to another. An even draw shows each of K entries with chance 2/K, so the even proportion is at the same
time a floor on every entry's exposure: no entry is shown less often than that proportion of an even arena.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.comparisons.active_pairs import PairPlan, laplace_posterior, plan_pairs

EVEN = 0.5
"""Proportion of draws that are even over all pairs (decision 019)."""

SPREAD = 1.0
"""Standard deviation of ratings before any vote, in natural-log odds."""


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A pair of entries as it is shown, with all that is logged of the draw."""

    first: int
    second: int
    propensity: float
    """The chance of this pair, whichever its order."""
    even: bool
    """Whether it came from the even part of the draws."""


def plan_arena(
    first: ArrayLike,
    second: ArrayLike,
    wins: ArrayLike,
    *,
    entries: int,
    even: float = EVEN,
    floor: float = EVEN,
    spread: float = SPREAD,
) -> PairPlan:
    """Return the chance of every pair to be shown next, given the votes so far.

    Args:
        first: Entry of each vote, from 0.
        second: The entry it was compared with.
        wins: 1 where the first won, 0 where the second did, ½ for a tie or both bad.
        entries: How many there are now.
        even: Proportion of even draws.
        floor: Least exposure of an entry, as a proportion of its exposure in an even arena.
        spread: Of the ratings before any vote.

    Returns:
        Pairs with their propensities; ``exploration`` is the proportion of even draws, the larger of both.
    """
    if not 0 <= floor <= 1:
        raise StatisticsError(f"the floor on exposure is a proportion; found {floor}")
    posterior = laplace_posterior(first, second, wins, entries, spread)
    return plan_pairs(posterior, exploration=max(even, floor))


def draw_pair(plan: PairPlan, rng: np.random.Generator) -> DrawnPair:
    """Draw two entries and the order in which it is shown."""
    is_even = bool(rng.random() < plan.exploration)
    count = len(plan.pairs)
    if is_even:
        place = int(rng.integers(count))
    else:
        informed = np.maximum(plan.propensity - plan.exploration / count, 0.0)
        place = int(rng.choice(count, p=informed / informed.sum()))
    pair = plan.pairs[place]
    left, right = pair if rng.random() < 0.5 else pair[::-1]
    return DrawnPair(int(left), int(right), float(plan.propensity[place]), is_even)


def exposures(plan: PairPlan, entries: int) -> NDArray[np.float64]:
    """Return the chance of each entry to be on the next screen (entries,), summing to 2."""
    exposure = np.zeros(entries)
    np.add.at(exposure, plan.pairs[:, 0], plan.propensity)
    np.add.at(exposure, plan.pairs[:, 1], plan.propensity)
    return exposure
