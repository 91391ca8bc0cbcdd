"""Labels that a trained model does not believe: confident learning on predictions of images it was not trained on.

Such predictions are the rows of ``predictions`` that are held out: each image was scored by a model trained
without it. Of *real* and *generated* the score predicts the proportion who call the image generated, and counts as
0 or 1 beyond them; if most scores lie beyond, they are on another scale and are left alone. Of preferences, a
difference of two scores is the log-odds that the first is preferred. A label is a likely error where another class
is confident by the thresholds of :func:`beholder.stats.truth.label_errors.confident_errors`.
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
"""The two hard labels of each method; the score speaks for the second."""


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
        for method in CLASSES:
            of_aspect = labels.filter((pl.col("aspect") == aspect) & (pl.col("method") == method))
            parts += [
                _doubted(of_question, scores, method).with_columns(model=pl.lit(str(model)))
                for of_question in of_aspect.partition_by("question", maintain_order=True)
            ]
    columns = [column.name for column in TABLES["label_errors"].columns]
    return pl.concat(part.select(columns) for part in parts)


def _doubted(labels: pl.DataFrame, scores: pl.DataFrame, method: str) -> pl.DataFrame:
    """Of one question's labels those that were predicted, with ``doubt`` and ``suggested``."""
    of_image = scores.select("image", "score")
    scored = labels.join(of_image, on="image", how="left", maintain_order="left")
    chance = scored["score"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if method == "preference":
        of_other = of_image.rename({"image": "other", "score": "score_other"})
        other = scored.join(of_other, on="other", how="left", maintain_order="left")["score_other"]
        chance = expit(chance - other.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    names = CLASSES[method]
    codes = {name: code for code, name in enumerate(names)}
    hard = labels["choice"].replace_strict(codes, default=-1, return_dtype=pl.Int64).fill_null(-1).to_numpy()
    return labels.with_columns(_columns(hard, chance, names)).filter(pl.col("doubt").is_not_null())


def _columns(hard: NDArray[np.int64], chance: NDArray[np.float64], names: tuple[str, str]) -> Iterator[pl.Series]:
    predicted = np.isfinite(chance) & (hard >= 0)
    doubt: list[float | None] = [None] * len(hard)
    suggested: list[str | None] = [None] * len(hard)
    within = (chance[predicted] >= 0) & (chance[predicted] <= 1)
    if 2 * within.sum() > len(within):
        chance = np.clip(chance, 0, 1)
        for place in np.flatnonzero(predicted):
            doubt[place] = float(chance[place] if hard[place] == 0 else 1 - chance[place])
        try:
            errors = confident_errors(hard, np.stack([1 - chance, chance], axis=1))
        except StatisticsError:
            errors = None
        for place, better in zip(errors.items, errors.suggested, strict=True) if errors else ():
            suggested[place] = names[better]
    yield pl.Series("doubt", doubt, pl.Float64)
    yield pl.Series("suggested", suggested, pl.String)
