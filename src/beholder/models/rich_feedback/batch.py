"""Images with everything that people said of them, as the model is trained on them."""

from dataclasses import dataclass, replace
from typing import Self

import torch


@dataclass(frozen=True, eq=False)
class RichBatch:
    """One row an image; what nobody was asked is nan (maps, scores) or None (words)."""

    pixels: torch.Tensor
    """(images, 3, side, side); or what a frozen encoder sees of them, (images, dims)."""
    prompts: tuple[str, ...]
    heatmaps: torch.Tensor
    """Shares of people who marked each pixel, (images, aspects, map side, map side)."""
    scores: torch.Tensor
    """Mean scores from 0 to 1, (images, aspects)."""
    misaligned: tuple[tuple[bool, ...] | None, ...]
    """For each image whether each word of its prompt was missed."""
    only_naming: bool = False
    """Whether nothing but which words the images show is to be learnt from it."""

    def __len__(self) -> int:
        return len(self.prompts)

    def to(self, device: torch.device) -> Self:
        """The same batch on another device."""
        return replace(
            self,
            pixels=self.pixels.to(device),
            heatmaps=self.heatmaps.to(device),
            scores=self.scores.to(device),
        )
