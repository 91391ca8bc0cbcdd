"""Inception Score: exp of the mean KL divergence of each image's class probabilities from their mean.

IS = exp(mean KL(p(c|y) ‖ p(c))), from the logits of a classifier for generated images alone. Salimans et al.,
"Improved techniques for training GANs" (2016). It does not compare with real images.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.distances.features import checked, doubles
from beholder.distances.result import JACKKNIFE, Distance, normal_quantile, standard_error
from beholder.errors import StatisticsError


def inception_score(
    logits: ArrayLike, *, rng: np.random.Generator, splits: int = 10, level: float = 0.95
) -> Distance:
    """Return the mean score over ``splits`` random parts of the logits (images, classes), as published.

    With fewer images than splits, or ``splits=1``, it is the score of all images at once. It lies between 1 and
    the number of classes; higher is better. The influence of an image on log IS is its own divergence.
    """
    z = normal_quantile(level)
    if splits < 1:
        raise StatisticsError(f"Inception Score: at least one split is needed; found {splits}")
    scores = doubles(checked("Inception Score", "generated", logits))
    parts = splits if len(scores) >= splits else 1
    log_probabilities = special.log_softmax(scores, axis=1)  # (images, classes)
    order = rng.permutation(len(scores)) if parts > 1 else np.arange(len(scores))
    value = float(
        np.mean([np.exp(_divergences(log_probabilities[part]).mean()) for part in np.array_split(order, parts)])
    )
    reach = z * standard_error(_divergences(log_probabilities))
    return Distance(
        name="inception_score",
        value=value,
        low=max(1.0, value * float(np.exp(-reach))),
        high=min(float(scores.shape[1]), value * float(np.exp(reach))),
        level=level,
        method=f"{JACKKNIFE}, of the logarithm",
        real=0,
        generated=len(scores),
        dims=scores.shape[1],
        settings={"splits": parts},
    )


def _divergences(log_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL divergence of each row from the mean of all rows, in nats: (images,)."""
    log_mean = special.logsumexp(log_probabilities, axis=0) - np.log(len(log_probabilities))
    return np.asarray(np.einsum("ic,ic->i", np.exp(log_probabilities), log_probabilities - log_mean), np.float64)
