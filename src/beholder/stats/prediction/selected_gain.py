"""The true gain of choosing the best of n by a scorer, forecast from labels of other images.

The scorer that chooses overstates what it gains: part of what makes an image the best of n is the scorer's error.
A second scorer does not undo that by itself, as both err alike. But given the scores *x* of all scorers, the one
that chose included, which image was chosen says nothing more about its quality. So labels *y* of images that were
not chosen say what scores are worth,

    y = β₀ + βᵀx + e,

and with d_j = x_chosen − mean of x over the n candidates of prompt j, the mean true gain over P prompts is
forecast by β̂ᵀd̄, with the variance

    d̄ᵀ V d̄ + s² (1 − 1/n)/P,

V the covariance of β̂ (HC3, summed within the clusters of the labelled images) and s² the variance of e that is
not the labels' own noise: the part of quality that no scorer sees is drawn again for the chosen images.

Ratings on a scale of few points say less than they seem to: who gives the highest may have thought of more, so
mean ratings of good images lie too low, and gains with them. :func:`selected_gain_of_ratings` takes each rating as
the interval of qualities that are rounded to it, and forecasts the gain in quality itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate
from beholder.stats.prediction.interval_regression import interval_regression

METHOD = "t, by regression of labels on scores"
RATINGS_METHOD = "t, by interval regression of ratings on scores"


@dataclass(frozen=True, eq=False)
class SelectedGain:
    """The forecast, beside what the scores themselves say."""

    gain: Estimate
    naive: NDArray[np.float64]  # (scores,) the mean gain of each score by itself
    weights: NDArray[np.float64]  # (scores,) β̂
    labels: int


def selected_gain(
    labels: ArrayLike,
    scores: ArrayLike,
    candidates: ArrayLike,
    chosen: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    label_variance: float = 0.0,
    level: float = 0.95,
) -> SelectedGain:
    """Forecast the mean true gain of the chosen candidates over a random one.

    Args:
        labels: What raters say of labelled images, (m,).
        scores: The scores of these images by every scorer, (m, scores); the scorer that chose must be among them.
        candidates: The same scores of all candidates, (prompts, n, scores).
        chosen: Which candidate was chosen for each prompt, (prompts,).
        clusters: The prompt of each labelled image, as integers; by default each is a cluster of its own.
        label_variance: Mean variance of the noise of a label, as from the raters' disagreement: it is no part of
            what the chosen images differ by.
        level: Of the confidence interval.

    Returns:
        The forecast on the scale of the labels, with its confidence interval for these very images.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> truth = rng.normal(0, 1, (200, 8))
        >>> own, other = (truth + rng.normal(0, 1, truth.shape) for _ in range(2))
        >>> chosen = own[:100].argmax(axis=1)  # the first hundred prompts are filtered, the others labelled
        >>> both = np.stack([own, other], axis=-1)
        >>> forecast = selected_gain(truth[100:, 0], both[100:, 0], both[:100], chosen)
        >>> true = truth[np.arange(100), chosen].mean() - truth[:100].mean()
        >>> [round(float(gain), 2) for gain in (*forecast.naive, forecast.gain.value, true)]
        [2.04, 1.04, 1.01, 0.94]
        >>> bool(forecast.gain.low < true < forecast.gain.high)
        True
    """
    y, x, pool, best, groups = _checked(labels, scores, candidates, chosen, clusters)
    steps = pool[np.arange(len(pool)), best] - pool.mean(axis=1)  # (prompts, scores)
    centre = x.mean(axis=0)
    design = np.column_stack([np.ones(len(y)), x - centre])
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ design.T @ y
    errors = y - design @ coefficients
    spread = float(errors @ errors) / (len(y) - design.shape[1])
    leverage = np.clip(np.einsum("ij,jk,ik->i", design, inverse, design), 0, 0.99)
    covariance = _sandwich(design * (errors / (1 - leverage))[:, None], inverse, groups)
    mean_step = np.concatenate([[0.0], steps.mean(axis=0)])
    value = float(mean_step @ coefficients)
    unseen = max(spread - label_variance, 0.0) * (1 - 1 / pool.shape[1]) / len(pool)
    variance = float(mean_step @ covariance @ mean_step) + unseen
    degrees = len(np.unique(groups)) - design.shape[1]
    reach = float(special.stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance))
    gain = Estimate(value, value - reach, value + reach, level, METHOD, 0, len(pool), len(y))
    return SelectedGain(gain, steps.mean(axis=0), coefficients[1:], len(y))


def selected_gain_of_ratings(
    ratings: ArrayLike,
    images: ArrayLike,
    points: int,
    scores: ArrayLike,
    candidates: ArrayLike,
    chosen: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> SelectedGain:
    """Forecast the same from single ratings, on the scale of the quality that they are rounded from.

    Args:
        ratings: Ratings from 0 to 1, (r,), on a scale of evenly spaced points.
        images: Which row of ``scores`` each of them is of, (r,).
        points: How many points the scale has.
        scores: The scores of the rated images by every scorer, (m, scores); the scorer that chose must be among
            them.
        candidates: The same scores of all candidates, (prompts, n, scores).
        chosen: Which candidate was chosen for each prompt, (prompts,).
        clusters: The prompt of each rated image, (m,), as integers; by default each is a cluster of its own.
        level: Of the confidence interval.

    Returns:
        The forecast from 0 to 1, with its confidence interval for these very images. ``labels`` counts the images.
    """
    rated, rows = np.asarray(ratings, np.float64), np.asarray(images)
    means, counts, within = _by_image(rated, rows, points, len(np.asarray(scores)))
    _, x, pool, best, groups = _checked(means, scores, candidates, chosen, clusters)
    steps = pool[np.arange(len(pool)), best] - pool.mean(axis=1)
    half = 0.5 / (points - 1)
    low = np.where(rated < half, -np.inf, rated - half)
    high = np.where(rated > 1 - half, np.inf, rated + half)
    design = np.column_stack([np.ones(len(x)), x - x.mean(axis=0)])
    fit = interval_regression(low, high, design[rows], groups[rows])
    mean_step = np.concatenate([[0.0], steps.mean(axis=0)])
    value = float(mean_step @ fit.coefficients)
    unseen = max(fit.spread**2 - within, 0.0) * (1 - 1 / pool.shape[1]) / len(pool)
    variance = float(mean_step @ fit.covariance @ mean_step) + unseen
    degrees = len(np.unique(groups)) - design.shape[1]
    reach = float(special.stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance))
    gain = Estimate(value, value - reach, value + reach, level, RATINGS_METHOD, 0, len(pool), int(counts.sum()))
    return SelectedGain(gain, steps.mean(axis=0), fit.coefficients[1:], len(x))


def _by_image(
    ratings: NDArray[np.float64], rows: NDArray[np.int64], points: int, count: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], float]:
    """Return the mean rating of each image, how many it has, and the mean variance of ratings of one image.

    The variance is of ratings as they are, and so rather too small at the ends of the scale, which makes the
    forecast's interval wider, not narrower; without a second rating of any image it is 0.
    """
    if points < 2 or ratings.ndim != 1 or rows.shape != ratings.shape or rows.dtype.kind not in "iu":
        raise StatisticsError(
            "a forecast by ratings needs a scale of at least 2 points, and the image of each rating"
        )
    if not np.all((ratings >= 0) & (ratings <= 1)) or np.any((rows < 0) | (rows >= count)):
        raise StatisticsError(f"a forecast by ratings needs ratings from 0 to 1 of images from 0 to {count - 1}")
    counts = np.bincount(rows, minlength=count)
    if np.any(counts == 0):
        raise StatisticsError(f"{int((counts == 0).sum())} of {count} images have no rating; leave them out")
    means = np.bincount(rows, ratings, minlength=count) / counts
    squares = np.bincount(rows, (ratings - means[rows]) ** 2, minlength=count)
    several = counts > 1
    within = float((squares[several] / (counts[several] - 1)).mean()) if several.any() else 0.0
    return means, counts, within


def _sandwich(
    pulls: NDArray[np.float64], inverse: NDArray[np.float64], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the covariance of the coefficients, pulls (rows, coefficients) summed within clusters first."""
    _, place = np.unique(groups, return_inverse=True)
    sums = np.zeros((int(place.max()) + 1, pulls.shape[1]))
    np.add.at(sums, place, pulls)
    return np.asarray(inverse @ (sums.T @ sums) @ inverse, np.float64)


