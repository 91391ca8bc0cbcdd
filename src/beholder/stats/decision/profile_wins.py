"""Who wins for a practitioner: the utility of each entry under stated weights, and the chance that it is best.

Measures are standardised over the entries as for every utility. The uncertainty of each measure is a covariance
over the entries; measures are taken as independent of each other, which is stated where the chances are shown. The
utility is linear in the measures, so with scales sₖ and weights wₖ its covariance is Σₖ (wₖ/sₖ)² Σₖ.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.decision.utility import utilities
from beholder.stats.significance.chance_best import chance_best


@dataclass(frozen=True, eq=False)
class ProfileWins:
    """The entries under one set of weights; every array is (entries,)."""

    utility: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    chance: NDArray[np.float64]  # to have the highest utility


def profile_wins(
    measures: ArrayLike,
    covariances: Sequence[NDArray[np.float64]],
    weights: ArrayLike,
    degrees: float,
    rng: np.random.Generator,
) -> ProfileWins:
    """Return utilities under some weights, and the chance of each entry to be best.

    Args:
        measures: Higher is better (entries, measures).
        covariances: Of each measure over the entries, (entries, entries); zeros where it has no error.
        weights: At least 0, not all 0 (measures,).
        degrees: Degrees of freedom behind the covariances.
        rng: For the draws behind the chances.

    Returns:
        Utilities with their standard errors, and chances that sum to 1.

    Example:
        >>> sure = profile_wins([[2.0], [1.0]], [np.zeros((2, 2))], [1.0], 30, np.random.default_rng(0))
        >>> sure.utility.tolist(), sure.chance.tolist()
        ([1.0, -1.0], [1.0, 0.0])
    """
    table, worth = np.asarray(measures, np.float64), np.asarray(weights, np.float64)
    if len(covariances) != table.shape[1] or any(c.shape != (len(table),) * 2 for c in covariances):
        raise StatisticsError(
            f"{table.shape[1]} measures of {len(table)} entries need as many covariances (entries, entries)"
        )
    utility = utilities(table, worth)
    scale = table.std(axis=0)
    share = worth / worth.sum() / np.where(scale > 0, scale, np.inf)
    covariance = np.zeros((len(table), len(table)))
    for factor, part in zip(share, covariances, strict=True):
        covariance += factor**2 * part
    chance = chance_best(utility, covariance, degrees, rng)
    return ProfileWins(utility, np.sqrt(np.maximum(np.diag(covariance), 0.0)), chance)
