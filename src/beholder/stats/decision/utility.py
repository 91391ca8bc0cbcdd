"""Utility: a weighted mean of several measures, and for which weights each entry wins.

Measures are put on one scale first, (x − mean)/sd over the entries, so that a weight of ½ on each of two measures
values one standard deviation of either equally. With weights w ≥ 0, Σ w = 1, the utility of entry i is uᵢ = Σ wₖ
zᵢₖ. Entry i wins for the weights in a convex polytope (uᵢ ≥ uⱼ for all j); the proportion of all weights for which
it wins says how much the choice of weights matters, and a linear program says whether it can win at all, and where
it wins most clearly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from beholder.errors import StatisticsError

_SAMPLES = 20_000


@dataclass(frozen=True, eq=False)
class WinningWeights:
    """For which weights each entry has the highest utility."""

    proportion: NDArray[np.float64]  # (entries,) of all weights, those for which the entry wins
    margin: NDArray[np.float64]  # (entries,) the most it can lead by; below 0 where it never wins
    best_weights: NDArray[np.float64]  # (entries, measures) the weights with that lead


def standardise(measures: ArrayLike) -> NDArray[np.float64]:
    """Return each measure less its mean over the entries, over its standard deviation.

    Args:
        measures: Higher is better (entries, measures).

    Returns:
        The same shape; a measure in which no entry differs is 0 for all.

    Example:
        >>> standardise([[1.0, 5.0], [3.0, 5.0]]).tolist()
        [[-1.0, 0.0], [1.0, 0.0]]
    """
    table = np.asarray(measures, np.float64)
    if table.ndim != 2 or len(table) < 2 or not np.all(np.isfinite(table)):
        raise StatisticsError(
            f"a utility needs finite measures (entries, measures) of at least two entries; found {table.shape}"
            + ("" if np.all(np.isfinite(table)) else " with missing values")
        )
    spread = table.std(axis=0)
    return np.asarray((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.float64)


def utilities(measures: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
    """Return the weighted mean of the standardised measures of each entry.

    Args:
        measures: Higher is better (entries, measures).
        weights: At least 0, not all 0 (measures,); they are divided by their sum.

    Returns:
        The utility of each entry (entries,).

    Example:
        >>> utilities([[1.0, 0.0], [3.0, 0.0], [2.0, 3.0]], [3, 1]).round(3).tolist()
        [-1.095, 0.742, 0.354]
    """
    table, weight = standardise(measures), np.asarray(weights, np.float64)
    if weight.shape != table.shape[1:] or np.any(weight < 0) or not weight.sum() > 0:
        raise StatisticsError(f"weights must be {table.shape[1]} numbers of at least 0, not all 0; found {weight}")
    return np.asarray(table @ (weight / weight.sum()), np.float64)


def winning_weights(measures: ArrayLike, rng: np.random.Generator) -> WinningWeights:
    """Say for which weights each entry has the highest utility.

    Args:
        measures: Higher is better (entries, measures).
        rng: For weights drawn evenly from the simplex, from which proportions are counted (standard error ≤
        .0036).

    Returns:
        Proportions of the weights, the largest possible lead and where it is.

    Example:
        >>> wins = winning_weights([[2.0, 0.0], [0.0, 2.0], [0.5, 0.5]], np.random.default_rng(0))
        >>> wins.proportion.round(1).tolist(), (wins.margin > 0).tolist()
        ([0.5, 0.5, 0.0], [True, True, False])
    """
    table = standardise(measures)
    entries, count = table.shape
    weights = rng.dirichlet(np.ones(count), _SAMPLES)  # (samples, measures)
    scores = weights @ table.T  # (samples, entries)
    winner = scores == scores.max(axis=1, keepdims=True)
    proportion = (winner / winner.sum(axis=1, keepdims=True)).mean(axis=0)
    leads = [_largest_lead(table, entry) for entry in range(entries)]
    return WinningWeights(
        proportion, np.array([lead for lead, _ in leads]), np.stack([weight for _, weight in leads])
    )


def _largest_lead(table: NDArray[np.float64], entry: int) -> tuple[float, NDArray[np.float64]]:
    """Return max over weights of the smallest uᵢ − uⱼ, and the weights: a linear program in (w, lead)."""
    others = np.delete(table, entry, axis=0)
    count = table.shape[1]
    bounds = [(0.0, 1.0)] * count + [(None, None)]
    solution = optimize.linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack([others - table[entry], np.ones(len(others))]),
        b_ub=np.zeros(len(others)),
        A_eq=[np.append(np.ones(count), 0.0)],
        b_eq=[1.0],
        bounds=bounds,
    )
    best = np.asarray(solution.x, np.float64)
    return float(best[-1]), best[:-1]
