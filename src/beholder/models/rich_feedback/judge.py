"""What gives rich feedback on images: the RAHF model, and the baselines it is compared with.

Each satisfies :class:`RichJudge` and has a line in ``architectures.py``. Not every one gives all of it: the parts
that a judge does not give are empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.models.rich_feedback.batch import RichBatch
from beholder.models.trainable import Trainable


@dataclass(frozen=True, eq=False)
class RichFeedback:
    """What a judge says of images; what it does not predict is empty."""

    heatmaps: Mapping[str, NDArray[np.float32]]
    """Aspect -> (images, map side, map side), from 0 to 1."""
    scores: Mapping[str, NDArray[np.float32]]
    """Aspect -> (images,), from 0 to 1; more is better."""
    misaligned: tuple[NDArray[np.float64], ...]
    """For each image the chance that each word of its prompt was missed; nan for words past what is read."""


class Outputs(Protocol):
    """The part of a judge's settings that says what it gives."""

    @property
    def heatmaps(self) -> tuple[str, ...]:
        """Aspects of which it gives a heatmap."""
        ...

    @property
    def scores(self) -> tuple[str, ...]:
        """Aspects that it scores."""
        ...

    @property
    def map_side(self) -> int:
        """Side of its heatmaps, in pixels."""
        ...


class RichJudge(Trainable[RichBatch], Protocol):
    """A model that can be taught rich feedback, and asked for it."""

    @property
    def settings(self) -> Outputs:
        """Of the model; what it gives is among them."""
        ...

    def feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        """What it says of prepared images (n, …), on the device of its module, and their prompts."""
        ...
