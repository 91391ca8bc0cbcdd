"""Likely label errors: confident learning on out-of-sample predictions of trained models.

These predictions are the held-out rows of ``predictions``: each image was scored by a model trained without it.
For preferences, the difference of two scores is the log-odds that the first is preferred. A label is a likely
error where another class is confident by the thresholds of
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
"""Their two hard labels; a positive difference of scores predicts the second."""


def find_label_errors(folder: Path, *, force: bool = False) -> Outcome:
    """Write ``label_errors`` from the study's labels and predictions, unless it is up to date."""
    work = Work(SECOND_LOOK, {}, load_study(folder).seed)

    def compute(store: Store) -> dict[str, pl.DataFrame]:
        return {"label_errors": label_errors(store.read("labels"), store.read_or_empty("predictions"))}

    return perform(Store(folder), work, compute, force=force)


def label_errors(labels: pl.DataFrame, predictions: pl.DataFrame) -> pl.DataFrame:
    """Return one row per hard label and model with a held-out prediction of it: the doubt, the suggested label.

    The doubt is 1 − the predicted probability of the hard label.
    """
    parts = [TABLES["label_errors"].empty()]
    held_out = predictions.filter("held_out").partition_by("model", "aspect", as_dict=True)
    for (model, aspect), scores in sorted(held_out.items()):
        aspect_labels = labels.filter((pl.col("aspect") == aspect) & (pl.col("method") == METHOD))
        parts += [
            _with_doubt(question_labels, scores).with_columns(model=pl.lit(str(model)))
            for question_labels in aspect_labels.partition_by("question", maintain_order=True)
        ]
    columns = [column.name for column in TABLES["label_errors"].columns]
    return pl.concat(part.select(columns) for part in parts)


def _with_doubt(labels: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Of one question's labels those that were predicted, with ``doubt`` and ``suggested``."""
    probability = expit(_scores(labels["image"], scores) - _scores(labels["other"], scores))
    codes = {name: code for code, name in enumerate(CLASSES)}
    hard = labels["choice"].replace_strict(codes, default=-1, return_dtype=pl.Int64).fill_null(-1).to_numpy()
    return labels.with_columns(_doubt_columns(hard, probability)).filter(pl.col("doubt").is_not_null())


def _scores(images: pl.Series, scores: pl.DataFrame) -> NDArray[np.float64]:
    """The score of each image; nan where there is none."""
    scored = (
        images.alias("image")
        .to_frame()
        .join(scores.select("image", "score"), on="image", how="left", maintain_order="left")
    )
    return scored["score"].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _doubt_columns(hard: NDArray[np.int64], probability: NDArray[np.float64]) -> Iterator[pl.Series]:
    doubt: list[float | None] = [None] * len(hard)
    suggested: list[str | None] = [None] * len(hard)
    for index in np.flatnonzero(np.isfinite(probability) & (hard >= 0)):
        doubt[index] = float(probability[index] if hard[index] == 0 else 1 - probability[index])
    try:
        errors = confident_errors(hard, np.stack([1 - probability, probability], axis=1))
    except StatisticsError:
        errors = None
    for index, code in zip(errors.items, errors.suggested, strict=True) if errors else ():
        suggested[index] = CLASSES[code]
    yield pl.Series("doubt", doubt, pl.Float64)
    yield pl.Series("suggested", suggested, pl.String)
