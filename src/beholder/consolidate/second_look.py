"""Labels that a scorer does not believe: confident learning on predictions of images it was not trained on.

Such predictions are rows of ``scores`` whose scorer is named ``NAME/out-of-fold``: each image was scored by a
model trained without it. Of *real* and *generated* the score predicts the share who call the image generated, and
counts as 0 or 1 beyond them; if most scores lie beyond, they are on another scale and are left alone. Of
preferences, a difference of two scores is the log-odds that the first is preferred. A label is doubted where
another class is confident by the thresholds of :func:`beholder.stats.truth.label_errors.confident_errors`.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit

from beholder.errors import StatisticsError
from beholder.stats.truth.label_errors import confident_errors
from beholder.tables.schemas.measure import OUT_OF_FOLD

PEOPLE = "people"
"""Who doubts a label where a model of the people does."""

CLASSES = {"share": ("real", "generated"), "preference": ("other", "image")}
"""The two hard labels of each method; the score speaks for the second."""


def out_of_fold(scores: pl.DataFrame) -> pl.DataFrame:
    """The rows of ``scores`` that are predictions of images their scorer was not trained on."""
    return scores.filter(pl.col("scorer").str.ends_with(OUT_OF_FOLD))


def with_second_looks(labels: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """The labels with what out-of-fold scorers doubt, beside what the people's own answers do.

    ``doubt`` becomes the larger of both, with 1 − the predicted chance of the label as the scorer's; ``suggested``
    keeps the people's where they have one; ``doubted_by`` names everyone who suggests another label.
    """
    found = labels.with_columns(
        doubted_by=pl.when(pl.col("suggested").is_not_null()).then(pl.lit(PEOPLE)), row=pl.int_range(pl.len())
    )
    for (scorer, aspect), own in sorted(
        out_of_fold(scores).partition_by("scorer", "aspect", as_dict=True).items()
    ):
        for method in CLASSES:
            mine = found.filter((pl.col("aspect") == aspect) & (pl.col("method") == method))
            for part in mine.partition_by("question"):
                found = _joined(found, _doubted(part, own, method), str(scorer))
    return found.drop("row")


def _doubted(labels: pl.DataFrame, scores: pl.DataFrame, method: str) -> pl.DataFrame:
    """Of one question's labels the rows with ``_doubt``, and ``_suggested`` where another class is confident."""
    of_image = scores.select("image", "score")
    scored = labels.join(of_image, on="image", how="left", maintain_order="left")
    chance = scored["score"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if method == "preference":
        of_other = of_image.rename({"image": "other", "score": "score_other"})
        other = scored.join(of_other, on="other", how="left", maintain_order="left")["score_other"]
        chance = expit(chance - other.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    names = CLASSES[method]
    codes = {name: code for code, name in enumerate(names)}
    given = labels["choice"].replace_strict(codes, default=-1, return_dtype=pl.Int64).fill_null(-1).to_numpy()
    return labels.select("row").with_columns(_columns(given, chance, names))


def _columns(given: NDArray[np.int64], chance: NDArray[np.float64], names: tuple[str, str]) -> list[pl.Series]:
    known = np.isfinite(chance) & (given >= 0)
    doubt: list[float | None] = [None] * len(given)
    suggested: list[str | None] = [None] * len(given)
    within = (chance[known] >= 0) & (chance[known] <= 1)
    if 2 * within.sum() > len(within):
        chance = np.clip(chance, 0, 1)
        for place in np.flatnonzero(known):
            doubt[place] = float(chance[place] if given[place] == 0 else 1 - chance[place])
        try:
            errors = confident_errors(given, np.stack([1 - chance, chance], axis=1))
        except StatisticsError:
            errors = None
        for place, better in zip(errors.items, errors.suggested, strict=True) if errors else ():
            suggested[place] = names[better]
    return [pl.Series("_doubt", doubt, pl.Float64), pl.Series("_suggested", suggested, pl.String)]


def _joined(labels: pl.DataFrame, doubted: pl.DataFrame, scorer: str) -> pl.DataFrame:
    both = labels.join(doubted, on="row", how="left", maintain_order="left")
    named = pl.when(pl.col("_suggested").is_not_null()).then(pl.lit(scorer))
    return both.with_columns(
        doubt=pl.max_horizontal("doubt", "_doubt"),
        suggested=pl.coalesce("suggested", "_suggested"),
        doubted_by=pl.when(pl.col("doubted_by").is_not_null() & named.is_not_null())
        .then(pl.concat_str("doubted_by", named, separator=", "))
        .otherwise(pl.coalesce("doubted_by", named)),
    ).drop("_doubt", "_suggested")
