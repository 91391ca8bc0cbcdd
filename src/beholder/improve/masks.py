"""From a heatmap to the mask of what is painted again.

Pixels at or above the threshold, grown by a disk; where that covers more of the image than allowed, the threshold
rises until it does not. Spots smaller than the least area are left as they are: a mask without any is empty, and
then there is nothing to repair.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from beholder.errors import FaultsError
from beholder.images.resize import resize_floats

Mask = NDArray[np.bool_]
"""(height, width)."""

STEPS = 24
"""How often the threshold is halved towards its smallest possible rise."""


@dataclass(frozen=True, slots=True)
class MaskSettings:
    """How a heatmap becomes a mask; lengths and areas are proportions of the image."""

    threshold: float = 0.3
    dilation: float = 0.03
    """Radius of the disk, as a proportion of the shorter side."""
    least_area: float = 0.002
    """Of a spot, before it grows."""
    most_area: float = 0.35
    """Of the mask."""

    def __post_init__(self) -> None:
        ranges = {
            "threshold": (self.threshold, 0, 1),
            "dilation": (self.dilation, 0, 0.5),
            "least_area": (self.least_area, 0, 1),
            "most_area": (self.most_area, 0, 1),
        }
        faults = [
            f"{name} is {number}, expected {low} to {high}"
            for name, (number, low, high) in ranges.items()
            if not low <= number <= high
        ]
        if self.least_area >= self.most_area:
            faults.append(f"least_area is {self.least_area}, most_area {self.most_area}: it must be larger")
        if faults:
            raise FaultsError("mask", faults)


def build_mask(heatmap: NDArray[np.floating], size: tuple[int, int], settings: MaskSettings) -> Mask:
    """Return the mask (height, width) of a heatmap of any size.

    Args:
        heatmap: From 0 to 1.
        size: Height and width of the image.
        settings: How.

    Returns:
        True where the image is to be painted again; nowhere, where nothing is above the threshold.
    """
    height, width = size
    levels = np.asarray(heatmap, np.float32)
    if levels.shape != size:
        levels = resize_floats(levels[..., None], height, width, "bilinear")[..., 0]
    mask = _grown(levels, settings.threshold, settings)
    if mask.mean() <= settings.most_area:
        return mask
    low, high = settings.threshold, float(levels.max())
    smaller = np.zeros(size, np.bool_)
    for _ in range(STEPS):
        middle = (low + high) / 2
        candidate = _grown(levels, middle, settings)
        if candidate.mean() <= settings.most_area:
            smaller, high = (candidate if candidate.any() else smaller), middle
        else:
            low = middle
    return smaller


def _grown(levels: NDArray[np.float32], threshold: float, settings: MaskSettings) -> Mask:
    """Return the spots at or above a threshold that are large enough, grown by the disk."""
    spots, count = ndimage.label(levels >= threshold)
    if count == 0:
        return np.zeros(levels.shape, np.bool_)
    areas = np.bincount(spots.ravel(), minlength=count + 1) / levels.size
    large = areas >= settings.least_area
    large[0] = False
    mask: Mask = large[spots]
    radius = settings.dilation * min(levels.shape)
    if radius < 1 or not mask.any():
        return mask
    distance = ndimage.distance_transform_edt(~mask)
    return np.asarray(distance <= radius, np.bool_)


def shift_mask(mask: Mask, rng: np.random.Generator) -> Mask:
    """Return the same mask at a random place of the image, wrapped around its edges: a control of equal area."""
    height, width = mask.shape
    down, right = int(rng.integers(height)), int(rng.integers(width))
    return np.roll(mask, (down, right), axis=(0, 1))
