"""Later quality from a rater's first trials: a beta-binomial prediction with its prediction interval.

Raters of a panel differ in accuracy as a Beta(a, b), fitted to the panel by moments. After k of n right answers
the accuracy of a rater is a Beta(a + k, b + n − k), and the number of right answers among the next m is
beta-binomial. In nine million annotations the first five tasks predicted all later ones (Hata et al. 2017): a
short, paid qualification says what constant checking would.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats as distributions

from beholder.errors import StatisticsError

WEAKEST, STRONGEST = 2.0, 50.0
"""Between which a + b is kept: a few trials of some raters cannot show that all raters are alike."""


@dataclass(frozen=True, slots=True)
class PanelAccuracy:
    """How accuracy is spread over the raters of a panel: a Beta(a, b)."""

    a: float
    b: float
    raters: int

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return self.a / (self.a + self.b)


@dataclass(frozen=True, eq=False)
class PredictedAccuracy:
    """The predicted accuracy over the next trials, by rater."""

    value: NDArray[np.float64]  # (raters,) posterior mean
    low: NDArray[np.float64]  # (raters,) of the proportion right among the next trials
    high: NDArray[np.float64]  # (raters,)
    level: float
    trials: int
    """over how many later trials the interval is meant"""
    panel: PanelAccuracy


def fit_panel(right: ArrayLike, trials: ArrayLike) -> PanelAccuracy:
    """Fit the spread of accuracies over raters, by moments corrected for the binomial noise of each.

    Args:
        right: Right answers of each rater (raters,).
        trials: Checked trials of each (raters,).

    Returns:
        The Beta distribution.

    Example:
        >>> panel = fit_panel([9, 6, 10, 7, 5], [10] * 5)
        >>> round(panel.mean, 2)
        0.74
    """
    k, n = _counts(right, trials)
    proportion = k / n
    mean = float(k.sum() / n.sum())
    mean = min(max(mean, 0.01), 0.99)
    noise = float(np.mean(mean * (1 - mean) / n))
    variance = float(np.var(proportion, ddof=1)) if len(n) > 1 else noise
    # Var(k/n) = μ(1−μ)/n + (1 − 1/n) · Var(p); Var(p) = μ(1−μ)/(a + b + 1)
    between = max(variance - noise, 1e-6) / max(float(np.mean(1 - 1 / n)), 1e-6)
    strength = min(max(mean * (1 - mean) / between - 1, WEAKEST), STRONGEST)
    return PanelAccuracy(mean * strength, (1 - mean) * strength, len(n))


def predict_accuracy(
    right: ArrayLike, trials: ArrayLike, panel: PanelAccuracy, *, next_trials: int = 100, level: float = 0.95
) -> PredictedAccuracy:
    """Predict each rater's accuracy over the next trials.

    Args:
        right: Right answers among the first trials (raters,).
        trials: The first trials, such as 5 to 20 (raters,).
        panel: How raters differ, by :func:`fit_panel`.
        next_trials: Over which the prediction interval is meant.
        level: Its nominal coverage.

    Returns:
        Posterior means and beta-binomial prediction intervals.

    Example:
        >>> prediction = predict_accuracy([5, 2], [5, 5], PanelAccuracy(17, 3, 100))
        >>> prediction.value.round(2).tolist()
        [0.88, 0.76]
    """
    k, n = _counts(right, trials)
    counts, place = np.unique(np.stack([k, n]), axis=1, return_inverse=True)  # few, and quantiles are slow
    a, b = panel.a + counts[0], panel.b + counts[1] - counts[0]
    tail = (1 - level) / 2
    later = distributions.betabinom(next_trials, a, b)
    return PredictedAccuracy(
        np.asarray(a / (a + b))[place],
        np.asarray(later.ppf(tail) / next_trials)[place],
        np.asarray(later.ppf(1 - tail) / next_trials)[place],
        level,
        next_trials,
        panel,
    )


def _counts(right: ArrayLike, trials: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    k, n = np.asarray(right, np.float64), np.asarray(trials, np.float64)
    if k.shape != n.shape or k.ndim != 1 or not len(k) or not np.all((k >= 0) & (k <= n) & (n > 0)):
        raise StatisticsError("accuracies need 0 ≤ right ≤ trials, at least one trial for each rater")
    return k, n
