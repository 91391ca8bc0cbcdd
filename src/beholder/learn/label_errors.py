"""Likely label errors: confident learning on out-of-sample predictions of trained models.

These predictions are the held-out rows of ``predictions``: each image was scored by a model trained without it.
For *real* and *generated* the score predicts the proportion of raters who call the image generated and is clipped
to [0, 1]; if most scores lie outside that range, they are on another scale and are ignored. For preferences, the
difference of two scores is the log-odds that the first image is preferred. A label is a likely error where another
class is confident by the thresholds of :func:`beholder.stats.truth.label_errors.confident_errors`.
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

CLASSES = {"share": ("real", "generated"), "preference": ("other", "image")}
"""The two hard labels of each method; a high score predicts the second."""


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
        for method in CLASSES:
            aspect_labels = labels.filter((pl.col("aspect") == aspect) & (pl.col("method") == method))
            parts += [
                _with_doubt(question_labels, scores, method).with_columns(model=pl.lit(str(model)))
                for question_labels in aspect_labels.partition_by("question", maintain_order=True)
            ]
    columns = [column.name for column in TABLES["label_errors"].columns]
    return pl.concat(part.select(columns) for part in parts)


def _with_doubt(labels: pl.DataFrame, scores: pl.DataFrame, method: str) -> pl.DataFrame:
    """Return those of one question's labels that were predicted, with ``doubt`` and ``suggested``."""
    image_scores = scores.select("image", "score")
    scored = labels.join(image_scores, on="image", how="left", maintain_order="left")
    probability = scored["score"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if method == "preference":
        other_scores = image_scores.rename({"image": "other", "score": "score_other"})
        other_score = scored.join(other_scores, on="other", how="left", maintain_order="left")["score_other"]
        probability = expit(probability - other_score.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    classes = CLASSES[method]
    codes = {name: code for code, name in enumerate(classes)}
    hard = labels["choice"].replace_strict(codes, default=-1, return_dtype=pl.Int64).fill_null(-1).to_numpy()
    return labels.with_columns(_doubt_columns(hard, probability, classes)).filter(pl.col("doubt").is_not_null())


def _doubt_columns(
    hard: NDArray[np.int64], probability: NDArray[np.float64], classes: tuple[str, str]
) -> Iterator[pl.Series]:
    predicted = np.isfinite(probability) & (hard >= 0)
    doubt: list[float | None] = [None] * len(hard)
    suggested: list[str | None] = [None] * len(hard)
    within = (probability[predicted] >= 0) & (probability[predicted] <= 1)
    if 2 * within.sum() > len(within):
        probability = np.clip(probability, 0, 1)
        for index in np.flatnonzero(predicted):
            doubt[index] = float(probability[index] if hard[index] == 0 else 1 - probability[index])
        try:
            errors = confident_errors(hard, np.stack([1 - probability, probability], axis=1))
        except StatisticsError:
            errors = None
        for index, code in zip(errors.items, errors.suggested, strict=True) if errors else ():
            suggested[index] = classes[code]
    yield pl.Series("doubt", doubt, pl.Float64)
    yield pl.Series("suggested", suggested, pl.String)
