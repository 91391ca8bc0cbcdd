"""Images of a study that a scorer was not trained on: only these say what its scores are worth elsewhere.

A model that was trained on a study fits its training images closer than any other image, so a forecast from those
would be too high, and a margin from them too small.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from beholder.improve.critic import Critic
from beholder.improve.pictures import StudyPicture
from beholder.tables.store import Store

_FOLD = re.compile(r"fold-(\d+)")


def not_trained_on(
    study: Path, pictures: Sequence[StudyPicture], critics: Iterable[Critic | None]
) -> list[StudyPicture]:
    """Return the images that no scorer was trained on; all where none of the scorers is a model of the study."""
    unseen = list(pictures)
    for critic in critics:
        held_out = None if critic is None else _held_out(study, critic)
        if held_out is not None:
            unseen = [picture for picture in unseen if picture.image in held_out]
    return unseen


def _held_out(study: Path, critic: Critic) -> set[str] | None:
    """Return the images held out from the training of a model of the study; ``None`` for any other scorer."""
    if critic.folder is None or not critic.folder.resolve().is_relative_to(study.resolve()):
        return None
    parts = critic.folder.resolve().relative_to(study.resolve()).parts
    folds = [fold for part in parts if (fold := _FOLD.fullmatch(part))]
    model = parts[-2] if folds else parts[-1]
    predictions = Store(study).read_or_empty("predictions").filter(pl.col("model") == model, "held_out")
    if folds:
        predictions = predictions.filter(pl.col("fold") == int(folds[-1][1]))
    return set(predictions["image"])
