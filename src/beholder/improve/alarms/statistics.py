"""Statistics of images that reward hacking shows in: colours, and power by spatial frequency."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

BANDS = 8
"""Of spatial frequencies, from the coarsest to the finest, evenly in the logarithm."""
COLOURS = ("light", "light spread", "red–green", "red–green spread", "yellow–blue", "yellow–blue spread")
PEAK = "peak"
STATISTICS = (*COLOURS, *(f"frequency band {band + 1}" for band in range(BANDS)), PEAK)

Statistics = NDArray[np.float64]
"""One row per image, one column per name of :data:`STATISTICS`."""


def image_statistics(images: NDArray[np.uint8]) -> Statistics:
    """Return the statistics of images (n, height, width, 3).

    Means and standard deviations of three opponent colours; the logarithm of the power of light in each band of
    frequencies; and the logarithm of the strongest single frequency relative to the median of its band, which
    rises where a regular pattern lies over the image.
    """
    return np.array([_one(image) for image in images])


def _one(image: NDArray[np.uint8]) -> NDArray[np.float64]:
    red, green, blue = np.moveaxis(image.astype(np.float64) / 255, -1, 0)
    opponents = ((red + green + blue) / 3, red - green, (red + green) / 2 - blue)
    colours = [statistic for plane in opponents for statistic in (plane.mean(), plane.std())]
    powers = [_power(plane) for plane in opponents[:2]]
    bands, peaks = zip(*(_bands(power) for power in powers), strict=True)
    return np.array([*colours, *bands[0], max(peaks)])


def _power(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    """The power spectrum of a plane under a window that fades at its edges."""
    window = np.outer(np.hanning(plane.shape[0]), np.hanning(plane.shape[1]))
    power: NDArray[np.float64] = np.abs(np.fft.rfft2((plane - plane.mean()) * window)) ** 2 / plane.size
    return power


def _bands(power: NDArray[np.float64]) -> tuple[list[float], float]:
    """The logarithm of the mean power of each band, and of the highest peak over its band's median."""
    rows = np.fft.fftfreq(power.shape[0])[:, None]
    columns = np.fft.rfftfreq(2 * (power.shape[1] - 1))[None, :]
    radius = np.hypot(rows, columns)
    edges = np.geomspace(2 / power.shape[0], 0.5, BANDS + 1)
    means, peaks = [], [0.0]
    for low, high in pairwise(edges):
        inside = power[(radius >= low) & (radius < high)]
        means.append(float(np.log(inside.mean() + 1e-8)) if inside.size else 0.0)
        if inside.size >= 16:
            peaks.append(float(np.log((inside.max() + 1e-8) / (np.median(inside) + 1e-8))))
    return means, max(peaks)
