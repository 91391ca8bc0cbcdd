"""Overfitting to public prompts: does an entry do better on the old set than on a fresh one, compared with others?

A fresh set may simply be harder. So every prompt's score of an entry is taken relative to the mean of the other
entries on that prompt, and what is tested is whether this lead is smaller on the fresh prompts:

    gap = mean over old prompts of (xᵢ − λ · mean of others) − the same over fresh prompts,

a one-sided Welch t test over prompts for each entry, adjusted over all entries by Holm's method (Recht et al.
2019, *Do ImageNet classifiers generalize to ImageNet?*, compare accuracies on both sets in this way).

λ = 1 allows for any difference in difficulty. Where both sets were drawn at random from one source, as a held-out
part is, they differ in difficulty by chance alone, and the others help only as far as prompts that are hard for
one entry are hard for all. λ is then the slope of the entry on the others within the sets, which makes the gap's
variance least: 1 − ρ² of that of the scores, ρ the correlation of both (analysis of covariance). Where entries
share nothing, λ is near 0, and their noise is not added. Should every single entry do significantly worse on the
fresh prompts, or better, they are harder or easier after all, and λ = 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.significance.holm import holm

_SHIFTED = 0.99
"""The one-sided level at which every entry has to differ between both sets, for one to be harder."""


@dataclass(frozen=True, eq=False)
class PromptGap:
    """How much better each entry does on the old prompts than on the fresh ones; every array is (entries,)."""

    gap: NDArray[np.float64]
    low: NDArray[np.float64]  # one-sided lower confidence bound, this entry alone
    standardised: NDArray[np.float64]  # gap over the standard deviation of the lead between prompts
    slope: NDArray[np.float64]  # λ
    p_value: NDArray[np.float64]
    p_adjusted: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    level: float


def prompt_gap(old: ArrayLike, fresh: ArrayLike, *, level: float = 0.95, same_source: bool = False) -> PromptGap:
    """Test every entry for an advantage on the old prompts.

    Args:
        old: Scores on the public prompts, higher is better (prompts, entries).
        fresh: Scores on prompts that nobody could have tuned for (other prompts, the same entries).
        level: 1 − the chance of flagging any entry where none is overfitted.
        same_source: Whether both sets were drawn at random from one source, so that neither is harder but by
            chance.

    Returns:
        The gaps, their tests, and which entries are flagged.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> old, fresh = rng.normal(size=(400, 4)), rng.normal(size=(400, 4)) - 1.0  # harder for all
        >>> old[:, 2] += 0.5
        >>> prompt_gap(old, fresh).flagged.tolist()
        [False, False, True, False]
    """
    before, after = np.asarray(old, np.float64), np.asarray(fresh, np.float64)
    if before.ndim != 2 or after.ndim != 2 or before.shape[1] != after.shape[1] or before.shape[1] < 2:
        raise StatisticsError(
            "a gap needs scores (prompts, entries) of the same entries, at least two, on both sets; found "
            f"{before.shape} and {after.shape}"
        )
    if min(len(before), len(after)) < 2 or not (np.all(np.isfinite(before)) and np.all(np.isfinite(after))):
        raise StatisticsError("a gap needs finite scores of at least two prompts in both sets")
    slope = np.ones(before.shape[1])
    if same_source and not _shifted(before, after):
        slope = _slopes(before, after)
    lead_before, lead_after = (scores - slope * _others(scores) for scores in (before, after))
    gap, error, degrees = _welch(lead_before, lead_after)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = special.stdtr(degrees, -np.where(error > 0, gap / error, np.sign(gap) * np.inf))
    p_value = np.where((error == 0) & (gap == 0), 0.5, p_value)
    adjusted = holm(p_value)
    spread = np.sqrt((lead_before.var(axis=0, ddof=1) + lead_after.var(axis=0, ddof=1)) / 2)
    return PromptGap(
        gap=gap,
        low=gap - special.stdtrit(degrees, level) * error,
        standardised=gap / np.where(spread > 0, spread, 1.0),
        slope=slope,
        p_value=p_value,
        p_adjusted=adjusted,
        flagged=adjusted < 1 - level,
        level=level,
    )


def _welch(
    before: NDArray[np.float64], after: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the differences of the means (entries,), their standard errors and degrees of freedom."""
    parts = [part.var(axis=0, ddof=1) / len(part) for part in (before, after)]
    below = parts[0] ** 2 / (len(before) - 1) + parts[1] ** 2 / (len(after) - 1)
    degrees = (parts[0] + parts[1]) ** 2 / np.where(below > 0, below, np.inf)
    return before.mean(axis=0) - after.mean(axis=0), np.sqrt(parts[0] + parts[1]), np.maximum(degrees, 1.0)


def _shifted(before: NDArray[np.float64], after: NDArray[np.float64]) -> bool:
    """Return whether every entry does significantly worse on the fresh prompts, or every entry better."""
    gap, error, degrees = _welch(before, after)
    reach = special.stdtrit(degrees, _SHIFTED) * error
    return bool(np.all(gap > reach) or np.all(gap < -reach))


def _others(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the other entries for each entry, prompt by prompt."""
    return np.asarray((scores.sum(axis=1, keepdims=True) - scores) / (scores.shape[1] - 1), np.float64)


def _slopes(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slope (entries,) of each entry's scores on the mean of the others, within both sets together."""
    own, others = (
        np.concatenate([part - part.mean(axis=0) for part in parts])
        for parts in ((before, after), (_others(before), _others(after)))
    )
    square = (others**2).sum(axis=0)
    return np.asarray((own * others).sum(axis=0) / np.where(square > 0, square, 1.0), np.float64)
