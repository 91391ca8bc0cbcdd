"""The latents of a painted image: a vector that says how strong each of its flaws is.

========  =======================================================================================================
0 … 3     severity of four implausible regions
4 … 6     how far three attributes of the prompt are replaced by others
7         haze
8         loss of contrast
9 … 11    logarithms of the gains of red, green and blue
12 … 23   amplitudes of twelve periodic patterns
========  =======================================================================================================

The first nine count from 0 to 1 and are clipped to it: what is below 0 is flawless. Small gains and amplitudes are
those of a camera and cost nothing; larger ones are flaws of the whole picture.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

REGIONS, CANDIDATES, GAINS, PATTERNS = 4, 3, 3, 12
DIMS = REGIONS + CANDIDATES + 2 + GAINS + PATTERNS

HAZE, CONTRAST = REGIONS + CANDIDATES, REGIONS + CANDIDATES + 1
FIRST_GAIN = CONTRAST + 1
FIRST_PATTERN = FIRST_GAIN + GAINS

FREE_TINT, FULL_TINT = 0.10, 0.50
"""Root mean square of the logarithms of the gains: no flaw up to the first, a full one from the second on."""
FREE_PATTERN, FULL_PATTERN = 0.03, 0.18
"""Length of the vector of amplitudes: no flaw up to the first, a full one from the second on."""

ABSENT_BELOW = 0.05
"""A flaw below this strength is not named."""

Array = TypeVar("Array")


@dataclass(frozen=True, slots=True)
class Parts(Generic[Array]):
    """The parts of latents (n, dims), before any clipping."""

    severities: Array  # (n, regions)
    mixtures: Array  # (n, candidates)
    haze: Array  # (n,)
    contrast: Array  # (n,)
    gains: Array  # (n, 3)
    amplitudes: Array  # (n, patterns)


def split(latents: NDArray[np.float32]) -> Parts[NDArray[np.float32]]:
    """Return the parts of latents (n, dims), what has bounds clipped to them."""
    bounded = np.clip(latents[:, :FIRST_GAIN], 0, 1)
    return Parts(
        severities=bounded[:, :REGIONS],
        mixtures=bounded[:, REGIONS:HAZE],
        haze=bounded[:, HAZE],
        contrast=bounded[:, CONTRAST],
        gains=latents[:, FIRST_GAIN:FIRST_PATTERN],
        amplitudes=latents[:, FIRST_PATTERN:],
    )


def tint(gains: NDArray[np.float32]) -> float:
    """Return the severity of a colour cast, from the logarithms of three gains."""
    size = float(np.sqrt(np.mean(np.square(gains, dtype=np.float64))))
    return min(max((size - FREE_TINT) / (FULL_TINT - FREE_TINT), 0.0), 1.0)


def pattern(amplitudes: NDArray[np.float32]) -> float:
    """Return the severity of the periodic patterns, from their amplitudes."""
    size = float(np.linalg.norm(amplitudes.astype(np.float64)))
    return min(max((size - FREE_PATTERN) / (FULL_PATTERN - FREE_PATTERN), 0.0), 1.0)
