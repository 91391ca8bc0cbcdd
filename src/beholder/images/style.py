"""What is liked of images for its own sake: how saturated, large and sharp they are."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 256
"""Longest side at which saturation and sharpness are measured, so that they do not depend on the size."""


class ImageStyle(NamedTuple):
    """Three numbers of an image."""

    saturation: float
    """Mean saturation of its pixels in HSV, from 0 to 1."""
    size: float
    """Natural logarithm of the number of its pixels."""
    sharpness: float
    """Natural logarithm of the variance of the Laplacian of its grey values, which are from 0 to 1."""


def image_style(pixels: NDArray[np.uint8]) -> ImageStyle:
    """Return the style of an image (height, width, 3)."""
    small = Image.fromarray(pixels)
    small.thumbnail((SIDE, SIDE))
    values = np.asarray(small, np.float64) / 255
    most, least = values.max(axis=2), values.min(axis=2)
    saturation = np.where(most > 0, (most - least) / np.maximum(most, 1e-9), 0.0).mean()
    grey = values @ np.array([0.299, 0.587, 0.114])
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    edges = around - 4 * grey[1:-1, 1:-1] if min(grey.shape) > 2 else np.zeros((1, 1))
    return ImageStyle(
        float(saturation), float(np.log(pixels.shape[0] * pixels.shape[1])), float(np.log(edges.var() + 1e-8))
    )


def file_style(path: Path) -> ImageStyle:
    """Return the style of an image file."""
    with Image.open(path) as image:
        return image_style(np.asarray(image.convert("RGB")))
