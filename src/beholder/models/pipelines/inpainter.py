"""What an inpainter is: it paints a masked part of an image again. No pixel outside the mask is taken from it.

Plain inpainting pipelines change pixels outside the mask too, by up to the full scale: decoding the latents of
the unmasked part does not return its pixels. So every call goes through :func:`inpaint_within`, which puts the
original pixels back.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beholder.errors import UserError

Pixels = NDArray[np.uint8]
"""An image, (height, width, 3)."""

Mask = NDArray[np.bool_]
"""True where the image is to be painted again, (height, width)."""


class Inpainter(Protocol):
    """Paints masked parts of images again."""

    @property
    def identity(self) -> str:
        """Name, weights and settings, as tables record them."""
        ...

    def inpaint(
        self, images: Sequence[Pixels], masks: Sequence[Mask], prompts: Sequence[str], seeds: Sequence[int]
    ) -> list[Pixels]:
        """Return the images with the masked part painted again; equal seeds give equal images."""
        ...


def inpaint_within(
    inpainter: Inpainter,
    images: Sequence[Pixels],
    masks: Sequence[Mask],
    prompts: Sequence[str],
    seeds: Sequence[int],
) -> list[Pixels]:
    """Paint the masked parts again, and put back every pixel outside the masks.

    Args:
        inpainter: What paints.
        images: The images, (height, width, 3) each.
        masks: One for each image, of its size.
        prompts: One for each image.
        seeds: One for each image.

    Returns:
        The images, which differ from the given ones within the masks alone.
    """
    counts = {len(images), len(masks), len(prompts), len(seeds)}
    if len(counts) != 1:
        raise ValueError(f"{len(images)} images, {len(masks)} masks, {len(prompts)} prompts, {len(seeds)} seeds")
    if not images:
        return []
    painted = inpainter.inpaint(images, masks, prompts, seeds)
    faults = [
        f"image {place}: {after.shape} {after.dtype} after, {before.shape} before, mask {mask.shape}"
        for place, (before, mask, after) in enumerate(zip(images, masks, painted, strict=True))
        if after.shape != before.shape or mask.shape != before.shape[:2] or after.dtype != np.uint8
    ]
    if faults:
        raise UserError("\n".join([f"{inpainter.identity} returned images of another size or type:", *faults]))
    return [
        np.where(mask[..., None], after, before)
        for before, mask, after in zip(images, masks, painted, strict=True)
    ]
