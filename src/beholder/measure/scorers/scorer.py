"""What a scorer is: an automatic judge of one image, maybe with its prompt."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

if TYPE_CHECKING:
    import torch

Differentiable: TypeAlias = "Callable[[torch.Tensor, Sequence[str]], torch.Tensor]"
"""From images (n, 3, height, width) of 0 to 1 and prompts to scores (n,), with gradients."""

Pixels = NDArray[np.uint8]
"""An image in RGB: (height, width, 3)."""

Need = Literal["image", "prompt"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a scorer is shown."""

    image: Image.Image | None = None
    prompt: str | None = None


@dataclass(frozen=True)
class Scorer:
    """From images, prompts or both to one number each."""

    name: str
    identity: str
    """Name and weights, as results record them."""
    judge: Callable[[Sequence[Shown]], NDArray[np.float64]]
    """May be called by several threads at once."""
    scale: float | None = None
    """σ(scale · difference of two scores) is the chance that people prefer the higher one, by the scorer's own
    training; ``None`` where it was not trained on people's choices."""
    threads: Callable[[int], AbstractContextManager[object]] = lambda _: nullcontext()
    """Within it, the scorer's network shares the cores with so many others of its kind."""
    differentiable: "Differentiable | None" = None
    """The same scores with gradients; ``None`` where there are none."""


def by_pixels(name: str, measure: Callable[[Pixels], float]) -> Scorer:
    """A scorer that looks at one image at a time, and at nothing else."""

    def judge(shown: Sequence[Shown]) -> NDArray[np.float64]:
        return np.array([measure(_pixels(one)) for one in shown], np.float64)

    return Scorer(name, name, judge)


def by_prompt(name: str, measure: Callable[[str], float]) -> Scorer:
    """A scorer that looks at the prompt alone."""

    def judge(shown: Sequence[Shown]) -> NDArray[np.float64]:
        return np.array([measure(one.prompt or "") for one in shown], np.float64)

    return Scorer(name, name, judge)


def _pixels(shown: Shown) -> Pixels:
    if shown.image is None:
        raise TypeError("this scorer needs an image")
    return np.asarray(shown.image.convert("RGB"), np.uint8)
