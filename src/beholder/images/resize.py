"""Resizing by our own definition, so that a feature does not change with the version of a library.

An output pixel is a weighted mean of input pixels. The weights come from a filter that is stretched by the factor
of reduction, so that every input pixel counts (antialiasing):

    w(x) ∝ filter((x + ½ − centre) / max(scale, 1)),   centre = (out + ½) · scale,   scale = in / out

The pixels of a row are summed first, then those of a column. Bytes are summed as integers with weights of 22
bits and rounded after each of the two passes; other numbers are summed in double precision. That is Pillow's
arithmetic to the last bit, and Pillow is faster; so it does the work, one pass at a time, as long as it
resizes a small probe as the definition does. A Pillow that differs is not used.
"""

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import sparse

PRECISION_BITS = 22
"""Bits of an integer weight: 32, less 8 for the byte and 2 for the overshoot of negative lobes."""

Array = NDArray[np.float64]
Pixels = NDArray[np.uint8] | NDArray[np.float32]
"""(height, width, channels)"""


def resize(image: Image.Image, height: int, width: int, filter_name: str) -> NDArray[np.uint8]:
    """The image, antialiased, at another size, as (height, width, channels)."""
    if pillow_agrees(filter_name):
        return _resize_with_pillow(image, height, width, filter_name)
    return resize_bytes(np.asarray(image), height, width, filter_name)


def resize_unrounded(image: Image.Image, height: int, width: int, filter_name: str) -> NDArray[np.float32]:
    """The same without rounding to bytes; values may overshoot 0 and 255."""
    pixels = np.asarray(image, np.float32)
    if pillow_agrees_unrounded(filter_name):
        return _resize_floats_with_pillow(pixels, height, width, filter_name)
    return resize_floats(pixels, height, width, filter_name)


def resize_bytes(image: Pixels, height: int, width: int, filter_name: str) -> NDArray[np.uint8]:
    """The definition for bytes, without help from Pillow."""
    pixels = np.asarray(image, np.uint8)
    if width != pixels.shape[1]:
        pixels = _sum_bytes(pixels.transpose(1, 0, 2), width, filter_name).transpose(1, 0, 2)
    if height != pixels.shape[0]:
        pixels = _sum_bytes(pixels, height, filter_name)
    return np.ascontiguousarray(pixels)


def resize_floats(image: Pixels, height: int, width: int, filter_name: str) -> NDArray[np.float32]:
    """The definition without rounding to bytes: sums in double precision; values may overshoot 0 and 255."""
    pixels = np.asarray(image, np.float32)
    if width != pixels.shape[1]:
        pixels = _sum_floats(pixels.transpose(1, 0, 2), width, filter_name).transpose(1, 0, 2)
    if height != pixels.shape[0]:
        pixels = _sum_floats(pixels, height, filter_name)
    return np.ascontiguousarray(pixels)


def resize_tf1(image: Pixels, height: int, width: int) -> NDArray[np.float32]:
    """Bilinear as in TensorFlow 1, which the published FID rests on: no antialiasing, corner (0, 0) fixed.

    out(y, x) lies at (y · in/out, x · in/out) of the input, between its four neighbours.
    """
    pixels = np.asarray(image, np.float32)
    above, below, dy = _tf1_neighbours(pixels.shape[0], height)
    left, right, dx = _tf1_neighbours(pixels.shape[1], width)
    dx, dy = dx[None, :, None], dy[:, None, None]
    upper, lower = pixels[above], pixels[below]
    top = upper[:, left] + (upper[:, right] - upper[:, left]) * dx
    bottom = lower[:, left] + (lower[:, right] - lower[:, left]) * dx
    return np.asarray(top + (bottom - top) * dy, np.float32)


def _box(x: Array) -> Array:
    return np.where((x > -0.5) & (x <= 0.5), 1.0, 0.0)


def _bilinear(x: Array) -> Array:
    return np.maximum(1.0 - np.abs(x), 0.0)


def _bicubic(x: Array) -> Array:
    """Keys' cubic with a = −½."""
    a = -0.5
    x = np.abs(x)
    near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    far = (((x - 5.0) * x + 8.0) * x - 4.0) * a
    return np.where(x < 1.0, near, np.where(x < 2.0, far, 0.0))


def _lanczos(x: Array) -> Array:
    """sinc(x) · sinc(x/3) within three pixels."""
    return np.where((x >= -3.0) & (x < 3.0), np.sinc(x) * np.sinc(x / 3.0), 0.0)


FILTERS: dict[str, tuple[Callable[[Array], Array], float, Image.Resampling]] = {
    "box": (_box, 0.5, Image.Resampling.BOX),
    "bilinear": (_bilinear, 1.0, Image.Resampling.BILINEAR),
    "bicubic": (_bicubic, 2.0, Image.Resampling.BICUBIC),
    "lanczos": (_lanczos, 3.0, Image.Resampling.LANCZOS),
}
"""Name -> the filter, how far it reaches in pixels, and Pillow's name for it."""


