"""What a scorer is: an automatic metric of one image, with or without its prompt."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.measure.scorers.planes import Planes

if TYPE_CHECKING:
    import torch

Differentiable: TypeAlias = "Callable[[torch.Tensor, Sequence[str]], torch.Tensor]"
"""From images (n, 3, height, width) of 0 to 1 and prompts to scores (n,), with gradients."""

Need = Literal["image", "prompt"]


@dataclass(frozen=True, slots=True)
class ScorerInput:
    """An image, its prompt, or both."""

    image: Image.Image | None = None
    prompt: str | None = None


@dataclass(frozen=True)
class Scorer:
    """Gives each image, prompt, or image with prompt, one number."""

    name: str
    identity: str
    """Name and weights, as results record them."""
    score: Callable[[Sequence[ScorerInput]], NDArray[np.float64]]
    """From inputs to scores (inputs,); may be called by several threads at once."""
    scale: float | None = None
    """σ(scale · difference of two scores) is the probability that raters prefer the higher one, by the scorer's
    own training; ``None`` where it was not trained on raters' choices."""
    threads: Callable[[int], AbstractContextManager[object]] = lambda _: nullcontext()
    """A context in which the scorer's network shares the cores with this number of workers."""
    differentiable: "Differentiable | None" = None
    """The same scores with gradients; ``None`` where there are none."""
    of_planes: Callable[[Planes], float] | None = None
    """The score of one image from its planes, which several scorers share; ``None`` where it needs others."""


def by_pixels(name: str, measure: Callable[[Planes], float]) -> Scorer:
    """A scorer of the pixels of one image at a time."""

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        return np.array([measure(planes_of(scorer_input)) for scorer_input in inputs], np.float64)

    return Scorer(name, name, score, of_planes=measure)


def by_prompt(name: str, measure: Callable[[str], float]) -> Scorer:
    """A scorer of the prompt alone."""

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        return np.array([measure(scorer_input.prompt or "") for scorer_input in inputs], np.float64)

    return Scorer(name, name, score)


def planes_of(scorer_input: ScorerInput) -> Planes:
    """The planes of the image of an input."""
    if scorer_input.image is None:
        raise TypeError("this scorer needs an image")
    return Planes(np.asarray(scorer_input.image.convert("RGB"), np.uint8))
