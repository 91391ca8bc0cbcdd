"""Rich feedback on one image, by raters or a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Basis = Literal["held-out", "members", "people"]
"""What a confidence interval rests on: errors on held-out images, the spread between models, or raters."""


@dataclass(frozen=True, slots=True)
class AspectScore:
    """A score from 0 to 1, more being better, with its confidence interval where there is one."""

    value: float
    low: float | None = None
    high: float | None = None
    basis: Basis | None = None


@dataclass(frozen=True, eq=False)
class ImageFeedback:
    """All feedback on an image; what was not rated or predicted is missing."""

    scores: Mapping[str, AspectScore]
    heatmaps: Mapping[str, NDArray[np.float32]]
    """Aspect -> (height, width): the proportion of raters who mark each pixel, counted or predicted."""
    missed: NDArray[np.float64] | None
    """For each word of the prompt the proportion of raters who marked it as misaligned, or the probability that
    most would; nan for words beyond what the model reads."""
    people: int = 0
    """Number of raters it rests on; 0 for a model."""
