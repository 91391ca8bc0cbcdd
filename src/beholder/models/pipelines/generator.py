"""A generator whose sampling can be guided and whose weights can be tuned, whatever stands behind it.

Every generator here is a flow: straight paths from clean latents x₀ to noise ε, x_t = (1 − t) x₀ + t ε, and a
network for their velocity ε − x₀. Networks that predict noise along another schedule (α, σ) are such a flow too,
after x ↦ x/(α + σ) and t = σ/(α + σ); a step of Euler's method is then one of DDIM. So sampling, guidance and
every way of tuning is written once, in :mod:`beholder.models.pipelines.sampling` and in ``improve/``.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import torch
from torch import nn

from beholder.workers.identity import Identity

Context: TypeAlias = Any
"""What a generator prepared of prompts and seeds; only that generator looks into it."""

Words: TypeAlias = Sequence[Sequence[int]]
"""For each prompt, positions of words in ``split_words``."""


class TrainableGenerator(Protocol):
    """Makes images from prompts and seeds, with gradients."""

    @property
    def identity(self) -> Identity:
        """Who it is: name, hash of the weights, settings."""
        ...

    @property
    def module(self) -> nn.Module:
        """The network of the velocity: what is tuned."""
        ...

    @property
    def lora_targets(self) -> tuple[str, ...]:
        """Names of the layers of ``module`` that a LoRA is added to."""
        ...

    @property
    def steps(self) -> int:
        """Steps in which it usually samples."""
        ...

    def noise(self, prompts: Sequence[str], seeds: Sequence[int]) -> torch.Tensor:
        """The noise (n, …) that sampling starts from; equal seeds give equal noise."""
        ...

    def context(self, prompts: Sequence[str], seeds: Sequence[int], without: Words | None = None) -> Context:
        """What the network is conditioned on; ``without`` names words of each prompt that are left out."""
        ...

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, context: Context) -> torch.Tensor:
        """The velocity ε − x₀ at latents (n, …) and times (n,)."""
        ...

    def times(self, steps: int) -> torch.Tensor:
        """The times (steps + 1,) that sampling passes through, from about 1 down to 0."""
        ...

    def decode(self, latents: torch.Tensor, context: Context) -> torch.Tensor:
        """Images (n, 3, height, width) from 0 to 1, of clean latents."""
        ...

    def encode(self, images: torch.Tensor, context: Context) -> torch.Tensor:
        """The clean latents of images (n, 3, height, width) from 0 to 1."""
        ...
