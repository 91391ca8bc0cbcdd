"""Statistics of pixels that tell drawn, enlarged, smoothed and reduced images from photographs; no network.

They are those of a square from the middle of the image, whose shortest side is resized to 512 px:

- the logarithm of the mean power of the luminance in each of ten bands of frequency. An image that was enlarged or
  smoothed has next to none in the highest bands; that of photographs falls evenly from band to band;
- the proportion of pixels that differ from their right and lower neighbours by at most 0, 1, 2 and 4 levels;
- the logarithm of the number of distinct colours, at 8 and at 5 bits per channel;
- of the differences of neighbours, the logarithm of their root mean square, and of its ratio to their mean size,
  which is large where flat regions have hard edges;
- standard deviation of the luminance, and mean and standard deviation of the distance of colours from grey.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.encoders.preprocessing import Preprocessing

SIDE, CROP, BANDS = 512, 256, 10
STEPS = (0, 1, 2, 4)
"""Levels by which neighbours may differ and still count as flat."""
COARSE = 3
"""Bits of a channel that are dropped for the coarse count of colours."""
DIMS = BANDS + len(STEPS) + 2 + 2 + 3
LUMA = np.array((0.299, 0.587, 0.114), np.float32)


def load(name: str, variant: str, weights: str) -> Encoder:  # noqa: ARG001 - as all loaders
    """The encoder; it has no weights to choose."""
    if weights:
        raise WeightsError(f"encoder '{name}' has no weights; leave '{weights}' out")
    preprocessing = Preprocessing("shortest", SIDE, "bicubic", CROP, scale=1.0)
    return Encoder(name, "none", DIMS, preprocessing, _describe_all)


def _describe_all(images: NDArray[np.float32]) -> Vectors:
    return np.stack([pixel_statistics(image) for image in images])


def pixel_statistics(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """The statistics of one square image (3, side, side) of levels from 0 to 255: (DIMS,)."""
    luma = np.tensordot(LUMA, image, 1)  # (side, side)
    steps = np.maximum(
        np.abs(image[:, :-1, 1:] - image[:, :-1, :-1]).max(axis=0),
        np.abs(image[:, 1:, :-1] - image[:, :-1, :-1]).max(axis=0),
    )  # (side − 1, side − 1): the larger difference to the right and lower neighbours, in any channel
    size = np.sqrt(np.mean(steps**2))
    from_grey = np.sqrt(((image - image.mean(axis=0)) ** 2).mean(axis=0))
    return np.array(
        [
            *band_powers(luma),
            *(np.mean(steps <= step) for step in STEPS),
            *(np.log(count_colours(image, dropped)) for dropped in (0, COARSE)),
            np.log(size + 1),
            np.log((size + 0.1) / (steps.mean() + 0.1)),
            luma.std(),
            from_grey.mean(),
            from_grey.std(),
        ],
        np.float32,
    )


def band_powers(luma: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the logarithm of the mean power in rings of equal width, from low to high frequencies: (BANDS,).

    The square is faded out towards its edges, which would otherwise look like detail.
    """
    window, ring, counts = _rings(len(luma))
    spectrum = fft.rfft2((luma - luma.mean()) * window)
    power = (spectrum.real**2 + spectrum.imag**2) / luma.size
    sums = np.bincount(ring, power.ravel(), BANDS + 1)
    return np.asarray(np.log(sums[:BANDS] / counts[:BANDS] + 1e-3))


@lru_cache(maxsize=2)
def _rings(side: int) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """The window, the ring of each frequency (BANDS in the corners, beyond all), and the size of each ring."""
    fade = np.hanning(side)
    distance = np.hypot(fft.fftfreq(side)[:, None], fft.rfftfreq(side)) / 0.5  # 1: the highest along an axis
    ring = np.minimum(distance * BANDS, BANDS).astype(np.int64).ravel()
    return np.outer(fade, fade).astype(np.float32), ring, np.bincount(ring, minlength=BANDS + 1)


def count_colours(image: NDArray[np.float32], dropped: int) -> int:
    """Return the number of distinct colours, after dropping the last bits of each channel."""
    red, green, blue = np.rint(image).astype(np.int32) >> dropped
    ordered = np.sort(((red << 16) | (green << 8) | blue).ravel())
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
