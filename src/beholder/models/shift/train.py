"""Train the warning of a model: a detector against altered copies of its own images, calibrated over prompts.

The images of each prompt are scored by a detector that was trained on other prompts, and not against altered
copies of these images. The limit, a shift of 1, is a one-sided tolerance bound on the scores: with 90 % confidence
no more than 5 % of images like these are above it, where there are 45 or more of them. With fewer it is their
maximum, which on average 5 % are above where there are 20.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from beholder.models.components import PrincipalComponents, components_and_residuals, fit_components
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.shift.detector import ShiftDetector
from beholder.models.shift.fit import STRENGTH, fit_detector, unfitted
from beholder.models.shift.warning import ShiftWarning

Floats = NDArray[np.float64]

COMPONENTS = 32
FOLDS = 5
FALSE_ALARMS, DOUBT = 0.05, 0.1
"""The rate that is allowed, and the probability that it is exceeded because the images are few."""
FEWEST = 20
"""Images below which nothing bounds that rate."""
DRAWN = -1
"""The prompt of a drawn image: none of them."""


@dataclass(frozen=True, eq=False)
class PromptedVectors:
    """Vectors of images, (images, dims), and the number of the prompt of each, or of what it was made of."""

    vectors: Vectors
    prompts: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_]) -> "PromptedVectors":
        """Return some of them."""
        return PromptedVectors(self.vectors[chosen], self.prompts[chosen])


def train_warning(
    encoders: Sequence[Encoder], usual: PromptedVectors, altered: PromptedVectors, *, strength: float = STRENGTH
) -> ShiftWarning:
    """Return the warning of a model of the images ``usual``; the last of the encoders is that of pixels."""
    *light, pixels = encoders
    bounds = np.cumsum([0, *(width for encoder in light for width in encoder.groups)])[::2]  # both of each stage
    scores = held_out_scores(usual, altered, bounds, pixels.dims, strength=strength)
    components, detector = fit(usual.vectors, altered.vectors, bounds, pixels.dims, strength)
    median, limit = float(np.median(scores)), tolerance_bound(scores)
    detector = replace(detector, median=median, unit=max(limit - median, 1e-6))
    identities = tuple(encoder.identity for encoder in encoders)
    return ShiftWarning(identities, components, detector, len(usual.vectors), len(altered.vectors))


def held_out_scores(
    usual: PromptedVectors,
    altered: PromptedVectors,
    bounds: NDArray[np.int64],
    statistics: int,
    *,
    strength: float = STRENGTH,
) -> Floats:
    """Return the score of each usual image by a detector that was trained on other prompts: (images,)."""
    numbers = np.unique(usual.prompts)
    folds = min(FOLDS, len(numbers))
    scores = np.empty(len(usual.vectors))
    for fold in range(folds):
        test = np.isin(usual.prompts, numbers[fold::folds])
        others = altered.where(~np.isin(altered.prompts, numbers[fold::folds]))
        components, detector = fit(usual.vectors[~test], others.vectors, bounds, statistics, strength)
        scores[test] = detector.scores(components, usual.vectors[test])
    return scores


def fit(
    usual: Vectors, altered: Vectors, bounds: NDArray[np.int64], statistics: int, strength: float = STRENGTH
) -> tuple[PrincipalComponents, ShiftDetector]:
    """Return components of the usual images, and a detector on them that is not calibrated yet.

    Components leave less over of images that they were fitted to than of others. So the regression sees what is
    left over of each usual image by components of other ones.
    """
    features = usual[:, : bounds[-1]]
    components = fit_components(features, COMPONENTS)
    residuals = np.empty((len(usual), len(bounds) - 1))
    for fold in range(FOLDS):
        test = np.arange(len(usual)) % FOLDS == fold
        of_others = fit_components(features[~test], COMPONENTS)
        residuals[test] = components_and_residuals(of_others, bounds, features[test])[1]
    blank = unfitted(components, bounds, usual, residuals, statistics)
    return components, fit_detector(blank, components, usual, altered, residuals=residuals, strength=strength)


def tolerance_bound(scores: Floats) -> float:
    """Return the lowest score that so few are above as ``FALSE_ALARMS`` would give with probability ``DOUBT``.

    Example:
        >>> tolerance_bound(np.arange(100.0))  # P(2 or fewer of 100) = .118, P(1 or none) = .037
        98.0
        >>> tolerance_bound(np.arange(45.0))  # P(none of 45) = .0994
        44.0
    """
    counts = np.arange(len(scores))
    above = int((bdtr(counts, len(scores), FALSE_ALARMS) <= DOUBT).sum()) - 1
    return float(np.sort(scores)[::-1][max(above, 0)])
