"""Inpainting pipelines of diffusers: a U-Net that was trained with masks, such as Stable Diffusion inpainting."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from beholder.models.pipelines.inpainter import Mask, Pixels
from beholder.models.pipelines.loading import LoadedPipeline

GRAIN = 8
"""Sides are rounded down to multiples of this for the pipeline, and the outcome is resized."""


class PipelineInpainter:
    """An inpainting pipeline; it satisfies ``Inpainter``. The caller puts back what is outside the mask."""

    def __init__(self, loaded: LoadedPipeline, *, steps: int = 30, guidance: float = 7.5) -> None:
        self._loaded = loaded
        self._options: dict[str, Any] = {"num_inference_steps": steps, "guidance_scale": guidance}

    @property
    def identity(self) -> str:
        """Name, weights and settings."""
        steps, guidance = self._options.values()
        return f"{self._loaded.name}@{self._loaded.weights[:12]} {steps} steps, guidance {guidance:g}"

    def inpaint(
        self, images: Sequence[Pixels], masks: Sequence[Mask], prompts: Sequence[str], seeds: Sequence[int]
    ) -> list[Pixels]:
        """Paint the masked parts, one image at a time."""
        return [self._inpaint_one(*row) for row in zip(images, masks, prompts, seeds, strict=True)]

    def _inpaint_one(self, image: Pixels, mask: Mask, prompt: str, seed: int) -> Pixels:
        height, width = image.shape[:2]
        size = {"height": max(height // GRAIN, 1) * GRAIN, "width": max(width // GRAIN, 1) * GRAIN}
        with torch.inference_mode():
            painted = self._loaded.pipeline(
                prompt=prompt,
                image=Image.fromarray(image),
                mask_image=Image.fromarray(mask.astype(np.uint8) * 255),
                generator=torch.Generator("cpu").manual_seed(seed),
                **size,
                **self._options,
            ).images[0]
        return np.asarray(painted.convert("RGB").resize((width, height), Image.Resampling.BICUBIC), np.uint8)
