"""From decoded pixels to the input of a network: resize, centre crop, normalise; identified by a version."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.images.formats import LARGEST_PIXELS, UndecodableError
from beholder.images.resize import resize, resize_tf1, resize_unrounded

VERSION = 1
"""To be raised when the arithmetic changes: stored features are then computed again."""

Method = Literal["box", "bilinear", "bicubic", "lanczos", "tf1"]
Channels = tuple[float, float, float]

HALF: Channels = (0.5, 0.5, 0.5)
IMAGENET_MEAN: Channels = (0.485, 0.456, 0.406)
IMAGENET_STD: Channels = (0.229, 0.224, 0.225)
CLIP_MEAN: Channels = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD: Channels = (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True)
class Preprocessing:
    """How an image is resized, cropped and normalised for a network."""

    fit: Literal["shortest", "exact", "longest"]
    """The shortest side gets the size; or both sides do (an image that is not square is distorted); or the
    longest side does, and the rest is padded with black."""
    size: int
    method: Method
    crop: int | None = None
    """Side of the square cut from the middle."""
    scale: float = 1 / 255
    """Factor of bytes, before mean and std."""
    mean: Channels = (0.0, 0.0, 0.0)
    std: Channels = (1.0, 1.0, 1.0)
    rounded: bool = True
    """Whether resized pixels are rounded to bytes, as image libraries do, or only clipped to 0 and 255, as by
    clean-fid; ``tf1``, which does not overshoot, is neither rounded nor clipped."""

    @property
    def side(self) -> int:
        """Side of the prepared square."""
        return self.crop or self.size

    @property
    def version(self) -> str:
        """All that determines the pixels, in one line."""
        rounding = ":unrounded" if self.method == "tf1" else "" if self.rounded else ":clipped"
        crop = f":crop{self.crop}" if self.crop else ""
        numbers = ",".join(f"{number:.9g}" for number in (self.scale, *self.mean, *self.std))
        return f"{VERSION}:{self.fit}{self.size}:{self.method}{rounding}{crop}:{numbers}"

    def prepare(self, image: Image.Image) -> NDArray[np.float32]:
        """The image as (3, side, side)."""
        resized = self._resized(image)
        cut = _crop_centre(resized, self.crop) if self.crop else resized
        cut = _pad_to_square(cut, self.size) if self.fit == "longest" else cut
        mean, std = (np.array(numbers)[:, None, None] for numbers in (self.mean, self.std))
        prepared = np.multiply(cut.transpose(2, 0, 1), (self.scale / std).astype(np.float32), order="C")
        prepared -= (mean / std).astype(np.float32)
        return prepared

    def _resized(self, image: Image.Image) -> NDArray[np.uint8] | NDArray[np.float32]:
        height, width = self.target(image.height, image.width)
        if self.method == "tf1":
            return resize_tf1(np.asarray(image), height, width)
        if self.rounded:
            return resize(image, height, width, self.method)
        return np.clip(resize_unrounded(image, height, width, self.method), 0, 255)

    def target(self, height: int, width: int) -> tuple[int, int]:
        """Height and width after the resize; the longer side is rounded down."""
        if self.fit == "exact":
            return self.size, self.size
        shorter, longer = sorted((height, width))
        if self.fit == "longest":
            return max(round(height * self.size / longer), 1), max(round(width * self.size / longer), 1)
        if self.size * self.size * longer // shorter > LARGEST_PIXELS:
            raise UndecodableError(f"{width} × {height} pixels: too narrow to get a shortest side of {self.size}")
        return self.size * height // shorter, self.size * width // shorter


def _crop_centre(
    image: NDArray[np.uint8] | NDArray[np.float32], side: int
) -> NDArray[np.uint8] | NDArray[np.float32]:
    top, left = (image.shape[0] - side) // 2, (image.shape[1] - side) // 2
    return image[top : top + side, left : left + side]


def _pad_to_square(
    image: NDArray[np.uint8] | NDArray[np.float32], side: int
) -> NDArray[np.uint8] | NDArray[np.float32]:
    """The image in the middle of a black square; an odd pixel goes to the right and below."""
    framed = np.zeros((side, side, image.shape[2]), image.dtype)
    top, left = (side - image.shape[0]) // 2, (side - image.shape[1]) // 2
    framed[top : top + image.shape[0], left : left + image.shape[1]] = image
    return framed
