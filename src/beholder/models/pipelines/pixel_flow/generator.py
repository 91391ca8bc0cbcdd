"""The pixel flow as a trainable generator."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from beholder.models.pipelines.pixel_flow.network import SIDE
from beholder.models.pipelines.pixel_flow.training import load_pixel_flow, word_numbers
from beholder.workers.identity import Identity

STEPS = 16


@dataclass(frozen=True, eq=False)
class PixelFlowContext:
    """The words of some prompts, as numbers."""

    words: torch.Tensor  # (n, longest)


class PixelFlowGenerator:
    """Images of 32 × 32 pixels from a prompt; it satisfies ``TrainableGenerator``."""

    lora_targets = ("to_q", "to_k", "to_v", "to_out", "modulate")
    steps = STEPS

    def __init__(self, folder: Path) -> None:
        network, self._settings = load_pixel_flow(folder)
        self._network: nn.Module = network
        self._name = folder.resolve().name

    @property
    def module(self) -> nn.Module:
        """The network."""
        return self._network

    @module.setter
    def module(self, network: nn.Module) -> None:
        self._network = network

    @property
    def identity(self) -> Identity:
        """Who it is."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self._network.state_dict().items()):
            digest.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        settings = {"side": SIDE, "steps": self.steps}
        return Identity(name=self._name, tasks=("generate",), weights=digest.hexdigest(), settings=settings)

    def noise(self, prompts: Sequence[str], seeds: Sequence[int]) -> torch.Tensor:
        """Standard normal numbers (n, 3, 32, 32), from the seeds."""
        del prompts
        rows = [np.random.default_rng([seed, 24]).standard_normal((3, SIDE, SIDE)) for seed in seeds]
        return torch.from_numpy(np.array(rows, np.float32).reshape(-1, 3, SIDE, SIDE))

    def context(
        self, prompts: Sequence[str], seeds: Sequence[int], without: Sequence[Sequence[int]] | None = None
    ) -> PixelFlowContext:
        """Look the words up."""
        del seeds
        return PixelFlowContext(word_numbers(prompts, self._settings, without))

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, context: PixelFlowContext) -> torch.Tensor:
        """The velocity of pixels from −1 to 1."""
        velocity: torch.Tensor = self._network(latents, times, context.words)
        return velocity

    def times(self, steps: int) -> torch.Tensor:
        """Evenly from 1 to 0."""
        return torch.linspace(1, 0, steps + 1)

    def decode(self, latents: torch.Tensor, context: PixelFlowContext) -> torch.Tensor:
        """Pixels from 0 to 1."""
        del context
        return ((latents + 1) / 2).clamp(0, 1)

    def encode(self, images: torch.Tensor, context: PixelFlowContext) -> torch.Tensor:
        """Pixels from −1 to 1, at 32 × 32."""
        del context
        return functional.interpolate(images, (SIDE, SIDE), mode="area") * 2 - 1
