"""What judges images by their prompts: a network in three steps, so that no step is done twice.

What is made of a prompt is one row of numbers whatever the network: the vector of a two-tower model, or the tokens
for a text encoder that must see the image.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import nn

from beholder.models.encoders.preprocessing import Preprocessing


class Judge(Protocol):
    """A network that scores an image for a prompt; all tensors lie on the device of its module."""

    @property
    def module(self) -> nn.Module:
        """Everything with weights."""
        ...

    @property
    def preprocessing(self) -> Preprocessing:
        """How images are brought to the network's size and range."""
        ...

    @property
    def scale(self) -> float:
        """σ(scale · difference of scores) is the chance, as it was trained, that the higher one is preferred."""
        ...

    def read(self, prompts: Sequence[str]) -> torch.Tensor:
        """A row for each prompt, all of the same length."""
        ...

    def look(self, pixels: torch.Tensor) -> torch.Tensor:
        """What is made of prepared images (images, 3, side, side), one entry each."""
        ...

    def judge(self, images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        """Scores (n,) of n images for the prompts of the same rows; more is better."""
        ...
