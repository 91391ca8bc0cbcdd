"""Trained models of rich feedback: the members of an ensemble."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from beholder.errors import WeightsError
from beholder.models.prompt_scoring import select_device
from beholder.models.rich_feedback.trainable import RichFeedback, RichTrainable
from beholder.models.shift.light import LoadedWarning, load_warning
from beholder.models.training_images import SHIFT_FILE
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

    @cached_property
    def warning(self) -> LoadedWarning | str:
        """What says how unlike the training images others are, or why there is nothing; loaded when first used."""
        return find_warning(Path(self.name))

    @property
    def warning_identity(self) -> str | None:
        """Hash of the file of the warning; ``None`` where there is none."""
        file = Path(self.name) / SHIFT_FILE
        return hash_files([file]) if file.is_file() else None

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


def find_warning(folder: Path) -> LoadedWarning | str:
    """Return what says how unlike a model's training images others are, or why there is nothing."""
    if not (folder / SHIFT_FILE).is_file():
        return f"{folder}: no warning of images unlike its training images: it was trained without one"
    try:
        return load_warning(folder)
    except WeightsError as error:
        return f"{folder}: no warning of images unlike its training images ({error})"


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
