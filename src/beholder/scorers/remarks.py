"""What to know about a scorer's scores: which images it was trained on, and which are unlike those."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from scipy import special

USUAL = 0.05
"""Proportion of held-out images that are farther than 1 from the training images, by definition of the unit."""

Predicted = Literal["score", "feedback"]
"""What a model predicts for an image."""

LEVEL = 0.01
"""Of the test by which more than that proportion is reported."""


def opinion_remark(scorer: str, width: float, unseen_width: float) -> str:
    """Return how to read predictions of raters' mean: their scale, and the widths of 95 % prediction intervals.

    Example:
        >>> print(opinion_remark("agiqa-quality", 0.975, 1.39))
        agiqa-quality: raters' mean from 0 to 5; 95 % of held-out images are within ±0.97; of generators that it \
was not trained on, reckon with ±1.39
    """
    return (
        f"{scorer}: raters' mean from 0 to 5; 95 % of held-out images are within ±{width:.2f}; of generators that "
        f"it was not trained on, reckon with ±{unseen_width:.2f}"
    )


def training_remark(scorer: str, data_set: str, trained: int, images: int) -> str | None:
    """Return a sentence where a scorer was trained on some of the images.

    Example:
        >>> print(training_remark("agiqa-quality", "AGIQA-3K", 1916, 2396))
        agiqa-quality was trained on 1,916 of these 2,396 images (AGIQA-3K): their scores are left out, and its \
agreement with raters is that on the other 480, which are held out; their generators may not be.
    """
    if trained == 0:
        return None
    if trained == images:
        return f"{scorer} was trained on all of these images ({data_set}): its scores of them are left out."
    return (
        f"{scorer} was trained on {trained:,} of these {images:,} images ({data_set}): their scores are left out, "
        f"and its agreement with raters is that on the other {images - trained:,}, which are held out; their "
        "generators may not be."
    )


def shift_remark(scorer: str, shifts: Sequence[float], predicted: Predicted = "score") -> str | None:
    """Return a sentence where more images than usual are unlike those that a scorer was trained on.

    That is so where the proportion of shifts above 1 is significantly larger than the 5 % of held-out images, by a
    binomial test at the 1 % level; of a single image, where its shift is above 1.

    Example:
        >>> print(shift_remark("agiqa-quality", [1.4, 0.8, 1.2, 1.7]))
        agiqa-quality: 3 of 4 images (75 %) are unlike those it was trained on; their scores are extrapolated.
        >>> shift_remark("agiqa-quality", [0.7, 0.8, 1.1, 0.9]) is None
        True
    """
    finite = np.asarray(shifts, np.float64)
    finite = finite[np.isfinite(finite)]
    unlike, count = int((finite > 1).sum()), len(finite)
    if count == 0 or unlike == 0:
        return None
    if count == 1:
        return f"{scorer}: the image is unlike those it was trained on; its {predicted} is extrapolated."
    if special.bdtrc(unlike - 1, count, USUAL) >= LEVEL:  # P(as many or more), for a binomial variable
        return None
    return (
        f"{scorer}: {unlike:,} of {count:,} images ({unlike / count:.0%}) are unlike those it was trained on; "
        f"their {'scores are' if predicted == 'score' else 'feedback is'} extrapolated."
    ).replace("%)", " %)")


def shift_remarks(companions: Mapping[str, str], shifts: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the remarks of several scorers, by the shifts that their companions give."""
    remarks = [
        shift_remark(scorer, shifts[companion]) for scorer, companion in companions.items() if companion in shifts
    ]
    return [remark for remark in remarks if remark]
