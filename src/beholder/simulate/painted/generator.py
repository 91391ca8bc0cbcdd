"""The painted generator: prompts of the synthetic world, a flow over latents, and the world's renderer.

It satisfies ``TrainableGenerator`` of :mod:`beholder.models.pipelines.generator`, and knows the ground truth of
every image that it makes, before and after any change.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from beholder.simulate.grammar import Attribute, Request, stated
from beholder.simulate.painted.canvas import Canvas, canvas
from beholder.simulate.painted.flow import PaintedFlow, load_base
from beholder.simulate.painted.habits import Circumstances, features
from beholder.simulate.painted.latents import DIMS
from beholder.simulate.painted.picture import picture
from beholder.simulate.painted.rendering import Canvases, render_tensors, stack_canvases
from beholder.simulate.painter import Picture
from beholder.workers.identity import Identity

SIZE = 96
"""Pixels of a side, unless another size is asked for."""
STEPS = 12


@dataclass(frozen=True, eq=False)
class PaintedContext:
    """The canvases of some images, and the features that their flow is conditioned on."""

    canvases: list[Canvas]
    tensors: Canvases
    features: torch.Tensor  # (n, features)
    prompts: tuple[str, ...]
    seeds: tuple[int, ...]


class PaintedGenerator:
    """Images of the synthetic world from a flow over the strengths of their flaws."""

    lora_targets = ("first", "second", "third", "last")
    steps = STEPS

    def __init__(self, flow: PaintedFlow | None = None, *, size: int = SIZE) -> None:
        self._flow: nn.Module = flow or load_base()
        self._base = load_base().requires_grad_(requires_grad=False)
        self._size = size

    @property
    def module(self) -> nn.Module:
        """The flow."""
        return self._flow

    @module.setter
    def module(self, flow: nn.Module) -> None:
        self._flow = flow

    @property
    def identity(self) -> Identity:
        """Who it is."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self._flow.state_dict().items()):
            digest.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        settings = {"size": self._size, "steps": self.steps}
        return Identity(name="painted", tasks=("generate",), weights=digest.hexdigest(), settings=settings)

    def noise(self, prompts: Sequence[str], seeds: Sequence[int]) -> torch.Tensor:
        """Standard normal numbers (n, dims), from each seed and its prompt."""
        rows = [_rng(prompt, seed).standard_normal(DIMS) for prompt, seed in zip(prompts, seeds, strict=True)]
        return torch.from_numpy(np.array(rows, np.float32).reshape(len(rows), DIMS))

    def context(
        self, prompts: Sequence[str], seeds: Sequence[int], without: Sequence[Sequence[int]] | None = None
    ) -> PaintedContext:
        """Lay the scenes out; attributes that one of the words ``without`` states are not heard."""
        canvases = [canvas(prompt, seed, self._size) for prompt, seed in zip(prompts, seeds, strict=True)]
        words = without or [()] * len(canvases)
        rows = [
            features(
                Circumstances(drawn.request, drawn.kinds, drawn.candidates, _unheard(drawn.request, left_out))
            )
            for drawn, left_out in zip(canvases, words, strict=True)
        ]
        conditions = torch.from_numpy(np.stack(rows))
        return PaintedContext(canvases, stack_canvases(canvases), conditions, tuple(prompts), tuple(seeds))

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, context: PaintedContext) -> torch.Tensor:
        """The velocity of latents divided by their scale."""
        velocity: torch.Tensor = self._flow(latents, times, context.features)
        return velocity

    def times(self, steps: int) -> torch.Tensor:
        """Evenly from 1 to 0."""
        return torch.linspace(1, 0, steps + 1)

    def decode(self, latents: torch.Tensor, context: PaintedContext) -> torch.Tensor:
        """Render, with gradients."""
        return render_tensors(context.tensors, latents * self._base.scale)

    def encode(self, images: torch.Tensor, context: PaintedContext) -> torch.Tensor:
        """The latents of its own images as it made them before any change, from their prompts and seeds."""
        del images
        latents, times = self.noise(context.prompts, context.seeds), self.times(self.steps)
        with torch.no_grad():
            for step in range(self.steps):
                velocity = self._base(latents, times[step].expand(len(latents)), context.features)
                latents = latents + (times[step + 1] - times[step]) * velocity
        return latents

    def pictures(self, latents: torch.Tensor, context: PaintedContext) -> list[Picture]:
        """The images as they are saved, with their ground truth."""
        rows = (latents.detach() * self._base.scale).cpu().numpy()
        return [picture(drawn, row) for drawn, row in zip(context.canvases, rows, strict=True)]


def _rng(prompt: str, seed: int) -> np.random.Generator:
    digest = hashlib.sha256(prompt.encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8], "big"), 23])


def _unheard(request: Request, words: Sequence[int]) -> frozenset[Attribute]:
    left_out = set(words)
    return frozenset(attribute for attribute, places in stated(request).items() if left_out.intersection(places))
