"""Krippendorff's alpha from long answers or from counts, with a confidence interval over raters.

α = 1 − Dₒ/Dₑ = 1 − (n−1) Σ o(v,v′) δ²(v,v′) / Σ n(v) n(v′) δ²(v,v′), where the coincidence o(v,v′) counts the
ordered pairs of values that two raters gave to one item, each item's pairs divided by (its answers − 1),
n(v) = Σ o(v,·) and n = Σ n(v). Items with one answer drop out. 1 is perfect agreement, 0 is chance.

δ² is nominal 1 if different; ordinal (Σ of n from one value to the other − half of both ends)²; interval (v −
v′)²; ratio ((v − v′)/(v + v′))². Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
"""

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import long_answers
from beholder.stats.agreement.krippendorff_coincidences import alpha_of_coincidences, few_values
from beholder.stats.agreement.krippendorff_replicates import (
    Disagreement,
    alpha_of_weights,
    apart_by,
    at_middles,
    at_positions,
    chance_corrected,
    different,
)
from beholder.stats.agreement.resampled_agreement import agreement_estimate, pairable
from beholder.stats.each import Map
from beholder.stats.estimate import Estimate

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
"""What the values mean: names, ranks, differences, or differences from a true zero."""

_MOST_VALUES = 5_000  # distinct values; the coincidence matrix has their square


def krippendorff_alpha(
    raters: ArrayLike,
    items: ArrayLike,
    values: ArrayLike,
    weights: NDArray[np.integer],
    *,
    scale: Scale,
    level: float = 0.95,
    each: Map = map,
) -> Estimate:
    """Return α of long answers, with an expanded BCa confidence interval that resamples raters.

    ``weights`` (replicates, raters) come from :func:`beholder.stats.intervals.bootstrap.rater_weights`. A rater
    drawn w times stands for w raters who answered alike, but copies of one rater are never paired with each
    other: see :mod:`beholder.stats.agreement.krippendorff_replicates`. An item left with one distinct rater
    drops out of the replicate. ``each`` applies α to blocks of replicates.
    """
    judged = pairable(long_answers(raters, items, values, rater_count=weights.shape[-1]))
    categories = np.unique(judged.values)
    category = np.searchsorted(categories, judged.values)
    _check(len(categories), len(judged.items) > 0)
    kinds = len(categories)
    if few_values(kinds, len(judged.items), int(np.count_nonzero(np.bincount(judged.items)))):
        distances = partial(squared_distances, values=categories, scale=scale)
        alpha = alpha_of_coincidences(judged, category, kinds, distances, each=each)
    else:
        alpha = alpha_of_weights(judged, category, kinds, _disagreement(categories, scale), each=each)
    estimate = agreement_estimate(judged, weights, alpha, level=level)
    _defined(estimate.value)
    return estimate


def alpha_of_counts(counts: ArrayLike, values: ArrayLike | None = None, *, scale: Scale) -> float:
    """Return α from ``counts`` (items, categories): how many raters gave each item each value.

    ``values`` (categories,) are needed for the interval and ratio scales; the ordinal scale takes the categories
    in the given order. There is no confidence interval, since counts do not say who answered.
    """
    table = np.asarray(counts, np.float64)
    if table.ndim != 2 or not np.all(np.isfinite(table)) or np.any(table < 0):
        raise StatisticsError(f"α needs counts (items, categories) of at least 0; found shape {table.shape}")
    if values is None and scale in ("interval", "ratio"):
        raise StatisticsError(f"α on the {scale} scale needs the value of each category; found none")
    numbers = np.arange(table.shape[1]) if values is None else np.asarray(values, np.float64)
    if numbers.shape != table.shape[1:]:
        raise StatisticsError(f"α needs a value for each of {table.shape[1]} categories; found {numbers.shape}")
    paired = table[table.sum(axis=1) >= 2]
    _check(len(numbers), len(paired) > 0)
    coincidence = paired.T @ (paired / (paired.sum(axis=1, keepdims=True) - 1))
    coincidence -= np.diag((paired / (paired.sum(axis=1, keepdims=True) - 1)).sum(axis=0))
    margin = coincidence.sum(axis=1)
    distance = squared_distances(margin, numbers.astype(np.float64), scale)
    observed, expected = (coincidence * distance).sum(), margin @ distance @ margin
    return _defined(float(chance_corrected(observed, expected, margin.sum())))


def _check(categories: int, pairable: bool) -> None:
    if categories > _MOST_VALUES:
        raise StatisticsError(f"α needs at most {_MOST_VALUES} distinct values; found {categories}; round them")
    if not pairable:
        raise StatisticsError("α needs at least one item with two answers; found none")


def _defined(alpha: float) -> float:
    if np.isnan(alpha):
        raise StatisticsError("α needs at least two different values among items with two answers; found one")
    return alpha


def _disagreement(values: NDArray[np.float64], scale: Scale) -> Disagreement:
    if scale == "ordinal":
        return at_middles
    if scale == "interval":
        return at_positions(values)
    if scale == "ratio":
        return apart_by(_ratio_distances(values))
    return different if len(values) > 2 else at_positions(np.arange(float(len(values))))


def squared_distances(
    margin: NDArray[np.float64], values: NDArray[np.float64], scale: Scale
) -> NDArray[np.float64]:
    """Return δ² (…, categories, categories), up to a factor, for ``margin`` (…, categories)."""
    if scale == "ratio":
        return _ratio_distances(values)
    if scale == "nominal":
        return 1 - np.eye(len(values))
    place = np.cumsum(margin, axis=-1) - margin / 2 if scale == "ordinal" else values
    width = np.maximum(np.ptp(place, axis=-1), np.finfo(float).tiny)[..., None, None]
    return np.asarray(((place[..., :, None] - place[..., None, :]) / width) ** 2, np.float64)


def _ratio_distances(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if np.any(values < 0):
        raise StatisticsError(f"the ratio scale needs values of at least 0; found {values.min()}")
    both = values[:, None] + values[None, :]
    return np.asarray(((values[:, None] - values[None, :]) / np.where(both > 0, both, 1.0)) ** 2, np.float64)
