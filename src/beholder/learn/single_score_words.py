"""What a model card says about single scores: how far they may be off, and when they extrapolate (no torch)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from beholder.errors import WeightsError
from beholder.models.shift.train import FEWEST
from beholder.models.shift.warning import read_warning
from beholder.models.training_images import SHIFT_FILE

RECORD = "model.json"
"""The record of each checkpoint."""


def single_score_lines(folder: Path, *, rated: bool) -> list[str]:
    """Return what the card says of single scores: from the records of all checkpoints below a model's folder.

    Only scores that are ``rated``, on raters' own scale, have widths.
    """
    widths: dict[str, list[float]] = {}
    for path in sorted(folder.rglob(RECORD)):
        about = json.loads(path.read_text(encoding="utf-8")).get("about", {})
        for aspect, width in about.get("within", {}).items():
            widths.setdefault(aspect, []).append(float(width))
    return [*(_width_lines(widths) if rated else ()), *_shift_lines(folder)]


def _width_lines(widths: Mapping[str, Sequence[float]]) -> Iterator[str]:
    if not widths:
        yield "How far a single score may be off was not measured: that takes 19 rated validation images."
        return
    listed = ", ".join(f"{aspect} ±{max(each):.2g}" for aspect, each in widths.items())
    several = " (with folds, the widest)" if any(len(each) > 1 for each in widths.values()) else ""
    yield (
        f"95 % prediction intervals, conformal, from the validation images{several}: {listed}. They hold for "
        "images like these, not for other generators, prompts of another kind or other data sets."
    )


def _shift_lines(folder: Path) -> Iterator[str]:
    """Yield what warns of images unlike the training images: by the first checkpoint, as folds do not differ."""
    path = next(iter(sorted(folder.rglob(SHIFT_FILE))), None)
    if path is None:
        yield f"Nothing warns of images unlike those it was trained on: that takes {FEWEST} images."
        return
    try:
        warning = read_warning(path)
    except WeightsError:
        yield "Nothing warns of images unlike those it was trained on: an earlier version trained it."
        return
    light = [f"`{name.partition('@')[0]}`" for name in warning.encoders]
    alone = "" if len(light) > 1 else " alone, as no light encoder was installed"
    yield (
        "`beholder score` and `beholder explain` say where images are unlike those it was trained on, by a "
        f"detector that looks at {', '.join(light)}{alone}. It was trained against {warning.altered:,} altered "
        f"and drawn images, and calibrated on {warning.images:,} training and validation images, cross-validated "
        "over prompts: no more than 5 % of images like these should be reported."
    )