def _checked(
    labels: ArrayLike, scores: ArrayLike, candidates: ArrayLike, chosen: ArrayLike, clusters: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    y, x, pool = (np.asarray(array, np.float64) for array in (labels, scores, candidates))
    best = np.asarray(chosen)
    groups = np.arange(len(y)) if clusters is None else np.asarray(clusters)
    if x.ndim != 2 or pool.ndim != 3 or x.shape[0] != len(y) or pool.shape[2] != x.shape[1]:
        raise StatisticsError(
            "a forecast needs labels (m,), scores (m, scores) and candidates (prompts, n, scores); found "
            f"{y.shape}, {x.shape} and {pool.shape}"
        )
    if not all(np.all(np.isfinite(array)) for array in (y, x, pool)):
        raise StatisticsError("a forecast needs finite labels and scores")
    if best.shape != pool.shape[:1] or best.dtype.kind not in "iu" or np.any((best < 0) | (best >= pool.shape[1])):
        raise StatisticsError(f"chosen must be one candidate from 0 to {pool.shape[1] - 1} for each prompt")
    if groups.shape != y.shape or groups.dtype.kind not in "iu":
        raise StatisticsError("clusters must be one integer for each label")
    if len(np.unique(groups)) < x.shape[1] + 5:
        raise StatisticsError(
            f"labels of {len(np.unique(groups))} prompts; a forecast by {x.shape[1]} scores needs at least "
            f"{x.shape[1] + 5}"
        )
    return y, x, pool, best.astype(np.int64), groups.astype(np.int64)
