"""The planes of one image that pixel statistics are computed from, each computed once for all of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from beholder.scorers.luminance import luma
from beholder.scorers.normalised_luma import normalised

Pixels = NDArray[np.uint8]
"""An image in RGB: (height, width, 3)."""

Plane = NDArray[np.float64]
"""One number per pixel: (height, width)."""


@dataclass(frozen=True, eq=False)
class Planes:
    """An image and what is derived from it pixel by pixel; a plane is computed when it is first used."""

    pixels: Pixels

    @cached_property
    def channels(self) -> NDArray[np.uint8]:
        """Red, green and blue as planes: (3, height, width)."""
        return np.ascontiguousarray(self.pixels.transpose(2, 0, 1))

    @cached_property
    def colours(self) -> NDArray[np.float64]:
        """The same as numbers that may go below 0: (3, height, width)."""
        return self.channels.astype(np.float64)

    @cached_property
    def luma(self) -> Plane:
        """Luma, from 0 to 255."""
        return luma(self.pixels)

    @cached_property
    def chroma(self) -> Plane:
        """√(Cb² + Cr²), with Cb = 0.564 (B − Y) and Cr = 0.713 (R − Y) as in BT.601."""
        red, _, blue = self.colours
        squares, other = blue - self.luma, red - self.luma
        for difference, weight in ((squares, 0.114), (other, 0.299)):
            difference *= 0.5
            difference /= 1 - weight
            difference *= difference
        squares += other
        return np.asarray(np.sqrt(squares, out=squares))

    @cached_property
    def normalised(self) -> Plane:
        """Luma less its local mean, divided by its local standard deviation."""
        return normalised(self.luma)
