"""A generator whose every answer is known: its images are one colour each, which the prompt names as a number."""

from collections.abc import Sequence

import torch
from torch import nn

from beholder.improve.tuning.reward import Reward
from beholder.workers.identity import Identity


class OneColour:
    """From any noise it samples the level that stands in the prompt, plus what its one layer has learned.

    With data that are one point μ, the velocity is (x − μ)/t and Euler's method ends at μ exactly. Words of a
    prompt are levels; without a word, its level does not count.
    """

    lora_targets = ("shift",)
    steps = 4

    def __init__(self) -> None:
        torch.manual_seed(0)
        layer = nn.Linear(2, 2, bias=False)
        nn.init.zeros_(layer.weight)
        self.module: nn.Module = nn.Module()
        self.module.shift = layer
        self.module.requires_grad_(requires_grad=False)

    def shift(self, levels: torch.Tensor) -> torch.Tensor:
        """What the layer says, also where a LoRA has taken its place."""
        layer = self.module.shift
        assert isinstance(layer, nn.Module)
        moved = layer(levels)
        assert isinstance(moved, torch.Tensor)
        return moved

    @property
    def identity(self) -> Identity:
        return Identity(name="one colour", tasks=("generate",))

    def noise(self, prompts: Sequence[str], seeds: Sequence[int]) -> torch.Tensor:
        rows = [torch.randn(2, generator=torch.Generator().manual_seed(seed)) for seed in seeds]
        return torch.stack(rows) if prompts else torch.empty(0, 2)

    def context(
        self, prompts: Sequence[str], seeds: Sequence[int], without: Sequence[Sequence[int]] | None = None
    ) -> torch.Tensor:
        del seeds
        left_out = without or [()] * len(prompts)
        return torch.tensor(
            [
                sum(float(word) for place, word in enumerate(prompt.split()) if place not in words)
                for prompt, words in zip(prompts, left_out, strict=True)
            ]
        )

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        levels = context[:, None].expand(-1, 2)
        middle = levels + self.shift(torch.ones_like(levels))
        return (latents - middle) / times[:, None].clamp_min(1e-3)

    def times(self, steps: int) -> torch.Tensor:
        return torch.linspace(1, 0, steps + 1)

    def decode(self, latents: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        del context
        return latents.mean(1)[:, None, None, None].expand(-1, 3, 8, 8)

    def encode(self, images: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        del context
        return images.mean((1, 2, 3))[:, None].expand(-1, 2)


def brightness(images: torch.Tensor, prompts: Sequence[str]) -> torch.Tensor:
    del prompts
    return images.mean((1, 2, 3))


class Drifting(OneColour):
    """Its images are the noise, moved by what its one layer has learned."""

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        del times, context
        return -self.shift(torch.ones_like(latents))


class Elsewhere(OneColour):
    """The same on another device, where numbers have shapes but no values: what is left on the CPU is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.module.to("meta")

    def noise(self, prompts: Sequence[str], seeds: Sequence[int]) -> torch.Tensor:
        return super().noise(prompts, seeds).to("meta")

    def context(
        self, prompts: Sequence[str], seeds: Sequence[int], without: Sequence[Sequence[int]] | None = None
    ) -> torch.Tensor:
        return super().context(prompts, seeds, without).to("meta")

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        return super().velocity(latents, times.to(latents), context)


BRIGHT = Reward(
    "bright", "bright", lambda images, prompts: brightness(images, prompts).double().numpy(), brightness
)
