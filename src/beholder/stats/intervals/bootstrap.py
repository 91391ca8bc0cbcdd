"""The rater-clustered bootstrap: resample raters, keep each rater's answers together.

Answers of one rater are alike, so a confidence interval that resamples answers is too narrow (2.3–3.5 times on the
Layer 6 realism data). A replicate here is a vector of weights: how many times each rater was drawn.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimates
from beholder.stats.intervals.bootstrap_intervals import Rule, bca_interval, percentile_interval

_BLOCK = 4_000_000  # elements of the floating-point copies made at a time
_CACHED = 100_000  # elements of the replicates made at a time: they stay in the processor's cache


def clustered_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    weights: NDArray[np.integer],
    *,
    level: float = 0.95,
    rule: Rule = "bca",
    expand: bool = True,
) -> Estimates:
    """Return Σ numerators / Σ denominators over raters for each cell, with a rater-clustered confidence interval.

    ``numerators`` and ``denominators`` are (raters, cells): for an error rate, a rater's wrong answers and all
    answers in that cell (0 of 0 where the rater did not judge it). ``weights`` come from :func:`rater_weights`. A
    mean over raters of one score each has denominators of 1. At least 2,000 replicates are advised, as the widened
    tails of few raters lie far out.
    """
    above, below = _raters_by_cells(numerators, denominators)
    raters = np.count_nonzero(below, axis=0).astype(np.int64)  # (cells,)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = above.sum(axis=0) / below.sum(axis=0)
    replicates = ratio_of_sums(above, below, weights)
    if rule == "bca":
        point = np.where(np.isnan(value), 0.0, value)
        influence = above - point * below  # (raters, cells), up to a factor a cell
        effective = effective_raters(below)
        low, high = bca_interval(
            value, replicates, influence, raters, effective=effective, level=level, expand=expand
        )
    else:
        low, high = percentile_interval(replicates, raters, level=level, expand=expand)
    return Estimates(
        value=value,
        low=low,
        high=high,
        level=level,
        method=method_name(rule, expand=expand),
        raters=raters,
        replicates=len(weights),
    )


def rater_weights(strata: ArrayLike, replicates: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return how many times each rater is drawn in each replicate, as (replicates, raters).

    Raters are drawn with replacement within their stratum, as many as it has. A stratum is a group of raters
    fixed by the design, such as those who judged one generator in a between-subjects study; give zeros for one
    group. Each row sums to the number of raters, within each stratum too.
    """
    group = np.asarray(strata)
    if group.ndim != 1 or len(group) == 0 or not np.issubdtype(group.dtype, np.integer):
        raise StatisticsError(f"strata need one integer per rater; found {group.dtype} of shape {group.shape}")
    if replicates < 1:
        raise StatisticsError(f"a bootstrap needs at least one replicate; found {replicates}")
    weights = np.empty((replicates, len(group)), np.int32)
    for stratum in np.unique(group):
        members = np.flatnonzero(group == stratum)
        size = len(members)
        places = slice(None) if size == len(group) else members
        step = max(1, _CACHED // size)
        for start in range(0, replicates, step):
            rows = min(step, replicates - start)
            picked = rng.integers(size, size=(rows, size))  # who is drawn at each of the stratum's places
            picked += size * np.arange(rows)[:, None]
            counted = np.bincount(picked.ravel(), minlength=rows * size).reshape(rows, size)
            weights[start : start + rows, places] = counted
    return weights


def ratio_of_sums(
    numerators: ArrayLike, denominators: ArrayLike, weights: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return Σᵢ wᵢ numeratorᵢ / Σᵢ wᵢ denominatorᵢ for each replicate and cell, as (replicates, cells).

    A replicate in which nobody who judged a cell was drawn has denominator 0 and is nan there.
    """
    above, below = _raters_by_cells(numerators, denominators)
    if weights.ndim != 2 or weights.shape[1] != len(above):
        raise StatisticsError(f"weights must be (replicates, {len(above)} raters); found {weights.shape}")
    ratios = np.empty((len(weights), above.shape[1]))
    step = max(1, _BLOCK // len(above))
    for start in range(0, len(weights), step):
        block = weights[start : start + step].astype(np.float64)  # (block, raters)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios[start : start + step] = (block @ above) / (block @ below)
    return ratios


def effective_raters(answers: ArrayLike) -> NDArray[np.float64]:
    """Return Kish's effective number of raters (Σx)²/Σx² of ``answers`` (raters, cells), as (cells,).

    It is the number of raters where all gave as many answers, and less where some gave most; 0 for an empty cell.
    """
    load = np.asarray(answers, np.float64)
    squares = (load**2).sum(axis=0)
    return np.asarray(load.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1.0), np.float64)


def method_name(rule: Rule, *, expand: bool) -> str:
    """Return how an estimate names its confidence interval."""
    name = "BCa" if rule == "bca" else "percentile"
    return f"{'expanded ' if expand else ''}{name} bootstrap over raters"


def _raters_by_cells(
    numerators: ArrayLike, denominators: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    above, below = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    if above.ndim != 2 or above.shape != below.shape or above.size == 0:
        raise StatisticsError(
            f"a ratio of sums needs two (raters, cells) arrays of one shape; found {above.shape}, {below.shape}"
        )
    if not (np.all(np.isfinite(above)) and np.all(np.isfinite(below)) and np.all(below >= 0)):
        raise StatisticsError("a ratio of sums needs finite numerators and finite denominators of at least 0")
    return above, below
