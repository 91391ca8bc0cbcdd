"""Prediction-powered means where raters and prompts are both samples: few judged prompts, many scored ones.

Of each cell (an entry of a board) raters judged some prompts, and a program scored these and further ones. With
the mean Ȳ of the answers, the means f̄ and f̃ of the scores of judged and of further prompts, and a weight λ,

    θ = Ȳ − λ f̄ + λ f̃,    V = V(Ȳ − λ f̄) + λ² var(f̃)/N.

V(Ȳ − λ f̄) is the variance over raters and prompts of :mod:`beholder.stats.intervals.crossed_t`, from the
influences of the differences; the degrees of freedom of both terms are combined by Satterthwaite's formula. With
λ = 0 the result is the classical mean with exactly the interval of
:func:`~beholder.stats.intervals.crossed_t.crossed_t`, so both can stand side by side.

λ of a cell minimises the sum of the variances of all *other* cells, Σ C_Yf / Σ (V_f + var(f̃)/N) within [0, 1],
with the scores of every cell brought to the spread of its answers. It is not fitted to the answers it is applied
to, so a useless score costs next to nothing (Angelopoulos, Duchi and Zrnic 2023, *PPI++*, fit it to the same
answers). A single cell has its own λ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.intervals.crossed_t import FEWEST, CrossedInfluence, contrast_errors, crossed_t
from beholder.stats.intervals.proportions import arcsine_interval


@dataclass(frozen=True, eq=False)
class PoweredMeans:
    """Means from answers and scores beside those from answers alone; every array is (cells,)."""

    value: NDArray[np.float64]
    low: NDArray[np.float64]  # nan with fewer than five raters or judged prompts
    high: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    classical: NDArray[np.float64]  # from answers alone
    classical_low: NDArray[np.float64]
    classical_high: NDArray[np.float64]
    tuning: NDArray[np.float64]  # λ, on scores brought to the spread of the answers
    judged: NDArray[np.int64]  # prompts
    further: NDArray[np.int64]  # scored prompts that nobody judged
    level: float

    @property
    def width_ratio(self) -> NDArray[np.float64]:
        """The width of each interval divided by that from answers alone."""
        return np.asarray((self.high - self.low) / (self.classical_high - self.classical_low), np.float64)


def crossed_powered(
    answers: CrossedInfluence, scores: CrossedInfluence, further: Sequence[ArrayLike], *, level: float = 0.95
) -> PoweredMeans:
    """Return the mean of each cell from raters' answers and a program's scores.

    Args:
        answers: Means of the answers, from :func:`~beholder.stats.intervals.crossed_t.crossed_means`.
        scores: The same of the scores of the judged images, one score per answer: rows and cells are those of
            ``answers``. Higher scores go with higher answers.
        further: Of each cell, the scores of prompts that nobody judged, one per prompt; at least two. They have to
            be drawn as the judged prompts were.
        level: Of the confidence intervals.

    Returns:
        Means with their intervals over raters and prompts, beside those from answers alone.

    Example:
        >>> from beholder.stats.intervals.crossed_t import crossed_means
        >>> rng = np.random.default_rng(0)
        >>> quality = rng.normal(3, 1, (200, 2))  # (prompts, cells); the first 40 prompts are judged by six raters
        >>> rater, prompt, cell = (index.ravel() for index in np.indices((6, 40, 2)))
        >>> answers = quality[prompt, cell] + rng.normal(0, 0.3, 6)[rater] + rng.normal(0, 0.3, len(rater))
        >>> parts = (crossed_means(rater, prompt, cell, x) for x in (answers, quality[prompt, cell]))
        >>> means = crossed_powered(*parts, list(quality[40:].T))
        >>> means.width_ratio.round(2).tolist(), means.tuning.round(2).tolist()
        ([0.92, 0.9], [0.81, 0.79])
    """
    if not answers.influence.shape == scores.influence.shape or len(further) != len(answers.values):
        raise StatisticsError(
            "powered means need scores of the rows and cells of the answers, and further scores of each "
            "cell; found "
            f"{answers.influence.shape}, {scores.influence.shape} and {len(further)}"
        )
    more = [np.asarray(column, np.float64) for column in further]
    if any(column.ndim != 1 or len(column) < 2 or not np.all(np.isfinite(column)) for column in more):
        raise StatisticsError("powered means need at least two finite further scores of each cell")
    scale = _scale(answers, scores, more)
    scaled = replace(scores, values=scores.values * scale, influence=scores.influence * scale)
    more = [column * factor for column, factor in zip(more, scale, strict=True)]
    tuning = _tuning(answers, scaled, more)
    rest = replace(answers, influence=answers.influence - tuning * scaled.influence)
    errors = contrast_errors(rest, np.eye(len(tuning)))
    extra = tuning**2 * np.array([column.var(ddof=1) / len(column) for column in more])
    spare = np.array([len(column) - 1.0 for column in more])
    error, freedom = errors.single(level)
    variance = error**2 + extra
    below = error**4 / freedom + extra**2 / spare
    degrees = variance**2 / np.where(below > 0, below, np.inf)
    degrees = np.where(below > 0, degrees, freedom)
    value = answers.values + tuning * (np.array([column.mean() for column in more]) - scaled.values)
    reach = special.stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance)
    low, high = value - reach, value + reach
    sample = errors.prompts if answers.raters is None else np.minimum(errors.raters, errors.prompts)
    if answers.proportions:
        value = np.clip(value, 0.0, 1.0)
        low, high = arcsine_interval(value, reach, sample, level)
    classical = crossed_t(answers, level=level)
    return PoweredMeans(
        value=value,
        low=np.where(sample >= FEWEST, low, np.nan),
        high=np.where(sample >= FEWEST, high, np.nan),
        standard_error=np.sqrt(variance),
        classical=classical.value,
        classical_low=classical.low,
        classical_high=classical.high,
        tuning=tuning,
        judged=errors.prompts,
        further=np.array([len(column) for column in more], np.int64),
        level=level,
    )


def _scale(
    answers: CrossedInfluence, scores: CrossedInfluence, further: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return what brings the scores of each cell to the spread of its answers between prompts; 0 where all agree.

    The spread of scores is that of judged and further prompts together: a few far values among either do not
    stretch the others.
    """
    identity = np.eye(len(answers.values))
    judged = contrast_errors(answers, identity)
    count = judged.prompts.astype(np.float64)
    within = contrast_errors(scores, identity).over_prompts ** 2 * count * (count - 1)
    beyond = np.array([column.var() * len(column) for column in further])
    spread = np.sqrt((within + beyond) / (count + np.array([len(column) for column in further]) - 2))
    return np.asarray(judged.over_prompts * np.sqrt(count) / np.where(spread > 0, spread, np.inf), np.float64)


def _tuning(
    answers: CrossedInfluence, scores: CrossedInfluence, further: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return λ of each cell, from the other cells; scores differ between prompts only, so prompts are clusters."""
    _, prompt = np.unique(answers.prompts, return_inverse=True)
    count = int(prompt.max()) + 1
    by_prompt = [np.zeros((count, len(answers.values))) for _ in range(2)]
    for sums, means in zip(by_prompt, (answers, scores), strict=True):
        np.add.at(sums, prompt, means.influence)
    factor = count / max(count - 1, 1)
    covariance = factor * (by_prompt[0] * by_prompt[1]).sum(axis=0)
    extra = np.array([column.var(ddof=1) / len(column) for column in further])
    variance = factor * (by_prompt[1] ** 2).sum(axis=0) + extra
    if len(covariance) > 1:
        covariance, variance = covariance.sum() - covariance, variance.sum() - variance
    return np.asarray(np.clip(covariance / np.where(variance > 0, variance, np.inf), 0.0, 1.0), np.float64)
