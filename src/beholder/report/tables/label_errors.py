"""Likely label errors from all sources: confident learning on the raters' answers, and on trained models."""

import polars as pl

from beholder.tables.schemas.learn import OUT_OF_FOLD

RATERS = "raters"
"""The source in ``doubted_by`` where the raters' own answers make a label a likely error."""

LABEL = ["question", "aspect", "method", "image", "other"]


def with_model_doubts(labels: pl.DataFrame, label_errors: pl.DataFrame) -> pl.DataFrame:
    """The labels with the doubts of trained models added to those from the raters' own answers.

    ``doubt`` becomes the largest of all, ``suggested`` stays the raters' where they have one, and ``doubted_by``
    names every source that suggests another label.
    """
    doubted = labels.with_columns(doubted_by=pl.when(pl.col("suggested").is_not_null()).then(pl.lit(RATERS)))
    for (model,), errors in sorted(label_errors.partition_by("model", as_dict=True).items()):
        own = errors.select(*LABEL, _doubt="doubt", _suggested="suggested")
        named = pl.when(pl.col("_suggested").is_not_null()).then(pl.lit(f"{model}{OUT_OF_FOLD}"))
        doubted = (
            doubted.join(own, on=LABEL, how="left", nulls_equal=True, maintain_order="left")
            .with_columns(
                doubt=pl.max_horizontal("doubt", "_doubt"),
                suggested=pl.coalesce("suggested", "_suggested"),
                doubted_by=pl.when(pl.col("doubted_by").is_not_null() & named.is_not_null())
                .then(pl.concat_str("doubted_by", named, separator=", "))
                .otherwise(pl.coalesce("doubted_by", named)),
            )
            .drop("_doubt", "_suggested")
        )
    return doubted
