"""Agreement with an interval over people: what α, κ, AC and W share.

A draw weighs each rater by how often they were drawn. A rater drawn w times stands for w people who answered
alike, but **copies of one rater are never paired with each other**: they would agree on everything and push
agreement up in every draw. So the statistics on categories are given two sums for every item and category: Σw,
and Σw² to take the copies out. With all weights 1 both are the plain counts.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import LongAnswers
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import effective_people, method_name
from beholder.stats.intervals.bootstrap_intervals import bca_interval

OfWeights = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""A statistic of weighted people: from (draws, people) to (draws,); nan where it is undefined."""

OfCounts = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""A statistic of Σw and Σw² of the raters, (items, categories, draws) each, to (draws,); nan where undefined."""

_BLOCK = 500_000  # elements of weighted counts held at a time
_FEWEST = 16  # draws done at a time, however many items there are
_MOST_GROUPS = 200  # groups of people left out in turn


def agreement_estimate(
    answers: LongAnswers, weights: NDArray[np.integer], statistic: OfWeights, *, level: float
) -> Estimate:
    """Return the statistic of all people, with an expanded BCa interval that resamples them.

    ``weights`` (draws, people) come from :func:`beholder.stats.intervals.bootstrap.person_weights`. The
    acceleration is the jackknife's: each person is left out in turn, or each of 200 groups of people where there
    are more. An undefined statistic has the value nan and no interval.
    """
    if weights.ndim != 2 or len(weights) == 0 or weights.shape[1] != answers.people:
        raise StatisticsError(f"weights must be (draws, {answers.people} people); found {weights.shape}")
    present, load = np.unique(answers.raters, return_counts=True)
    left_out = _left_out(present, answers.people)
    found = statistic(np.concatenate([np.ones((1, answers.people)), left_out, weights]))
    value, without, draws = np.split(found, [1, 1 + len(left_out)])
    known = np.isfinite(without)
    influence = np.where(known, without[known].mean() - without if known.any() else 0.0, 0.0)
    low, high = bca_interval(
        value,
        draws[:, None],
        influence[:, None],
        len(present),
        effective=effective_people(load[:, None]),
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
        items=len(np.unique(answers.items)),
        answers=len(answers.items),
        draws=len(weights),
    )


def on_counts(
    answers: LongAnswers, category: NDArray[np.integer], categories: int, statistic: OfCounts
) -> OfWeights:
    """Return a statistic of weighted people from one of counts; ``category`` (answers,) numbers each answer's."""
    kept, item = np.unique(answers.items, return_inverse=True)
    shape = (len(kept) * categories, answers.people)
    gave = sparse.csr_array((np.ones(len(item)), (item * categories + category, answers.raters)), shape=shape)
    step = max(_FEWEST, _BLOCK // shape[0])

    def of_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.empty(len(weights))
        for begin in range(0, len(weights), step):
            drawn = np.ascontiguousarray(weights[begin : begin + step].T)  # (people, block)
            sums, squares = (np.asarray(gave @ w).reshape(len(kept), categories, -1) for w in (drawn, drawn**2))
            found[begin : begin + step] = statistic(sums, squares)
        return found

    return of_weights


def pairable(answers: LongAnswers) -> LongAnswers:
    """Return the answers on items that somebody else answered too."""
    kept = np.bincount(answers.items)[answers.items] >= 2
    return LongAnswers(
        answers.raters[kept], answers.items[kept], answers.values[kept], answers.people, answers.item_count
    )


def _left_out(present: NDArray[np.int64], people: int) -> NDArray[np.float64]:
    """Return weights (groups, people) that leave out one person, or one group of people, at a time."""
    groups = min(len(present), _MOST_GROUPS)
    weights = np.ones((groups, people))
    weights[np.arange(len(present)) % groups, present] = 0
    return weights
