"""How precise a rating would be with other numbers of prompts and raters, from the variance components.

With the variances between raters, between prompts and of what is neither, which
:mod:`beholder.stats.intervals.crossed_t` estimates, a contrast of m′ raters, n′ prompts and N′ pairs has the
variance

    V′ = σ²_r/m′ + σ²_p/n′ + σ²_e/N′.

A crossed design has N′ = m′ n′; where every rater judged a part of the prompts only, the same part is assumed for
the numbers asked about. The degrees of freedom behind V′ are Satterthwaite's, and so is the interval of V′ itself:
ν V′/χ² with the quantiles of χ²_ν, ν the degrees of freedom of the available data. Raters always count here,
even where a single interval of these data would not count them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.intervals.crossed_t import CrossedInfluence, contrast_errors


@dataclass(frozen=True)
class VarianceComponents:
    """What the variance of one contrast consists of."""

    rater: float  # σ² between raters; 0 where a program scored the images
    prompt: float  # σ² between prompts
    rest: float  # σ² of a single pair of rater and prompt
    raters: int  # from which they were estimated
    prompts: int
    crossing: float  # the proportion of all pairs of rater and prompt that occur
    degrees: float  # of freedom behind the variance of the contrast


@dataclass(frozen=True, eq=False)
class Precision:
    """The half-width of a confidence interval for each number of prompts and raters asked about."""

    prompts: NDArray[np.int64]  # (sizes,)
    raters: NDArray[np.int64]  # (sizes,)
    half_width: NDArray[np.float64]  # (sizes,)
    low: NDArray[np.float64]  # (sizes,) interval of the half-width, at ``level``
    high: NDArray[np.float64]  # (sizes,)
    level: float


def variance_components(cells: CrossedInfluence, contrast: ArrayLike) -> VarianceComponents:
    """Return the variance components of one contrast of ratings.

    Args:
        cells: The ratings and influences.
        contrast: What each cell is multiplied by (cells,).

    Returns:
        The components, and what they were estimated from.

    Example:
        >>> from beholder.stats.intervals.crossed_t import crossed_means
        >>> rater, prompt = np.divmod(np.arange(50), 10)
        >>> scores = rater * 0.5 + prompt * 0.1  # no rest: the sum of both
        >>> parts = variance_components(crossed_means(rater, prompt, np.zeros(50, int), scores), [1.0])
        >>> round(parts.rater, 3), round(parts.prompt, 3), parts.crossing  # s² of 0, .5 … 2 and of 0, .1 … .9
        (0.625, 0.092, 1.0)
    """
    errors = contrast_errors(cells, np.atleast_2d(np.asarray(contrast, np.float64)))
    raters, prompts, pairs = int(errors.raters[0]), int(errors.prompts[0]), int(errors.pairs[0])
    return VarianceComponents(
        rater=float(errors.rater_variance[0]),
        prompt=float(errors.prompt_variance[0]),
        rest=float(errors.pair_variance[0]),
        raters=raters,
        prompts=prompts,
        crossing=1.0 if cells.raters is None else min(pairs / (raters * prompts), 1.0),
        degrees=float(errors.degrees[0]),
    )


def precision(
    components: VarianceComponents, prompts: ArrayLike, raters: ArrayLike = 0, *, level: float = 0.95
) -> Precision:
    """Predict the half-width of a contrast's confidence interval for numbers of prompts and raters.

    Args:
        components: From :func:`variance_components`.
        prompts: Numbers of prompts; they broadcast against ``raters``.
        raters: Numbers of raters; without meaning where a program scored the images.
        level: Of the intervals.

    Returns:
        Half-widths with their own confidence intervals.

    Example:
        >>> parts = VarianceComponents(0.0, 1.0, 0.0, 10, 100, 1.0, 99.0)  # prompts alone vary
        >>> precision(parts, [25, 100, 400], 10).half_width.round(3).tolist()  # t quantile × 1/√n
        [0.413, 0.198, 0.098]
    """
    n, m = np.broadcast_arrays(np.atleast_1d(np.asarray(prompts, np.int64)), np.asarray(raters, np.int64))
    variance, degrees, _ = predicted_variance(components, n, m)
    half_width = np.asarray(special.stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance), np.float64)
    freedom = components.degrees
    tails = [np.sqrt(freedom / special.chdtri(freedom, tail)) for tail in ((1 - level) / 2, (1 + level) / 2)]
    return Precision(n, m, half_width, half_width * tails[0], half_width * tails[1], level)


def predicted_variance(
    components: VarianceComponents, prompts: NDArray[np.int64], raters: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Predict the variance of a contrast and its degrees of freedom.

    Args:
        components: From :func:`variance_components`.
        prompts: Numbers of prompts (sizes,).
        raters: Numbers of raters (sizes,); without meaning where a program scored the images.

    Returns:
        Variances, degrees of freedom, and those for levels far out (sizes,).

    Example:
        >>> parts = VarianceComponents(1.0, 4.0, 2.0, 10, 100, 1.0, 99.0)
        >>> predicted_variance(parts, np.array([40]), np.array([10]))[0].round(3).tolist()  # 1/10 + 4/40 + 2/400
        [0.205]
    """
    n, m = prompts, raters
    people = components.raters > 0
    if np.any(n < 2) or (people and np.any(m < 2)):
        raise StatisticsError("precision needs at least two prompts and, where raters judged, two raters")
    pairs = np.maximum(components.crossing * n * m, np.maximum(n, m)) if people else n.astype(np.float64)
    rest = components.rest / pairs
    prompt_part = components.prompt / n + rest
    rater_part = components.rater / m + rest if people else rest
    variance = rater_part + prompt_part - rest
    below = prompt_part**2 / (n - 1)
    if people:
        below = below + rater_part**2 / (m - 1) + rest**2 / ((m - 1) * (n - 1))
    degrees = variance**2 / np.where(below > 0, below, np.inf)
    degrees = np.maximum(degrees, np.minimum(n, m) - 1 if people else n - 1)
    if not people:
        return variance, degrees, degrees
    spread = rater_part / (m - 1) + prompt_part / (n - 1)
    return variance, degrees, np.fmin(degrees, (rater_part + prompt_part) / np.where(spread > 0, spread, np.nan))
