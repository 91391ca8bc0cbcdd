"""Any trainable generator as an inpainter: at each step, outside the mask is the image with noise added."""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.inpainter import Mask, Pixels


class FlowInpainter:
    """Paints masked parts again with a text-to-image generator; it satisfies ``Inpainter``.

    Images of another size than the generator's are painted at its size and resized; pixels outside the mask are
    put back by the caller (:func:`beholder.models.pipelines.inpainter.inpaint_within`).
    """

    def __init__(self, generator: TrainableGenerator) -> None:
        self._generator = generator

    @property
    def identity(self) -> str:
        """Name and weights of the generator."""
        return str(self._generator.identity)

    @torch.no_grad()
    def inpaint(
        self, images: Sequence[Pixels], masks: Sequence[Mask], prompts: Sequence[str], seeds: Sequence[int]
    ) -> list[Pixels]:
        """Sample with the unmasked part held to the image."""
        generator = self._generator
        context, noise = generator.context(prompts, seeds), generator.noise(prompts, seeds)
        side = generator.decode(noise[:1], generator.context(prompts[:1], seeds[:1])).shape[-2:]
        clean = generator.encode(torch.cat([_tensor(image, side) for image in images]), context)
        inside = torch.cat([_cells(mask, clean.shape[-2:]) for mask in masks]).to(clean)
        latents, times = noise, generator.times(generator.steps)
        for step in range(len(times) - 1):
            latents = inside * latents + (1 - inside) * (clean + times[step] * (noise - clean))
            velocity = generator.velocity(latents, times[step].expand(len(latents)), context)
            latents = latents + (times[step + 1] - times[step]) * velocity
        painted = generator.decode(latents, context)
        return [_pixels(row, image.shape[:2]) for row, image in zip(painted, images, strict=True)]


def _tensor(image: Pixels, side: torch.Size) -> torch.Tensor:
    tensor = torch.from_numpy(np.array(image)).movedim(-1, 0)[None].float() / 255
    return functional.interpolate(tensor, tuple(side), mode="area")


def _cells(mask: Mask, cells: torch.Size) -> torch.Tensor:
    """1 in every cell of the latents that the mask touches."""
    return functional.adaptive_max_pool2d(torch.from_numpy(mask[None, None].astype(np.float32)), tuple(cells))


def _pixels(row: torch.Tensor, size: tuple[int, ...]) -> Pixels:
    enlarged = functional.interpolate(row[None], size, mode="bilinear")[0]
    rounded = (enlarged.movedim(0, -1) * 255 + 0.5).clamp(0, 255).to(torch.uint8)
    return np.asarray(rounded.cpu().numpy(), np.uint8)
