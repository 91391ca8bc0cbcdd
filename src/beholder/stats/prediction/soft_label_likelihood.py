"""The likelihood of raters' answers under predicted soft labels, and under each generator's mean.

With k of n raters saying yes to an image of predicted proportion p, the log-likelihood per answer is

    Σ (k log p + (n − k) log(1 − p)) / Σ n,

0 at best and −log 2 = −.693 for a coin. It is a proper score: nothing does better on average than the true
proportion, so it asks for order and for calibration at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import clustered_ratio
from beholder.stats.prediction.beta_binomial import counts, log_likelihood

Array = NDArray[np.float64]

LEAST = 1e-6
"""Predicted proportions are kept this far from 0 and 1: one answer against certainty would outweigh all others."""


@dataclass(frozen=True, slots=True)
class SoftLabelLikelihood:
    """Of the predictions, of the generators' proportions, and by how much the first is larger."""

    predictions: Estimate
    generators: Estimate
    gain: Estimate
    """predictions − generators, answer for answer"""


def soft_label_likelihood(
    predicted: ArrayLike,
    yes: ArrayLike,
    answers: ArrayLike,
    generators: NDArray[np.int64],
    weights: NDArray[np.integer],
    *,
    clusters: NDArray[np.int64],
    level: float = 0.95,
) -> SoftLabelLikelihood:
    """Compare predictions (images,) with :func:`generator_proportions`, resampling ``clusters`` (prompts)."""
    k, n = counts(yes, answers)
    model = log_likelihood(k, n, np.clip(np.asarray(predicted, np.float64), LEAST, 1 - LEAST))
    baseline = log_likelihood(k, n, generator_proportions(k, n, generators, clusters))
    columns = np.stack([model, baseline, model - baseline], 1)
    above = np.stack([np.bincount(clusters, column) for column in columns.T], 1)  # (clusters, 3)
    below = np.repeat(np.bincount(clusters, n)[:, None], 3, 1)
    estimates = clustered_ratio(above, below, weights, level=level)
    return SoftLabelLikelihood(*estimates)


def generator_proportions(
    yes: ArrayLike, answers: ArrayLike, generators: NDArray[np.int64], clusters: NDArray[np.int64]
) -> Array:
    """Return for each image the proportion of answers *yes* to its generator's images of other prompts (images,).

    Prompts are cut into two halves (even and odd), and each half gets the proportions of the other; a yes and a no
    are added to every generator's answers, so that none is certain.
    """
    k, n = counts(yes, answers)
    if generators.shape != k.shape or clusters.shape != k.shape:
        raise StatisticsError(f"each of {len(k)} images needs a generator and a prompt")
    size = int(generators.max()) + 1
    proportions = np.empty(len(k))
    for half in (clusters % 2 == 0, clusters % 2 == 1):
        yes_count, answer_count = (np.bincount(generators[~half], column[~half], size) for column in (k, n))
        proportions[half] = ((yes_count + 1) / (answer_count + 2))[generators[half]]
    return proportions
