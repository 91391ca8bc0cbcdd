"""Trained models of rich feedback: the members of an ensemble."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from beholder.errors import WeightsError
from beholder.models.prompt_scoring import select_device
from beholder.models.rich_feedback.trainable import RichFeedback, RichTrainable
from beholder.models.weights.checkpoint import WEIGHTS, Record, load_rich_checkpoint
from beholder.models.weights.files import hash_files


@dataclass(frozen=True, eq=False)
class Member:
    """A model on its device."""

    name: str
    """Its folder."""
    identity: str
    """Folder and weights, as results record them."""
    model: RichTrainable
    device: torch.device
    half_widths: Mapping[str, float] = field(default_factory=dict)
    """Aspect -> half width of the 95 % prediction interval: for 95 % of held-out images, the raters' mean score
    was no further than this from the model's."""

    def feedback(self, images: Sequence[Image.Image], prompts: Sequence[str]) -> RichFeedback:
        """Predict feedback on decoded images."""
        pixels = torch.from_numpy(np.stack([self.model.prepare(image, None) for image in images]))
        return self.model.feedback(pixels.to(self.device), prompts)


def load_members(folders: Sequence[Path], device: str | None = None) -> list[Member]:
    """Load models from folders that ``beholder learn`` wrote; an error names every one that cannot be used."""
    chosen = select_device(device)
    members, faults = [], []
    for folder in dict.fromkeys(folders):
        try:
            members.append(_member(folder, chosen))
        except WeightsError as error:
            faults.append(str(error))
    if faults:
        raise WeightsError("\n".join(faults))
    return members


def _member(folder: Path, device: torch.device) -> Member:
    model, record = load_rich_checkpoint(folder)
    model.module.eval().requires_grad_(requires_grad=False).to(device)
    identity = f"{folder.resolve().name}@{hash_files([folder / WEIGHTS])[:12]}"
    return Member(str(folder), identity, model, device, _half_widths(folder, record))


def _half_widths(folder: Path, record: Record) -> Mapping[str, float]:
    """The half widths recorded in training; empty where none were recorded."""
    half_widths = record.about.get("within", {})
    try:
        if not isinstance(half_widths, Mapping):
            raise TypeError(f"{type(half_widths).__name__} in place of a table")
        return {str(aspect): float(half_width) for aspect, half_width in half_widths.items()}  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise WeightsError(f"{folder}: about.within must hold a number for each aspect ({error})") from error
