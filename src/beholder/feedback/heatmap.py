"""Encoding of ``regions.heatmap``: an 8-bit greyscale PNG."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def encode_heatmap(heatmap: NDArray[np.floating] | NDArray[np.bool_]) -> bytes:
    """PNG bytes of a map (height, width) of values from 0 to 1, rounded to 1/255."""
    levels = np.rint(np.clip(np.asarray(heatmap, dtype=np.float64), 0, 1) * 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(levels).save(buffer, "PNG")
    return buffer.getvalue()


def decode_heatmap(png: bytes) -> NDArray[np.float64]:
    """The map (height, width) of values from 0 to 1."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("L"), dtype=np.float64) / 255
