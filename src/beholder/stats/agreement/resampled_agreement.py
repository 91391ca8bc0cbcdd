"""Agreement with a confidence interval over raters: what α, κ, AC and W share.

A replicate weighs each rater by how often they were drawn. A rater drawn w times stands for w raters who answered
alike, but **copies of one rater are never paired with each other**: they would agree on everything and push
agreement up in every replicate. So the statistics on categories take Σw of every item and category, and Σw²
of every item to take the copies out. With all weights 1 both are the plain counts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import LongAnswers
from beholder.stats.each import Map
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import effective_raters, method_name
from beholder.stats.intervals.bootstrap_intervals import bca_interval

OfWeights = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""A statistic of weighted raters: from (replicates, raters) to (replicates,); nan where it is undefined."""


@dataclass(frozen=True, eq=False)
class InBlocks:
    """A statistic of weighted raters, computed for some replicates at a time, perhaps by several processes."""

    of_block: OfWeights
    """Can be sent to other processes."""
    size: int
    """Replicates of a block: it does not depend on who computes them, so neither do the last digits."""
    each: Map = map

    def __call__(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the statistic of every replicate."""
        blocks = (weights[begin : begin + self.size] for begin in range(0, len(weights), self.size))
        return np.concatenate(list(self.each(self.of_block, blocks)))


_MOST_GROUPS = 200  # groups of raters left out in turn


def agreement_estimate(
    answers: LongAnswers, weights: NDArray[np.integer], statistic: OfWeights, *, level: float
) -> Estimate:
    """Return the statistic of all raters, with an expanded BCa confidence interval that resamples them.

    ``weights`` (replicates, raters) come from :func:`beholder.stats.intervals.bootstrap.rater_weights`. The
    acceleration is the jackknife's, which leaves out each rater in turn, or each of 200 groups of raters where
    there are more. An undefined statistic has the value nan and no interval.
    """
    if weights.ndim != 2 or len(weights) == 0 or weights.shape[1] != answers.rater_count:
        raise StatisticsError(f"weights must be (replicates, {answers.rater_count} raters); found {weights.shape}")
    answered = np.bincount(answers.raters, minlength=answers.rater_count)
    present = np.flatnonzero(answered)
    left_out = _left_out(present, answers.rater_count)
    statistics = statistic(np.concatenate([np.ones((1, answers.rater_count)), left_out, weights]))
    value, without, replicates = np.split(statistics, [1, 1 + len(left_out)])
    finite = np.isfinite(without)
    influence = np.where(finite, without[finite].mean() - without if finite.any() else 0.0, 0.0)
    low, high = bca_interval(
        value,
        replicates[:, None],
        influence[:, None],
        len(present),
        effective=effective_raters(answered[present][:, None]),
        level=level,
    )
    unknown = bool(np.isnan(value[0]))
    return Estimate(
        value=float(value[0]),
        low=np.nan if unknown else float(low[0]),
        high=np.nan if unknown else float(high[0]),
        level=level,
        method=method_name("bca", expand=True),
        raters=len(present),
        items=int(np.count_nonzero(np.bincount(answers.items))),
        answers=len(answers.items),
        replicates=len(weights),
    )


def pairable(answers: LongAnswers) -> LongAnswers:
    """Return the answers on items that somebody else answered too."""
    paired = np.bincount(answers.items)[answers.items] >= 2
    if paired.all():
        return answers
    return LongAnswers(
        answers.raters[paired],
        answers.items[paired],
        answers.values[paired],
        answers.rater_count,
        answers.item_count,
    )


def _left_out(present: NDArray[np.int64], rater_count: int) -> NDArray[np.float64]:
    """Return weights (groups, raters) that leave out one rater, or one group of raters, at a time."""
    groups = min(len(present), _MOST_GROUPS)
    weights = np.ones((groups, rater_count))
    weights[np.arange(len(present)) % groups, present] = 0
    return weights
