"""Values of metrics for images and generators in one long table: scores, distances and published figures."""

from pathlib import Path

import numpy as np
import polars as pl

from beholder.errors import TableError
from beholder.measure.directions import direction
from beholder.measure.opinions import ALL_STYLES
from beholder.tables.schemas.learn import OUT_OF_FOLD

PUBLISHED = "published"
"""The reference of figures that were computed elsewhere."""

ARROWS = {"↓": "lower", "↑": "higher"}
"""Marks at the end of a column's name that say which values are better."""

SCHEMA = {
    **dict.fromkeys(("metric", "encoder", "reference", "better", "question", "slice", "item"), pl.String()),
    "value": pl.Float64(),
}
"""Columns of metric values; ``item`` is a generator or an image, ``question`` the only one they count for."""


def of_scores(
    scores: pl.DataFrame, predictions: pl.DataFrame, images: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores by image, and their means by generator, over all styles and by style.

    Trained models count by their predictions of images held out, as ``MODEL/out-of-fold``. A scorer of several
    aspects is one metric per aspect, named ``scorer:aspect``. Which values are better is what the catalogue of
    scorers declares, or the row of a prediction.
    """
    scores = pl.concat([_declared(scores), _held_out(predictions)])
    several = pl.col("aspect").n_unique().over("scorer") > 1
    generated = images.filter(~pl.col("real") & ~pl.col("gold")).select("image", "generator", "style")
    named = (
        scores.with_columns(
            metric=pl.when(several).then(pl.concat_str("scorer", "aspect", separator=":")).otherwise("scorer")
        )
        .join(generated, on="image", maintain_order="left")
        .filter(pl.col("generator").is_not_null())
    )
    unsliced = named.with_columns(slice=pl.lit(ALL_STYLES))
    sliced = pl.concat([unsliced, named.filter(pl.col("style").is_not_null()).with_columns(slice="style")])
    ready = sliced.with_columns(
        encoder=pl.lit(None, pl.String),
        reference=pl.lit(None, pl.String),
        question=pl.lit(None, pl.String),
    )
    by_image = ready.with_columns(item="image", value="score").select(list(SCHEMA))
    by_generator = ready.group_by(
        *("metric", "encoder", "reference", "better", "question", "slice", "generator"), maintain_order=True
    ).agg(value=pl.col("score").mean())
    return by_image, by_generator.rename({"generator": "item"}).select(list(SCHEMA))


def _declared(scores: pl.DataFrame) -> pl.DataFrame:
    """The scores with ``better``, as declared in the catalogue of scorers."""
    better = {name: direction(name) for name in scores["scorer"].unique()}
    column = pl.col("scorer").replace_strict(better, return_dtype=pl.String) if better else pl.lit(None, pl.String)
    return scores.select("scorer", "aspect", "image", "score", better=column)


def _held_out(predictions: pl.DataFrame) -> pl.DataFrame:
    """Predictions of images that their model was not trained on, in the form of scores."""
    return (
        predictions.filter("held_out")
        .select("aspect", "image", "score", "better", scorer=pl.col("model") + OUT_OF_FOLD)
        .select("scorer", "aspect", "image", "score", "better")
    )


def of_distances(distances: pl.DataFrame) -> pl.DataFrame:
    """Distances by generator."""
    better = {name: direction(name) for name in distances["distance"].unique()}
    return distances.select(
        *("encoder", "reference", "slice", "value"),
        metric="distance",
        item="generator",
        question=pl.lit(None, pl.String),
        better=pl.col("distance").replace_strict(better, return_dtype=pl.String)
        if better
        else pl.lit(None, pl.String),
    ).select(list(SCHEMA))


def of_file(path: Path, generators: set[str]) -> pl.DataFrame:
    """Read figures computed elsewhere from a CSV file: a column ``generator``, and one column per metric.

    A column may end in ↓ or ↑ to say which values are better; empty cells are left out. So are rows of generators
    that the study does not have; a file without any of its generators is refused. With a column ``question``, a
    row counts for that question alone.
    """
    try:
        table = pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(str(path), [f"cannot be read as CSV ({error})"]) from error
    if "generator" not in table.columns:
        raise TableError(str(path), [f"a column 'generator' is expected; found: {', '.join(table.columns)}"])
    if "question" not in table.columns:
        table = table.with_columns(question=pl.lit(None, pl.String))
    in_study = table.filter(pl.col("generator").is_in(list(generators)))
    faults: list[str] = []
    if in_study.is_empty():
        faults.append(f"names none of the study's generators: {', '.join(sorted(generators))}")
    duplicated = in_study.select(pl.struct("question", "generator").is_duplicated()).to_series()
    twice = in_study.filter(duplicated)["generator"].unique(maintain_order=True)
    faults += [f"generator '{name}' has several rows" for name in twice]
    parts = []
    for name in (name for name in table.columns if name not in ("generator", "question")):
        values = in_study[name].cast(pl.Float64, strict=False)
        wrong = in_study.filter(in_study[name].is_not_null() & ~values.is_finite().fill_null(value=False))
        faults += [
            f"column '{name}' of {g}: '{v}' is no number" for g, v in wrong.select("generator", name).rows()
        ]
        parts.append(_published(name, in_study.select("question", item="generator").with_columns(value=values)))
    if faults:
        raise TableError(str(path), faults)
    return pl.concat([pl.DataFrame(schema=SCHEMA), *parts])


def _published(name: str, figures: pl.DataFrame) -> pl.DataFrame:
    plain = name.rstrip("".join(ARROWS)).strip()
    marked = ARROWS.get(name.strip()[-1:])
    return (
        figures.drop_nulls("value")
        .with_columns(
            metric=pl.lit(plain),
            encoder=pl.lit(None, pl.String),
            reference=pl.lit(PUBLISHED),
            better=pl.lit(marked or direction(plain), pl.String),
            slice=pl.lit(ALL_STYLES),
        )
        .select(list(SCHEMA))
    )


def oriented(values: pl.Series, better: str | None) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The values with their sign set so that higher is better; unchanged where the direction is not known."""
    floats = values.to_numpy().astype(np.float64)
    if better == "lower":
        return -floats
    return -np.abs(floats) if better == "zero" else floats
