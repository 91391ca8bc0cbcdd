"""The network of the pixel flow: a U-Net over 32 × 32 pixels that attends to the words of the prompt.

Sides of 32, 16 and 8 pixels; at 16 and 8 each pixel attends to the words, and at 8 also to all other pixels, so
that objects can be counted and kept apart. The words are read by one bidirectional layer, so that a colour knows
its object.
"""

import math

import torch
from pydantic import Field
from torch import nn
from torch.nn import functional

from beholder.study.question import Settings

SIDE = 32
CLOCK = 64


class PixelFlowSettings(Settings):
    """What the network is built from."""

    vocabulary: tuple[str, ...] = Field((), description="the words that it knows")
    widths: tuple[int, int, int] = Field((32, 64, 112), description="channels at 32, 16 and 8 pixels")
    text: int = Field(96, ge=8, description="width of a word")
    longest: int = Field(24, ge=1, description="words of a prompt that are read")


class PixelFlowNetwork(nn.Module):
    """The velocity of images (n, 3, 32, 32) at times (n,), given word numbers (n, words); 0 is no word."""

    def __init__(self, settings: PixelFlowSettings) -> None:
        super().__init__()
        first, second, third = settings.widths
        text, state = settings.text, 2 * third
        self.words = nn.Embedding(len(settings.vocabulary) + 2, text, padding_idx=0)
        self.places = nn.Parameter(0.02 * torch.randn(settings.longest, text))
        self.reader = nn.TransformerEncoderLayer(text, 4, 2 * text, 0.0, batch_first=True, norm_first=True)
        self.clock = nn.Sequential(nn.Linear(CLOCK, state), nn.SiLU(), nn.Linear(state, state))
        self.summary = nn.Linear(text, state)
        self.enter = nn.Conv2d(3, first, 3, padding=1)
        self.down_first = _Block(first, first, state)
        self.down_second = _Block(first, second, state)
        self.look_second = _Look(second, text)
        self.down_third = _Block(second, third, state)
        self.look_third = _Look(third, text)
        self.mix = _Look(third, third)
        self.middle = _Block(third, third, state)
        self.up_third = _Block(2 * third, second, state)
        self.look_up = _Look(second, text)
        self.up_second = _Block(2 * second, first, state)
        self.up_first = _Block(2 * first, first, state)
        self.leave = nn.Sequential(nn.GroupNorm(8, first), nn.SiLU(), nn.Conv2d(first, 3, 3, padding=1))

    def forward(self, images: torch.Tensor, times: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Return the velocity."""
        read, absent = self._read(words)
        here = (~absent)[..., None].float()
        state = self.clock(_spread(times)) + self.summary((read * here).sum(1) / here.sum(1).clamp_min(1))
        at_32 = self.down_first(self.enter(images), state)
        at_16 = self.look_second(self.down_second(functional.avg_pool2d(at_32, 2), state), read, absent)
        at_8 = self.look_third(self.down_third(functional.avg_pool2d(at_16, 2), state), read, absent)
        maps = self.middle(self.mix(at_8), state)
        maps = self.look_up(self.up_third(torch.cat([maps, at_8], 1), state), read, absent)
        maps = self.up_second(torch.cat([functional.interpolate(maps, scale_factor=2.0), at_16], 1), state)
        maps = self.up_first(torch.cat([functional.interpolate(maps, scale_factor=2.0), at_32], 1), state)
        velocity: torch.Tensor = self.leave(maps)
        return velocity

    def _read(self, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the words in their context (n, words, text), and where there are none (n, words)."""
        absent = words == 0
        embedded = self.words(words) + self.places[: words.shape[1]]
        read: torch.Tensor = self.reader(embedded, src_key_padding_mask=absent)
        return read, absent


def _spread(times: torch.Tensor) -> torch.Tensor:
    """Return sines and cosines of times (n,) in 0 to 1; (n, CLOCK)."""
    rates = torch.exp(torch.arange(CLOCK // 2, device=times.device) * (math.log(256) / (CLOCK // 2 - 1)))
    angles = times[:, None] * rates * (math.pi / 2)
    return torch.cat([angles.sin(), angles.cos()], 1)


class _Block(nn.Module):
    """Two convolutions with a bypass; the state shifts and scales in between."""

    def __init__(self, before: int, after: int, state: int) -> None:
        super().__init__()
        self.enter = nn.Sequential(nn.GroupNorm(8, before), nn.SiLU(), nn.Conv2d(before, after, 3, padding=1))
        self.norm = nn.GroupNorm(8, after)
        self.modulate = nn.Linear(state, 2 * after)
        self.leave = nn.Conv2d(after, after, 3, padding=1)
        self.bypass = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, maps: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        scale, shift = self.modulate(functional.silu(state))[:, :, None, None].chunk(2, 1)
        hidden = functional.silu(self.norm(self.enter(maps)) * (1 + scale) + shift)
        total: torch.Tensor = self.bypass(maps) + self.leave(hidden)
        return total


class _Look(nn.Module):
    """Every pixel attends to the words of the prompt, or, without words, to all pixels."""

    def __init__(self, width: int, text: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(8, width)
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(text, width)
        self.to_v = nn.Linear(text, width)
        self.to_out = nn.Linear(width, width)

    def forward(
        self, maps: torch.Tensor, words: torch.Tensor | None = None, absent: torch.Tensor | None = None
    ) -> torch.Tensor:
        pixels = self.norm(maps).flatten(2).transpose(1, 2)  # (n, pixels, width)
        looked_at = pixels if words is None else words
        attended = functional.scaled_dot_product_attention(
            self._split(self.to_q(pixels)),
            self._split(self.to_k(looked_at)),
            self._split(self.to_v(looked_at)),
            attn_mask=None if absent is None else ~absent[:, None, None, :],
        )
        attending = self.to_out(attended.transpose(1, 2).flatten(2))
        total: torch.Tensor = maps + attending.transpose(1, 2).reshape(maps.shape)
        return total

    def _split(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors.reshape(*vectors.shape[:2], self.heads, -1).transpose(1, 2)
