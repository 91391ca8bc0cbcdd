"""What the trainer asks of a model, and what it hands to it: batches of images with people's judgements.

A model that learns from judgements of images is a file beside this one that satisfies :class:`Trainable` for
:class:`Batch`, and a line in ``architectures.py``. One that learns from something else (heatmaps, words) brings a
batch of its own: the trainer only moves batches to the device.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn

from beholder.models.encoders.encoder import Encoder
from beholder.tables.provenance import Plain

Config = Mapping[str, Plain]
"""All that is needed to build a model again, as plain JSON; the weights come from a file of tensors."""

Groups = list[dict[str, object]]
"""Groups of parameters as torch's optimisers take them: ``params``, and maybe ``lr`` and ``weight_decay``."""


class Movable(Protocol):
    """A batch: it can be brought to another device."""

    def to(self, device: torch.device) -> Self:
        """The same batch there."""
        ...


Fed_contra = TypeVar("Fed_contra", bound=Movable, contravariant=True)
"""What a model is fed with."""


class Trainable(Protocol[Fed_contra]):
    """A model, its loss and its predictions.

    ``loss`` and ``predict`` run ``module`` on what a batch holds, on the device where both are; the trainer sets
    train and eval mode, precision and gradients. Frozen parameters are those that do not require gradients.
    """

    @property
    def module(self) -> nn.Module:
        """Everything with weights; its ``state_dict`` is what a checkpoint keeps."""
        ...

    @property
    def config(self) -> Config:
        """What ``architectures.py`` builds the same model from, without its weights."""
        ...

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:
        """One decoded RGB image as the module takes it; light augmentation where ``rng`` is given (training)."""
        ...

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """The parameters that learn; most models return :func:`decayed_groups`."""
        ...

    def loss(self, batch: Fed_contra) -> torch.Tensor:
        """The loss, one number with a gradient."""
        ...

    def predict(self, batch: Fed_contra) -> Mapping[str, torch.Tensor]:
        """For each aspect a score of every image of the batch, (images,); more is better."""
        ...

    def after_step(self) -> None:
        """What follows each step of the optimiser, such as clamping a temperature."""
        ...


@runtime_checkable
class SeesFeatures(Protocol):
    """A model that sees images through encoders which stay as they are: features are computed once, and kept.

    What it prepares an image to is the vectors of these encoders, one after the other.
    """

    @property
    def encoders(self) -> Sequence[Encoder]:
        """What images are seen through; none where the model looks at them itself after all."""
        ...


@runtime_checkable
class Calibrates(Protocol):
    """A model whose predictions are chances, which are brought in line with people's answers after training."""

    def calibrate(self, batches: Iterable["Batch"]) -> None:
        """Fit to labelled images that it was not trained on; the result is part of the weights."""
        ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Images with their prompts, the pairs among them that people compared, and people's ratings of each.

    A ranking of n images is n(n − 1)/2 pairs; an image or prompt that occurs several times is there once.
    """

    prompts: tuple[str, ...]
    """The distinct prompts."""
    pixels: torch.Tensor
    """What ``prepare`` gave for each image, (images, …)."""
    prompt_of: torch.Tensor
    """Place of each image's prompt in ``prompts``, (images,) int64."""
    pairs: torch.Tensor
    """Places of two images of one prompt that were compared, (pairs, 2) int64; empty where there are none."""
    shares: torch.Tensor
    """Share for the first of the pair, (pairs,): 1 or 0 for hard labels, ½ for a tie."""
    pair_weights: torch.Tensor
    """How much each pair counts, (pairs,); PickScore: 1 / the number of its prompt's pairs."""
    aspects: tuple[str, ...]
    """What was rated."""
    ratings: torch.Tensor
    """People's mean rating of each image, (images, aspects); nan where it was not rated."""
    answers: torch.Tensor
    """How many answers each rating rests on, (images, aspects); 0 where it was not rated or is not known."""

    def to(self, device: torch.device) -> Self:
        """The same batch on another device."""
        return replace(
            self,
            pixels=self.pixels.to(device),
            prompt_of=self.prompt_of.to(device),
            pairs=self.pairs.to(device),
            shares=self.shares.to(device),
            pair_weights=self.pair_weights.to(device),
            ratings=self.ratings.to(device),
            answers=self.answers.to(device),
        )


def decayed_groups(
    named: Sequence[tuple[str, nn.Parameter]] | nn.Module, learning_rate: float, weight_decay: float
) -> Groups:
    """Two groups of the parameters that require gradients: matrices decay; norms, biases and single numbers don't.

    As in CLIP and HPS v2: what has fewer than two dimensions is not decayed.
    """
    found = list(named.named_parameters()) if isinstance(named, nn.Module) else named
    learning = [parameter for _, parameter in found if parameter.requires_grad]
    matrices = [one for one in learning if one.ndim >= 2]
    others = [one for one in learning if one.ndim < 2]
    groups: Groups = [
        {"params": matrices, "lr": learning_rate, "weight_decay": weight_decay},
        {"params": others, "lr": learning_rate, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]
