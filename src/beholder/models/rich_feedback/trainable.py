"""The interface of models of rich feedback: the RAHF model, and the baselines it is compared with.

Each satisfies :class:`RichTrainable` and has a line in ``architectures.py``. Not every model predicts everything:
the parts that it does not predict are empty.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.models.division import Division
from beholder.models.trainable import Trainable


@dataclass(frozen=True, eq=False)
class RichBatch:
    """Images with raters' feedback, one row per image; missing labels are nan (maps, scores) or None (words)."""

    pixels: torch.Tensor
    """(images, 3, side, side); or features of a frozen encoder, (images, dims)."""
    prompts: tuple[str, ...]
    heatmaps: torch.Tensor
    """Proportion of raters who marked each pixel, (images, aspects, map side, map side)."""
    scores: torch.Tensor
    """Mean scores from 0 to 1, (images, aspects)."""
    misaligned: tuple[tuple[bool, ...] | None, ...]
    """For each image whether each word of its prompt is misaligned."""
    only_naming: bool = False
    """Whether only the naming loss is computed: which words the images show."""
    image_heatmaps: torch.Tensor | None = None
    """As ``heatmaps``, also where a word of the prompt was exchanged: for outputs that the image alone decides.
    None where both are the same."""
    image_scores: torch.Tensor | None = None
    """As ``scores``, in the same way."""
    division: Division["RichBatch"] | None = None
    """Where this is a part of a batch: its place in it. Its labels have heatmaps of one pixel."""

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def for_image_alone(self) -> Self:
        """The same batch with the labels for outputs that the image alone decides."""
        heatmaps = self.heatmaps if self.image_heatmaps is None else self.image_heatmaps
        scores = self.scores if self.image_scores is None else self.image_scores
        return replace(self, heatmaps=heatmaps, scores=scores, image_heatmaps=None, image_scores=None)

    def to(self, device: torch.device) -> Self:
        """The same batch on another device."""
        return replace(
            self,
            pixels=self.pixels.to(device),
            heatmaps=self.heatmaps.to(device),
            scores=self.scores.to(device),
            image_heatmaps=None if self.image_heatmaps is None else self.image_heatmaps.to(device),
            image_scores=None if self.image_scores is None else self.image_scores.to(device),
        )


@dataclass(frozen=True, eq=False)
class RichFeedback:
    """The feedback of a model on images; what it does not predict is empty."""

    heatmaps: Mapping[str, NDArray[np.float32]]
    """Aspect -> (images, map side, map side), from 0 to 1."""
    scores: Mapping[str, NDArray[np.float32]]
    """Aspect -> (images,), from 0 to 1; more is better."""
    misaligned: tuple[NDArray[np.float64], ...]
    """For each image the probability that each word of its prompt is misaligned; nan for truncated words."""


@dataclass(frozen=True, eq=False)
class FeedbackTensors:
    """Scores and heatmaps of images with gradients."""

    scores: Mapping[str, torch.Tensor]
    """Aspect -> (images,), from 0 to 1; more is better."""
    heatmaps: Mapping[str, torch.Tensor]
    """Aspect -> (images, map side, map side), from 0 to 1."""


class Outputs(Protocol):
    """The settings of a model that say what it predicts."""

    @property
    def heatmaps(self) -> tuple[str, ...]:
        """Aspects with a heatmap."""
        ...

    @property
    def scores(self) -> tuple[str, ...]:
        """Aspects with a score."""
        ...

    @property
    def map_side(self) -> int:
        """Side of the heatmaps, in pixels."""
        ...


class RichTrainable(Trainable[RichBatch], Protocol):
    """A model that is trained on rich feedback and predicts it."""

    @property
    def settings(self) -> Outputs:
        """The settings of the model, with its outputs among them."""
        ...

    def feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        """The feedback on prepared images (n, …), on the device of the module, for their prompts."""
        ...


@runtime_checkable
class RichCalibratable(Protocol):
    """A model of rich feedback whose outputs are calibrated after training."""

    def calibrate(self, batches: Iterable[RichBatch]) -> None:
        """Fit the calibration to labelled images that were held out of training; it is part of the weights."""
        ...
