"""Likely label errors from all sources: confident learning on the raters' answers, and on trained models."""

import polars as pl

from beholder.tables.schemas.learn import OUT_OF_FOLD

RATERS = "raters"
"""The source in ``doubted_by`` where the raters' own answers make a label a likely error."""

LABEL = ["question", "aspect", "method", "image", "other"]


def with_model_doubts(labels: pl.LazyFrame, label_errors: pl.DataFrame) -> pl.LazyFrame:
    """The labels with the doubts of trained models added to those from the raters' own answers.

    ``doubted_by`` names every source that suggests another label. ``doubt`` and ``suggested`` stay the raters'
    where they suggest one: theirs is a calibrated probability, a model's is not. Otherwise they are those of the
    model with the largest doubt that suggests one.
    """
    by_raters = pl.col("suggested").is_not_null()
    doubted = labels.with_columns(
        doubted_by=pl.when(by_raters).then(pl.lit(RATERS)), _by_raters=by_raters, _largest=pl.lit(0.0)
    )
    for (model,), errors in sorted(label_errors.partition_by("model", as_dict=True).items()):
        own = (
            errors.lazy()
            .filter(pl.col("suggested").is_not_null())
            .select(*LABEL, _doubt="doubt", _suggested="suggested", _model=pl.lit(f"{model}{OUT_OF_FOLD}"))
        )
        larger = ~pl.col("_by_raters") & (pl.col("_doubt") > pl.col("_largest"))
        doubted = (
            doubted.join(own, on=LABEL, how="left", nulls_equal=True, maintain_order="left")
            .with_columns(
                doubt=pl.when(larger).then("_doubt").otherwise("doubt"),
                suggested=pl.when(larger).then("_suggested").otherwise("suggested"),
                _largest=pl.when(larger).then("_doubt").otherwise("_largest"),
                doubted_by=pl.concat_list("doubted_by", "_model")
                .list.drop_nulls()
                .list.join(", ")
                .replace("", None),
            )
            .drop("_doubt", "_suggested", "_model")
        )
    return doubted.drop("_by_raters", "_largest")
