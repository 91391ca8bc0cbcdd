"""Rich feedback on one image, whoever gave it, a model or people."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Basis = Literal["held-out", "members", "people"]
"""What an interval rests on: errors on held-out images, the spread between models, or the people asked."""


@dataclass(frozen=True, slots=True)
class AspectScore:
    """A score from 0 to 1, more being better, with its interval where there is one."""

    value: float
    low: float | None = None
    high: float | None = None
    basis: Basis | None = None


@dataclass(frozen=True, eq=False)
class ImageFeedback:
    """All that is said of an image; what is not said of it is missing."""

    scores: Mapping[str, AspectScore]
    heatmaps: Mapping[str, NDArray[np.float32]]
    """Aspect -> (height, width): the share of people who mark each place, counted or expected."""
    missed: NDArray[np.float64] | None
    """For each word of the prompt the share of people who say that the image misses it, or the chance that most
    would; nan for words that were not read."""
    people: int = 0
    """How many people it rests on; 0 for a model."""
