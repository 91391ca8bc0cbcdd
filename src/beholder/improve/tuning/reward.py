"""What is optimised: a scorer as a reward, with gradients where it has them; more is always better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from beholder.scorers.catalogue import load_scorer, recipe_of, trained_folder
from beholder.scorers.rich.reward import load_feedback
from beholder.scorers.scorer import ScorerInput

MAP = "-map"
"""Ending of an aspect that stands for its predicted heatmap, as in ``FOLDER:implausibility-map``."""

Gradients = Callable[[torch.Tensor, Sequence[str]], torch.Tensor]
"""From images (n, 3, height, width) of 0 to 1 and prompts to rewards (n,), with gradients."""


@dataclass(frozen=True, eq=False)
class Reward:
    """A scorer as a reward."""

    name: str
    identity: str
    plain: Callable[[torch.Tensor, Sequence[str]], NDArray[np.float64]]
    """From images and prompts to rewards (n,), of the images as they would be saved."""
    gradients: Gradients | None
    """The same with gradients; ``None`` where the scorer has none."""
    sign: float = 1.0
    """−1 where lower scores are better; rewards have it applied already."""


def load_reward(name: str, device: str | None = None) -> Reward:
    """The reward of a scorer by name, or of a trained model: ``FOLDER``, ``FOLDER:ASPECT``, ``FOLDER:ASPECT-map``.

    A heatmap is a reward by its mean: less of the image predicted to be implausible is better.
    """
    folder_and_aspect = trained_folder(name)
    if folder_and_aspect is not None and (folder_and_aspect[1] or "").endswith(MAP):
        return _map_reward(name, device)
    sign = -1.0 if recipe_of(name).better == "lower" else 1.0
    scorer = load_scorer(name, device=device)

    def plain(images: torch.Tensor, prompts: Sequence[str]) -> NDArray[np.float64]:
        inputs = [ScorerInput(image, prompt) for image, prompt in zip(pictures(images), prompts, strict=True)]
        parts = [scorer.score(inputs[start : start + 16]) for start in range(0, len(inputs), 16)]
        return sign * np.concatenate(parts)

    differentiable = scorer.differentiable
    if differentiable is None:
        return Reward(name, scorer.identity, plain, None, sign)

    def gradients(images: torch.Tensor, prompts: Sequence[str]) -> torch.Tensor:
        return sign * differentiable(images, prompts)

    return Reward(name, scorer.identity, plain, gradients, sign)


def _map_reward(name: str, device: str | None) -> Reward:
    folder_and_aspect = trained_folder(name)
    assert folder_and_aspect is not None
    aspect = (folder_and_aspect[1] or "").removesuffix(MAP)
    model = load_feedback(folder_and_aspect[0], device)

    def gradients(images: torch.Tensor, prompts: Sequence[str]) -> torch.Tensor:
        return -model.with_gradients(images, prompts).heatmaps[aspect].mean((1, 2))

    def plain(images: torch.Tensor, prompts: Sequence[str]) -> NDArray[np.float64]:
        with torch.no_grad():
            return np.asarray(gradients(images, prompts).double().cpu().numpy(), np.float64)

    return Reward(name, name, plain, gradients, -1.0)


def pictures(images: torch.Tensor) -> list[Image.Image]:
    """Images (n, 3, height, width) of 0 to 1 as they are saved."""
    return [Image.fromarray(pixels) for pixels in to_bytes(images)]


def to_bytes(images: torch.Tensor) -> NDArray[np.uint8]:
    """Images (n, 3, height, width) of 0 to 1 as bytes, (n, height, width, 3)."""
    rounded = (images.detach().movedim(1, -1) * 255 + 0.5).clamp(0, 255).to(torch.uint8)
    return np.asarray(rounded.cpu().numpy(), np.uint8)
