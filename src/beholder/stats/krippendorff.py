"""Krippendorff's alpha from long answers or from counts, with an interval over people.

α = 1 − Dₒ/Dₑ = 1 − (n−1) Σ o(v,v′) δ²(v,v′) / Σ n(v) n(v′) δ²(v,v′), where the coincidence o(v,v′) counts the
ordered pairs of values that two people gave to one item, each item's pairs divided by (its answers − 1),
n(v) = Σ o(v,·) and n = Σ n(v). Items with one answer drop out. 1 is perfect agreement, 0 is chance.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from beholder.errors import StatisticsError
from beholder.stats.bootstrap import method_name
from beholder.stats.bootstrap_intervals import percentile_interval
from beholder.stats.estimate import Estimate
from beholder.stats.long_answers import LongAnswers, long_answers

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
"""What the values mean: names, ranks, differences, or differences from a true zero."""

_MOST_VALUES = 5_000  # distinct values; the coincidence matrix has their square
_BLOCK = 4_000_000  # elements of weighted counts held at a time


def krippendorff_alpha(
    raters: ArrayLike,
    items: ArrayLike,
    values: ArrayLike,
    weights: NDArray[np.integer],
    *,
    scale: Scale,
    level: float = 0.95,
) -> Estimate:
    """Return α of long answers, with an expanded percentile interval that resamples raters.

    ``weights`` (draws, people) come from :func:`beholder.stats.bootstrap.person_weights`. A rater drawn w times
    stands for w people who answered alike, but **copies of one rater are never paired with each other**: they
    would agree on everything and push α up in every draw. So for an item with weights wᵢ, the answers i ≠ j make
    wᵢwⱼ pairs, and the item's pairs are scaled by M/(M² − Σwᵢ²), M = Σwᵢ, so that they add up to M, its answers.
    With all weights 1 this is the usual 1/(m−1). An item left with one distinct rater drops out of the draw.
    """
    answers = long_answers(raters, items, values, people=weights.shape[-1])
    if weights.ndim != 2 or len(weights) == 0:
        raise StatisticsError(f"weights must be (draws, people); found {weights.shape}")
    categories, category = np.unique(answers.values, return_inverse=True)
    judged = _pairable(answers)
    _check(len(categories), bool(judged.any()))
    once = np.ones((1, answers.people), np.int64)
    value = _defined(_resampled(answers, category, categories, once, scale)[0])
    draws = _resampled(answers, category, categories, weights, scale)
    people = len(np.unique(answers.raters[judged]))
    low, high = percentile_interval(draws[:, None], people, level=level)
    return Estimate(
        value=value,
        low=float(low[0]),
        high=float(high[0]),
        level=level,
        method=method_name("percentile", expand=True),
        raters=people,
        items=len(np.unique(answers.items[judged])),
        answers=int(judged.sum()),
        draws=len(weights),
    )


def alpha_of_counts(counts: ArrayLike, values: ArrayLike | None = None, *, scale: Scale) -> float:
    """Return α from ``counts`` (items, categories): how many people gave each item each value.

    ``values`` (categories,) are needed for the interval and ratio scales; the ordinal scale takes the categories
    in the given order. There is no interval, since counts do not say who answered.
    """
    table = np.asarray(counts, np.float64)
    if table.ndim != 2 or not np.all(np.isfinite(table)) or np.any(table < 0):
        raise StatisticsError(f"α needs counts (items, categories) of at least 0; found shape {table.shape}")
    if values is None and scale in ("interval", "ratio"):
        raise StatisticsError(f"α on the {scale} scale needs the value of each category; found none")
    numbers = np.arange(table.shape[1]) if values is None else np.asarray(values, np.float64)
    if numbers.shape != table.shape[1:]:
        raise StatisticsError(f"α needs a value for each of {table.shape[1]} categories; found {numbers.shape}")
    _check(len(numbers), bool(np.any(table.sum(axis=1) >= 2)))
    return _defined(_alphas(table[None], table[None], numbers.astype(np.float64), scale)[0])


def _check(categories: int, pairable: bool) -> None:
    if categories > _MOST_VALUES:
        raise StatisticsError(f"α needs at most {_MOST_VALUES} distinct values; found {categories}; round them")
    if not pairable:
        raise StatisticsError("α needs at least one item with two answers; found none")


def _defined(alpha: float) -> float:
    if np.isnan(alpha):
        raise StatisticsError("α needs at least two different values among items with two answers; found one")
    return float(alpha)


def _pairable(answers: LongAnswers) -> NDArray[np.bool_]:
    """Return which answers are on an item that somebody else answered too."""
    return np.asarray(np.bincount(answers.items)[answers.items] >= 2)


def _resampled(
    answers: LongAnswers,
    category: NDArray[np.intp],
    categories: NDArray[np.float64],
    weights: NDArray[np.integer],
    scale: Scale,
) -> NDArray[np.float64]:
    """Return α of every draw (draws,)."""
    kinds = len(categories)
    kept, item = np.unique(answers.items[_pairable(answers)], return_inverse=True)
    rows = item * kinds + category[_pairable(answers)]
    who = answers.raters[_pairable(answers)]
    shape = (len(kept) * kinds, weights.shape[1])
    gave = sparse.csr_array((np.ones(len(rows)), (rows, who)), shape=shape)  # (items × categories, people)
    step = max(1, _BLOCK // shape[0])
    alphas = []
    for begin in range(0, len(weights), step):
        drawn = weights[begin : begin + step].T.astype(np.float64)  # (people, block)
        sums = np.asarray(gave @ drawn).T.reshape(-1, len(kept), kinds)
        squares = np.asarray(gave @ drawn**2).T.reshape(-1, len(kept), kinds)
        alphas.append(_alphas(sums, squares, categories, scale))
    return np.concatenate(alphas)


def _alphas(
    sums: NDArray[np.float64], squares: NDArray[np.float64], values: NDArray[np.float64], scale: Scale
) -> NDArray[np.float64]:
    """Return α (draws,) from Σw and Σw² of the raters by item and category (draws, items, categories)."""
    size = sums.sum(axis=2)  # (draws, items): M
    pairs = size**2 - squares.sum(axis=2)  # M² − Σw²: weight of the pairs of distinct raters
    factor = np.where(pairs > 0, size / np.where(pairs > 0, pairs, 1.0), 0.0)
    scaled = sums * factor[:, :, None]
    coincidence = sums.transpose(0, 2, 1) @ scaled  # (draws, categories, categories)
    diagonal = np.arange(sums.shape[2])
    coincidence[:, diagonal, diagonal] -= (squares * factor[:, :, None]).sum(axis=1)
    margin = coincidence.sum(axis=2)  # (draws, categories)
    total = margin.sum(axis=1)
    distance = _distances(margin, values, scale)
    observed = np.einsum("dck,dck->d", coincidence, distance)
    expected = np.einsum("dc,dk,dck->d", margin, margin, distance, optimize=True)
    defined = (expected > 0) & (total > 1)
    return np.where(defined, 1 - (total - 1) * observed / np.where(defined, expected, 1.0), np.nan)


def _distances(margin: NDArray[np.float64], values: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Return δ² (draws, categories, categories); only the ordinal one depends on the draw.

    nominal 1 if different; ordinal (Σ of nᵥ from one to the other − half of both ends)²; interval (v − v′)²;
    ratio ((v − v′)/(v + v′))².
    """
    apart = values[:, None] - values[None, :]
    if scale == "ordinal":
        middle = np.cumsum(margin, axis=1) - margin / 2  # (draws, categories)
        return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2, np.float64)
    if scale == "nominal":
        square = (apart != 0).astype(np.float64)
    elif scale == "interval":
        square = apart**2
    else:
        if np.any(values < 0):
            raise StatisticsError(f"the ratio scale needs values of at least 0; found {values.min()}")
        both = values[:, None] + values[None, :]
        square = (apart / np.where(both > 0, both, 1.0)) ** 2
    return np.broadcast_to(square, (len(margin), *square.shape))
