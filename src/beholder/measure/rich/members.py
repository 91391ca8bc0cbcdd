"""Trained models of rich feedback, one or several that speak together."""

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
    judge: RichTrainable
    device: torch.device
    within: Mapping[str, float] = field(default_factory=dict)
    """Aspect -> how far people's mean score was from the model's at most, for 95 % of held-out images."""

    def feedback(self, images: Sequence[Image.Image], prompts: Sequence[str]) -> RichFeedback:
        """What it says of decoded images."""
        pixels = torch.from_numpy(np.stack([self.judge.prepare(image, None) for image in images]))
        return self.judge.feedback(pixels.to(self.device), prompts)


def load_members(folders: Sequence[Path], device: str | None = None) -> list[Member]:
    """The models of folders that ``beholder learn`` wrote; an error names every one that cannot be used."""
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
    judge, record = load_rich_checkpoint(folder)
    judge.module.eval().requires_grad_(requires_grad=False).to(device)
    identity = f"{folder.resolve().name}@{hash_files([folder / WEIGHTS])[:12]}"
    return Member(str(folder), identity, judge, device, _within(folder, record))


def _within(folder: Path, record: Record) -> Mapping[str, float]:
    """The half widths that the trainer wrote down; none where it wrote none."""
    found = record.about.get("within", {})
    try:
        if not isinstance(found, Mapping):
            raise TypeError(f"{type(found).__name__} in place of a table")
        return {str(aspect): float(one) for aspect, one in found.items()}  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise WeightsError(f"{folder}: about.within must hold a number for each aspect ({error})") from error
