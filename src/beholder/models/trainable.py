"""The interface between trainer and models: what a model offers, and batches of images with raters' judgements.

A model that learns from judgements of images is a module of this package that satisfies :class:`Trainable` for
:class:`Batch`, and a line in ``architectures.py``. One that learns from something else (heatmaps, keywords) brings
its own type of batch: the trainer only moves batches to the device.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn

from beholder.models.division import Division
from beholder.models.encoders.encoder import Encoder
from beholder.tables.provenance import Plain

Config = Mapping[str, Plain]
"""Everything needed to rebuild a model except its weights, as plain JSON."""

Groups = list[dict[str, object]]
"""Parameter groups of torch's optimisers: ``params``, and optionally ``lr`` and ``weight_decay``."""


UNKNOWN_GENERATOR = -1
"""Number of a generator that is not known."""


class Movable(Protocol):
    """A batch that can be moved to another device."""

    def to(self, device: torch.device) -> Self:
        """The same batch on that device."""
        ...


Batch_contra = TypeVar("Batch_contra", bound=Movable, contravariant=True)
"""The type of batch that a model is trained on."""


class Trainable(Protocol[Batch_contra]):
    """A model, its loss and its predictions.

    ``loss`` and ``predict`` run ``module`` on what a batch holds, on the device where both are; the trainer sets
    train and eval mode, precision and gradients. Frozen parameters are those that do not require gradients.
    """

    @property
    def module(self) -> nn.Module:
        """All weights; a checkpoint holds its ``state_dict``."""
        ...

    @property
    def config(self) -> Config:
        """What ``architectures.py`` builds the same model from, without its weights."""
        ...

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:
        """One decoded RGB image as input of the module; lightly augmented where ``rng`` is given (training)."""
        ...

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """The trainable parameters; most models return :func:`decayed_groups`."""
        ...

    def loss(self, batch: Batch_contra) -> torch.Tensor:
        """The loss, a scalar with a gradient.

        Of a part of a batch it is weighted by :func:`beholder.models.division.part_weight`, so that the mean over
        the parts is the loss of the batch.
        """
        ...

    def predict(self, batch: Batch_contra) -> Mapping[str, torch.Tensor]:
        """For each aspect a score of every image of the batch, (images,); more is better."""
        ...

    def after_step(self) -> None:
        """Called after each step of the optimiser, for example to clamp a temperature."""
        ...


@runtime_checkable
class UsesEncoders(Protocol):
    """A model on top of frozen encoders, whose features are computed once and cached.

    ``prepare`` returns the concatenated vectors of these encoders.
    """

    @property
    def encoders(self) -> Sequence[Encoder]:
        """The frozen encoders; none where the model takes pixels after all."""
        ...


@runtime_checkable
class ComparesImages(Protocol):
    """A model whose loss may compare all images of a batch with each other, so that processes cannot share one."""

    @property
    def compares_images(self) -> bool:
        """Whether it does, by its settings."""
        ...


@runtime_checkable
class SkipsHeads(Protocol):
    """A model that leaves out heads without labels in a batch, so that their parameters get no gradient."""

    @property
    def skips_heads(self) -> bool:
        """Whether it does, by its settings."""
        ...


@runtime_checkable
class Calibratable(Protocol):
    """A model whose predictions are probabilities, calibrated to raters' answers after training."""

    def calibrate(self, batches: Iterable["Batch"]) -> None:
        """Fit the calibration to labelled images that were held out of training; it is part of the weights."""
        ...


@runtime_checkable
class ClipsApart(Protocol):
    """A model of several networks that share nothing: the gradients of each are clipped by themselves."""

    @property
    def clipped_apart(self) -> Sequence[Sequence[nn.Parameter]]:
        """The parameters of each network."""
        ...


@runtime_checkable
class MeasuresFirst(Protocol):
    """A model that measures what it standardises by on training images before the first step."""

    def measure(self, batches: Iterable["Batch"]) -> None:
        """Measure it on some training images, which are not augmented; it belongs to the weights."""
        ...


@runtime_checkable
class Completed(Protocol):
    """A model of which a part is fitted to all training images at once, after the last step."""

    def complete(self, batches: Iterable["Batch"]) -> None:
        """Fit that part to the training images, which are not augmented; it belongs to the weights."""
        ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Images with their prompts, the pairs among them that raters compared, and the raters' mean ratings.

    A ranking of n images is n(n − 1)/2 pairs; an image or prompt that occurs several times is held once.
    """

    prompts: tuple[str, ...]
    """The distinct prompts."""
    pixels: torch.Tensor
    """The prepared images, (images, …)."""
    prompt_of: torch.Tensor
    """Index of each image's prompt in ``prompts``, (images,) int64."""
    pairs: torch.Tensor
    """Indices of two images of one prompt that were compared, (pairs, 2) int64; empty where there are none."""
    soft_labels: torch.Tensor
    """Proportion of votes for the first of the pair, (pairs,): 1 or 0 for hard labels, ½ for a tie."""
    pair_weights: torch.Tensor
    """How much each pair counts, (pairs,); PickScore: 1 / the number of its prompt's pairs."""
    aspects: tuple[str, ...]
    """What was rated."""
    ratings: torch.Tensor
    """Raters' mean rating of each image, (images, aspects); nan where it was not rated."""
    answers: torch.Tensor
    """Number of answers behind each rating, (images, aspects); 0 where there are none or it is unknown."""
    division: Division["Batch"] | None = None
    """Where this is a part of a batch: its place in it."""
    generator_of: torch.Tensor | None = None
    """Number of each image's generator among those of the training images, (images,) int64; only in training.

    ``UNKNOWN_GENERATOR`` where it is not known.
    """

    def to(self, device: torch.device) -> Self:
        """The same batch on another device."""
        return replace(
            self,
            pixels=self.pixels.to(device),
            prompt_of=self.prompt_of.to(device),
            pairs=self.pairs.to(device),
            soft_labels=self.soft_labels.to(device),
            pair_weights=self.pair_weights.to(device),
            ratings=self.ratings.to(device),
            answers=self.answers.to(device),
            generator_of=None if self.generator_of is None else self.generator_of.to(device),
        )


def decayed_groups(
    parameters: Sequence[tuple[str, nn.Parameter]] | nn.Module, learning_rate: float, weight_decay: float
) -> Groups:
    """Two groups of the parameters that require gradients: matrices decay; norms, biases and scalars don't.

    As in CLIP and HPS v2: what has fewer than two dimensions is not decayed.
    """
    named = list(parameters.named_parameters()) if isinstance(parameters, nn.Module) else parameters
    learning = [parameter for _, parameter in named if parameter.requires_grad]
    matrices = [parameter for parameter in learning if parameter.ndim >= 2]
    others = [parameter for parameter in learning if parameter.ndim < 2]
    groups: Groups = [
        {"params": matrices, "lr": learning_rate, "weight_decay": weight_decay},
        {"params": others, "lr": learning_rate, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def last_blocks(blocks: nn.ModuleList, count: int | None, published: tuple[int, int]) -> list[nn.Module]:
    """The last ``count`` blocks of a network; by default the proportion ``published`` of them, rounded up."""
    trained, published_blocks = published
    chosen = -(-len(blocks) * trained // published_blocks) if count is None else min(count, len(blocks))
    return list(blocks)[len(blocks) - chosen :]
