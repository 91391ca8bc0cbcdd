"""Pipelines of diffusers as trainable generators: Stable Diffusion, SDXL, SD3 and Flux as flows of latents.

Importing diffusers takes some 15 seconds of processor time, so this module is imported in worker processes and by
the commands that tune such a pipeline only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from beholder.models.pipelines.families import FAMILIES, Family, Prepared
from beholder.models.pipelines.loading import LoadedPipeline
from beholder.study.words import split_words
from beholder.workers.identity import Identity

STEPS = 20
GUIDANCE = 5.0


@dataclass(frozen=True, eq=False)
class PipelineContext:
    """The encoded prompts, and the encoded empty prompt where guidance needs it."""

    prompts: Prepared
    empty: Prepared | None


class PipelineGenerator:
    """A pipeline of diffusers; it satisfies ``TrainableGenerator``."""

    lora_targets = ("to_q", "to_k", "to_v", "to_out.0")

    def __init__(
        self, loaded: LoadedPipeline, *, steps: int = STEPS, guidance: float = GUIDANCE, size: int | None = None
    ) -> None:
        """``guidance`` is that of classifier-free guidance; 1 leaves it out, and halves the time."""
        self._loaded = loaded
        self._family: Family = FAMILIES[type(loaded.pipeline).__name__](loaded.pipeline, size)
        self._guidance = guidance
        self.steps = steps
        for part in loaded.pipeline.components.values():
            if isinstance(part, nn.Module):
                part.requires_grad_(requires_grad=False).eval()

    @property
    def identity(self) -> Identity:
        """Who it is."""
        settings = {"steps": self.steps, "guidance": self._guidance, "size": self._family.size}
        weights = self._loaded.weights
        return Identity(name=self._loaded.name, tasks=("generate",), weights=weights, settings=settings)

    @property
    def module(self) -> nn.Module:
        """The U-Net or the transformer."""
        return self._family.network

    def noise(self, prompts: Sequence[str], seeds: Sequence[int]) -> torch.Tensor:
        """Noise of the latents' shape, from generators on the CPU."""
        del prompts
        rows = [
            torch.randn(self._family.shape, generator=torch.Generator("cpu").manual_seed(seed)) for seed in seeds
        ]
        return self._family.scale_noise(torch.stack(rows).to(self._loaded.device))

    def context(
        self, prompts: Sequence[str], seeds: Sequence[int], without: Sequence[Sequence[int]] | None = None
    ) -> PipelineContext:
        """Encode the prompts; words ``without`` are cut out of them."""
        del seeds
        texts = list(prompts)
        if without is not None:
            texts = [_cut(prompt, words) for prompt, words in zip(prompts, without, strict=True)]
        with torch.no_grad():
            empty = self._family.encode_prompts([""] * len(texts)) if self._guidance != 1 else None
            return PipelineContext(self._family.encode_prompts(texts), empty)

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, context: PipelineContext) -> torch.Tensor:
        """The velocity, with classifier-free guidance."""
        velocity = self._family.velocity(latents, times, context.prompts)
        if context.empty is None:
            return velocity
        plain = self._family.velocity(latents, times, context.empty)
        return plain + self._guidance * (velocity - plain)

    def times(self, steps: int) -> torch.Tensor:
        """The times of the pipeline's own scheduler, and 0."""
        return self._family.times(steps)

    def decode(self, latents: torch.Tensor, context: PipelineContext) -> torch.Tensor:
        """Decode by the autoencoder."""
        del context
        coder = self._loaded.pipeline.vae
        shift = getattr(coder.config, "shift_factor", None) or 0.0
        images: torch.Tensor = coder.decode(latents / coder.config.scaling_factor + shift, return_dict=False)[0]
        return (images / 2 + 0.5).clamp(0, 1)

    def encode(self, images: torch.Tensor, context: PipelineContext) -> torch.Tensor:
        """Encode by the autoencoder: the mean of its latents."""
        del context
        coder = self._loaded.pipeline.vae
        shift = getattr(coder.config, "shift_factor", None) or 0.0
        with torch.no_grad():
            mean: torch.Tensor = coder.encode(images.to(self._loaded.device) * 2 - 1).latent_dist.mean
        latents: torch.Tensor = (mean - shift) * coder.config.scaling_factor
        return latents

    def export_lora(self, folder: Path, layers: dict[str, Any]) -> None:
        """Write a LoRA of the network as diffusers reads it, for ``beholder generate`` and other programs."""
        part = "unet" if hasattr(self._loaded.pipeline, "unet") else "transformer"
        type(self._loaded.pipeline).save_lora_weights(folder, **{f"{part}_lora_layers": layers})


def _cut(prompt: str, words: Sequence[int]) -> str:
    left_out = set(words)
    return " ".join(word for place, word in enumerate(split_words(prompt)) if place not in left_out)
