"""How likely predicted shares make people's answers, against knowing no more than which generator made an image.

With k of n people saying yes to an image of predicted share p, the log-likelihood an answer is

    Σ (k log p + (n − k) log(1 − p)) / Σ n,

0 at best and −log 2 = −.693 for a coin. It is a proper score: nothing does better on average than the true share,
so it asks for order and for calibration at once.
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
"""Predicted shares are kept this far from 0 and 1: one answer against certainty would outweigh all others."""


@dataclass(frozen=True, slots=True)
class ShareLikelihood:
    """Of the predictions, of the generators' shares, and by how much the first is larger."""

    predictions: Estimate
    generators: Estimate
    gain: Estimate
    """predictions − generators, answer for answer"""


def share_likelihood(
    predicted: ArrayLike,
    said: ArrayLike,
    asked: ArrayLike,
    generators: NDArray[np.int64],
    weights: NDArray[np.integer],
    *,
    clusters: NDArray[np.int64],
    level: float = 0.95,
) -> ShareLikelihood:
    """Compare predictions (images,) with :func:`generator_shares`, resampling ``clusters`` (prompts)."""
    k, n = counts(said, asked)
    mine = log_likelihood(k, n, np.clip(np.asarray(predicted, np.float64), LEAST, 1 - LEAST))
    plain = log_likelihood(k, n, generator_shares(k, n, generators, clusters))
    columns = np.stack([mine, plain, mine - plain], 1)
    above = np.stack([np.bincount(clusters, one) for one in columns.T], 1)  # (clusters, 3)
    below = np.repeat(np.bincount(clusters, n)[:, None], 3, 1)
    found = clustered_ratio(above, below, weights, level=level)
    return ShareLikelihood(*found)


def generator_shares(
    said: ArrayLike, asked: ArrayLike, generators: NDArray[np.int64], clusters: NDArray[np.int64]
) -> Array:
    """Return for each image the share of answers *yes* to its generator's images of other prompts (images,).

    Prompts are cut into two halves (even and odd), and each half gets the shares of the other; a yes and a no are
    added to every generator's answers, so that none is certain.
    """
    k, n = counts(said, asked)
    if generators.shape != k.shape or clusters.shape != k.shape:
        raise StatisticsError(f"each of {len(k)} images needs a generator and a prompt")
    size = int(generators.max()) + 1
    found = np.empty(len(k))
    for mine in (clusters % 2 == 0, clusters % 2 == 1):
        yes, all_of = (np.bincount(generators[~mine], one[~mine], size) for one in (k, n))
        found[mine] = ((yes + 1) / (all_of + 2))[generators[mine]]
    return found
