"""Luma less its local mean and divided by its local standard deviation: what natural scene statistics describe.

The image is filtered in strips of rows that stay in a core's cache; a test compares the values with scipy's
``gaussian_filter``, to the last bit.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.float64]

SPREAD = 7 / 6
"""Standard deviation of the 7 × 7 window, in pixels."""

RADIUS = 3
ROWS = 64
"""Rows of a strip."""


def normalised(y: Plane) -> Plane:
    """(y − local mean) / (local standard deviation + 1), with a Gaussian window of 7 × 7 pixels."""
    height, width = y.shape
    divided = np.empty_like(y)
    padded = np.concatenate([y[:1]] * RADIUS + [y] + [y[-1:]] * RADIUS)
    size = min(ROWS, height)
    squares, wide = np.empty((size + 2 * RADIUS, width)), np.empty((size, width + 2 * RADIUS))
    mean, spread, spare = np.empty((size, width)), np.empty((size, width)), np.empty((size, width))
    for begin in range(0, height, ROWS):
        rows = min(ROWS, height - begin)
        strip, square = padded[begin : begin + rows + 2 * RADIUS], squares[: rows + 2 * RADIUS]
        m, s, t = mean[:rows], spread[:rows], spare[:rows]
        np.multiply(strip, strip, out=square)
        _window(strip, wide[:rows], t, m)
        _window(square, wide[:rows], t, s)
        s -= np.multiply(m, m, out=t)
        np.sqrt(np.maximum(s, 0.0, out=s), out=s)
        s += 1
        np.divide(np.subtract(strip[RADIUS : RADIUS + rows], m, out=m), s, out=divided[begin : begin + rows])
    return divided


def _window(strip: Plane, wide: Plane, spare: Plane, out: Plane) -> None:
    """Filter a strip, which has three more rows above and below, down and then across; the edges are repeated."""
    rows, width = out.shape
    inner = wide[:, RADIUS : RADIUS + width]
    _weighted_sum(lambda shift: strip[RADIUS + shift : RADIUS + shift + rows], spare, inner)
    wide[:, :RADIUS], wide[:, -RADIUS:] = inner[:, :1], inner[:, -1:]
    _weighted_sum(lambda shift: wide[:, RADIUS + shift : RADIUS + shift + width], spare, out)


def _weighted_sum(shifted: Callable[[int], Plane], spare: Plane, out: Plane) -> None:
    """Σ w(k) y(· + k) over −3 ≤ k ≤ 3, from the outside in as scipy adds them."""
    np.multiply(shifted(0), WEIGHTS[0], out=out)
    for shift in range(RADIUS, 0, -1):
        np.add(shifted(-shift), shifted(shift), out=spare)
        spare *= WEIGHTS[shift]
        out += spare


def _weights() -> tuple[float, ...]:
    """The Gaussian window at distances 0 to 3, of sum 1 over all seven."""
    window = np.exp(-0.5 / SPREAD**2 * np.arange(-RADIUS, RADIUS + 1) ** 2)
    return tuple(float(weight) for weight in (window / window.sum())[RADIUS:])


WEIGHTS = _weights()