def weights(size_in: int, size_out: int, filter_name: str) -> tuple[NDArray[np.intp], Array]:
    """For the pixels along a side: the first input pixel (out,), and the weights from there on (out, taps)."""
    shape, reach, _ = FILTERS[filter_name]
    scale = size_in / size_out
    stretch = max(scale, 1.0)
    centre = (np.arange(size_out) + 0.5) * scale
    first = np.maximum((centre - reach * stretch + 0.5).astype(np.intp), 0)
    end = np.minimum((centre + reach * stretch + 0.5).astype(np.intp), size_in)
    taps = int((end - first).max())
    position = first[:, None] + np.arange(taps)  # (out, taps)
    tap_weights = shape((position - centre[:, None] + 0.5) * (1.0 / stretch))
    tap_weights[position >= end[:, None]] = 0.0
    total = np.cumsum(tap_weights, axis=1)[:, -1:]  # one after the other, as in a loop: np.sum adds in pairs
    return first, np.divide(tap_weights, total, out=tap_weights, where=total != 0.0)


@lru_cache(maxsize=256)
def _matrix(size_in: int, size_out: int, filter_name: str, integers: bool) -> sparse.csr_array:
    """The weights as a sparse matrix (out, in): integers for bytes, doubles otherwise."""
    first, entries = weights(size_in, size_out, filter_name)
    if integers:
        scaled = entries * (1 << PRECISION_BITS)
        entries = np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int32)
    taps = entries.shape[1]
    columns = np.minimum(first[:, None] + np.arange(taps), size_in - 1)  # beyond the end the weight is 0
    starts = np.arange(0, size_out * taps + 1, taps)
    return sparse.csr_array((entries.ravel(), columns.ravel(), starts), shape=(size_out, size_in))


def _sum_bytes(image: NDArray[np.uint8], size: int, filter_name: str) -> NDArray[np.uint8]:
    """Resize along the first axis."""
    flat = image.reshape(image.shape[0], -1).astype(np.int32)
    sums = _matrix(image.shape[0], size, filter_name, True) @ flat
    sums += 1 << (PRECISION_BITS - 1)
    sums >>= PRECISION_BITS
    return np.asarray(np.clip(sums, 0, 255), np.uint8).reshape(size, *image.shape[1:])


def _sum_floats(image: NDArray[np.float32], size: int, filter_name: str) -> NDArray[np.float32]:
    flat = image.reshape(image.shape[0], -1).astype(np.float64)
    sums = _matrix(image.shape[0], size, filter_name, False) @ flat
    return np.asarray(sums, np.float32).reshape(size, *image.shape[1:])


@cache
def pillow_agrees(filter_name: str) -> bool:
    """Return whether the installed Pillow resizes a probe, smaller and larger, exactly as the definition does."""
    noise = np.random.default_rng(0).integers(0, 256, (61, 47, 3), dtype=np.uint8)
    probe = np.where(noise < 60, np.uint8(0), np.where(noise > 195, np.uint8(255), noise))  # overshoot is clipped
    image = Image.fromarray(probe)
    return all(
        np.array_equal(
            _resize_with_pillow(image, height, width, filter_name), resize_bytes(probe, height, width, filter_name)
        )
        for height, width in ((20, 13), (97, 120), (33, 64), (61, 10))
    )


@cache
def pillow_agrees_unrounded(filter_name: str) -> bool:
    """The same for single-precision numbers."""
    probe = np.random.default_rng(0).integers(0, 256, (61, 47, 3)).astype(np.float32)
    return all(
        np.array_equal(
            _resize_floats_with_pillow(probe, height, width, filter_name),
            resize_floats(probe, height, width, filter_name),
        )
        for height, width in ((20, 13), (97, 120), (33, 64), (61, 10))
    )


def _resize_floats_with_pillow(
    image: NDArray[np.float32], height: int, width: int, filter_name: str
) -> NDArray[np.float32]:
    """One channel at a time, rows and then columns: Pillow has no images of three such channels."""
    kind = FILTERS[filter_name][2]
    resized = np.empty((height, width, image.shape[2]), np.float32)
    for channel in range(image.shape[2]):
        plane = Image.fromarray(np.ascontiguousarray(image[..., channel]))
        resized[..., channel] = np.asarray(
            plane.resize((width, image.shape[0]), kind).resize((width, height), kind)
        )
    return resized


def _resize_with_pillow(image: Image.Image, height: int, width: int, filter_name: str) -> NDArray[np.uint8]:
    """Rows, then columns, in two calls: left to itself, Pillow 13 takes some tall images the other way."""
    kind = FILTERS[filter_name][2]
    rows = image.resize((width, image.height), kind)
    return np.asarray(rows.resize((width, height), kind))


def _tf1_neighbours(size_in: int, size_out: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    position = np.arange(size_out, dtype=np.float32) * np.float32(size_in / size_out)
    before = np.minimum(position.astype(np.intp), size_in - 1)
    return before, np.minimum(before + 1, size_in - 1), position - before.astype(np.float32)
