"""Labels that a trained model does not believe: confident learning on predictions of images it was not trained on.

Such predictions are the rows of ``predictions`` that are held out: each image was scored by a model trained
without it. Of preferences, a difference of two scores is the log-odds that the first is preferred. A label is a
likely error where another class is confident by the thresholds of
:func:`beholder.stats.truth.label_errors.confident_errors`. Whether an image is real or generated is known by
construction: such labels are not doubted.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit

from beholder.errors import StatisticsError
from beholder.stats.truth.label_errors import confident_errors
from beholder.study.study import load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import SECOND_LOOK
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

METHOD = "preference"
"""The labels that a model can doubt."""

CLASSES = ("other", "image")
"""Their two hard labels; a difference of scores speaks for the second."""


def look_again(folder: Path, *, force: bool = False) -> Outcome:
    """Write ``label_errors`` from the labels and the predictions there are, unless that was done."""
    work = Work(SECOND_LOOK, {}, load_study(folder).seed)

    def compute(store: Store) -> dict[str, pl.DataFrame]:
        return {"label_errors": label_errors(store.read("labels"), store.read_or_empty("predictions"))}

    return perform(Store(folder), work, compute, force=force)


def label_errors(labels: pl.DataFrame, predictions: pl.DataFrame) -> pl.DataFrame:
    """One row per hard label and model that predicts it held out: its doubt, and the label it is confident of.

    The doubt is 1 − the predicted chance of the hard label.
    """
    parts = [TABLES["label_errors"].empty()]
    held_out = predictions.filter("held_out").partition_by("model", "aspect", as_dict=True)
    for (model, aspect), scores in sorted(held_out.items()):
        of_aspect = labels.filter((pl.col("aspect") == aspect) & (pl.col("method") == METHOD))
        parts += [
            _doubted(of_question, scores).with_columns(model=pl.lit(str(model)))
            for of_question in of_aspect.partition_by("question", maintain_order=True)
        ]
    columns = [column.name for column in TABLES["label_errors"].columns]
    return pl.concat(part.select(columns) for part in parts)


def _doubted(labels: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Of one question's labels those that were predicted, with ``doubt`` and ``suggested``."""
    chance = expit(_scores(labels["image"], scores) - _scores(labels["other"], scores))
    codes = {name: code for code, name in enumerate(CLASSES)}
    hard = labels["choice"].replace_strict(codes, default=-1, return_dtype=pl.Int64).fill_null(-1).to_numpy()
    return labels.with_columns(_columns(hard, chance)).filter(pl.col("doubt").is_not_null())


def _scores(images: pl.Series, scores: pl.DataFrame) -> NDArray[np.float64]:
    """The score of each image; nan where there is none."""
    named = (
        images.alias("image")
        .to_frame()
        .join(scores.select("image", "score"), on="image", how="left", maintain_order="left")
    )
    return named["score"].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _columns(hard: NDArray[np.int64], chance: NDArray[np.float64]) -> Iterator[pl.Series]:
    doubt: list[float | None] = [None] * len(hard)
    suggested: list[str | None] = [None] * len(hard)
    for place in np.flatnonzero(np.isfinite(chance) & (hard >= 0)):
        doubt[place] = float(chance[place] if hard[place] == 0 else 1 - chance[place])
    try:
        errors = confident_errors(hard, np.stack([1 - chance, chance], axis=1))
    except StatisticsError:
        errors = None
    for place, better in zip(errors.items, errors.suggested, strict=True) if errors else ():
        suggested[place] = CLASSES[better]
    yield pl.Series("doubt", doubt, pl.Float64)
    yield pl.Series("suggested", suggested, pl.String)
