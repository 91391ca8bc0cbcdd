"""Images that are in memory already: Pillow images, arrays and tensors, as arrays of bytes.

Arrays have their channels last, tensors first, as their libraries have it. Nothing here imports torch: a tensor is
recognised by its methods.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import UserError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import flatten

Pixels: TypeAlias = NDArray[np.uint8]
"""One image, (height, width, 3)."""


@runtime_checkable
class Tensor(Protocol):
    """What is needed of a tensor of torch."""

    def detach(self) -> "Tensor":
        """Return it without its gradient."""
        ...

    def cpu(self) -> "Tensor":
        """Return it in the memory of the processor."""
        ...

    def numpy(self) -> NDArray[np.generic]:
        """Return it as an array."""
        ...


InMemory: TypeAlias = Image.Image | NDArray[np.generic] | Tensor
"""One image or a batch of them: Pillow; an array (height, width[, channels]) or (images, height, width, channels);
a tensor (channels, height, width) or (images, channels, height, width)."""


def pixels_of(images: InMemory | Sequence[InMemory], background: str = DEFAULT_BACKGROUND) -> list[Pixels]:
    """Return each image as opaque RGB bytes.

    Floating-point images have values from 0 to 1 and are rounded to the nearest of 256 steps.

    Args:
        images: One image, a batch, or a sequence of these.
        background: What transparent images are flattened on, as #rrggbb.

    Returns:
        One array (height, width, 3) per image.

    Example:
        >>> [pixels.shape for pixels in pixels_of(np.zeros((2, 8, 9, 3), np.uint8))]
        [(8, 9, 3), (8, 9, 3)]
    """
    several: Iterable[InMemory] = images if isinstance(images, list | tuple) else [cast("InMemory", images)]
    return [pixels for image in several for pixels in _pixels(image, background)]


def _pixels(image: InMemory, background: str) -> list[Pixels]:
    if isinstance(image, Image.Image):
        return [np.asarray(flatten(image, background), np.uint8)]
    if isinstance(image, np.ndarray):
        array, batched = image, image.ndim == 4
    elif isinstance(image, Tensor):
        array = image.detach().cpu().numpy()
        if array.ndim not in (3, 4):
            raise UserError(f"a tensor of images has the shape (channels, height, width); found {array.shape}")
        batched = array.ndim == 4
        array = np.moveaxis(array, -3, -1)
    else:
        raise UserError(
            f"an image is a Pillow image, an array or a tensor; found {type(image).__name__}. Files and folders "
            "are read by beholder.score and beholder.distance"
        )
    stack = _as_bytes(array if batched else array[None])
    return [np.asarray(flatten(_opened(pixels), background), np.uint8) for pixels in stack]


def _as_bytes(array: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Bytes as they are; numbers from 0 to 1 in 256 steps."""
    if array.dtype == np.uint8:
        return array.astype(np.uint8, copy=False)
    if not np.issubdtype(array.dtype, np.floating):
        raise UserError(f"images are bytes (uint8) or floating-point numbers from 0 to 1; found {array.dtype}")
    numbers = array.astype(np.float64)
    lowest, highest = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)
    if not (lowest >= 0 and highest <= 1):  # also where they are not finite
        raise UserError(
            f"floating-point images have values from 0 to 1; found {lowest:.4g} to {highest:.4g}. "
            "Divide by 255, undo a normalisation, or convert to bytes (uint8)"
        )
    return np.rint(numbers * 255).astype(np.uint8)


def _opened(pixels: NDArray[np.uint8]) -> Image.Image:
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[..., 0]
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (3, 4)) or pixels.size == 0:
        raise UserError(
            f"an image has 1, 3 or 4 channels; found the shape {pixels.shape} (height, width, channels)"
        )
    return Image.fromarray(np.ascontiguousarray(pixels))
