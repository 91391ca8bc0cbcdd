"""What a scorer is: an automatic metric of one image, with or without its prompt."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import UserError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.in_memory import InMemory, pixels_of
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.training_images import TrainingImages
from beholder.scorers.planes import Planes

if TYPE_CHECKING:
    import torch

Differentiable: TypeAlias = "Callable[[torch.Tensor, Sequence[str]], torch.Tensor]"
"""From images (n, 3, height, width) of 0 to 1 and prompts to scores (n,), with gradients."""

Need = Literal["image", "prompt"]

BATCH = 16
"""Images that are scored at a time where they come from memory."""


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
    encoders: tuple[Encoder, ...] = ()
    """The encoders whose vectors it scores; several scorers, and distances, share one forward pass of each."""
    of_vectors: Callable[[Vectors, Sequence[str | None]], NDArray[np.float64]] | None = None
    """From the encoders' vectors side by side, (images, sum of dims), and prompts to scores (images,)."""
    training_images: TrainingImages | None = None
    """What it was trained on, where that is recorded: its scores of these images are not held out."""
    remark: str | None = None
    """How to read its scores, in a sentence."""

    def __call__(
        self,
        images: InMemory | Sequence[InMemory] | None = None,
        prompts: str | Sequence[str] | None = None,
        *,
        background: str = DEFAULT_BACKGROUND,
    ) -> NDArray[np.float64]:
        """Score images in memory.

        Args:
            images: Pillow images, arrays with channels last or tensors with channels first, of bytes or of numbers
                from 0 to 1; left out for a scorer of prompts alone.
            prompts: One for all images, or one for each; left out where the scorer needs none.
            background: What transparent images are flattened on, as #rrggbb.

        Returns:
            One score per image, (images,).
        """
        pictures = [] if images is None else pixels_of(images, background)
        texts = [prompts] * max(len(pictures), 1) if prompts is None or isinstance(prompts, str) else list(prompts)
        if pictures and len(texts) != len(pictures):
            raise UserError(f"{len(texts)} prompts for {len(pictures)} images; give one for all, or one for each")
        inputs = [
            ScorerInput(Image.fromarray(pictures[place]) if pictures else None, text)
            for place, text in enumerate(texts)
        ]
        batched = [self.score(inputs[start : start + BATCH]) for start in range(0, len(inputs), BATCH)]
        return np.concatenate(batched)

    def reward(self, images: "torch.Tensor", prompts: str | Sequence[str]) -> "torch.Tensor":
        """Score images with gradients, as a reward to optimise; preference scorers and similar networks have them.

        Args:
            images: A tensor (n, 3, height, width) of numbers from 0 to 1.
            prompts: One for all images, or one for each.

        Returns:
            One score per image, (n,), through which gradients flow back to the pixels.
        """
        if self.differentiable is None:
            raise UserError(f"scorer '{self.name}' has no gradients; preference models do, such as hps-v2")
        texts = [prompts] * len(images) if isinstance(prompts, str) else list(prompts)
        if len(texts) != len(images):
            raise UserError(f"{len(texts)} prompts for {len(images)} images; give one for all, or one for each")
        return self.differentiable(images, texts)


def by_pixels(name: str, measure: Callable[[Planes], float]) -> Scorer:
    """A scorer of the pixels of one image at a time."""

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        return np.array([measure(planes_of(scorer_input)) for scorer_input in inputs], np.float64)

    return Scorer(name, name, score, of_planes=measure)


def by_vectors(
    name: str,
    identity: str,
    encoders: tuple[Encoder, ...],
    of_vectors: Callable[[Vectors, Sequence[str | None]], NDArray[np.float64]],
    training_images: TrainingImages | None = None,
    remark: str | None = None,
) -> Scorer:
    """A scorer of the vectors of encoders, and maybe of the prompt."""

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        images = [scorer_input.image.convert("RGB") for scorer_input in inputs if scorer_input.image is not None]
        vectors = [
            encoder.network(np.stack([encoder.preprocessing.prepare(image) for image in images]))
            for encoder in encoders
        ]
        return of_vectors(np.concatenate(vectors, axis=1), [scorer_input.prompt for scorer_input in inputs])

    return Scorer(
        name,
        identity,
        score,
        threads=encoders[0].threads,
        encoders=encoders,
        of_vectors=of_vectors,
        training_images=training_images,
        remark=remark,
    )


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
