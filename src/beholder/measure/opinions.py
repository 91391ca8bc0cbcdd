"""Raters' opinions with which metrics are compared: ratings of generators, labels of images and of pairs.

Every value is oriented so that higher is better, and has its standard error over raters where that is known.
"""

import numpy as np
import polars as pl

from beholder.stats.intervals.standard_error import error_of_interval

ALL_STYLES = "all"
"""The slice of all images, whatever their style."""

OTHER_RATINGS = ("d-prime", "real-error-rate", "option-share")
"""Ratings of how well raters discriminate real from generated images, or of how often named options are chosen:
not of how good the generator's images are."""

RESCALED_LABELS = ("z-mean", "p910", "mean-preference", "plurality")
"""Labels that are another label of the same question on another scale, or a name without an amount."""

WORSE_UP = ("share", "credit")
"""Labels that are high where raters call an image generated."""

SCHEMA = {
    **dict.fromkeys(("question", "aspect", "method", "slice", "item"), pl.String()),
    **dict.fromkeys(("value", "error"), pl.Float64()),
    "raters": pl.Int64(),
}
"""Columns of opinions; ``item`` is a generator or an image."""


def of_generators(ratings: pl.DataFrame) -> pl.DataFrame:
    """Opinions of generators (see ``SCHEMA``), by every rating in which higher is better."""
    return ratings.filter(~pl.col("method").is_in(OTHER_RATINGS)).select(
        *("question", "aspect", "method", "slice"),
        item="generator",
        value="rating",
        error="se",
        raters="raters",
    )


def of_images(labels: pl.DataFrame, images: pl.DataFrame, level: float) -> pl.DataFrame:
    """Opinions of generated images, with the ``prompt`` and ``generator`` of each, over all styles and by style.

    ``level`` is that of the labels' confidence intervals, from whose width the standard error is computed:
    Wilson's for proportions, Student's t for means.
    """
    single = labels.filter(
        pl.col("other").is_null() & pl.col("word").is_null() & ~pl.col("method").is_in(RESCALED_LABELS)
    )
    generated = images.filter(~pl.col("real") & ~pl.col("gold")).select("image", "prompt", "generator", "style")
    judged = single.join(generated, on="image", maintain_order="left")
    is_proportion = (judged["method"] == "share").to_numpy()
    low, high = (judged[end].to_numpy().astype(np.float64) for end in ("low", "high"))
    error = error_of_interval(low, high, judged["answers"].to_numpy(), level=level, proportions=is_proportion)
    worse_up = pl.col("method").is_in(WORSE_UP)
    unsliced = judged.with_columns(error=pl.Series(error, dtype=pl.Float64).fill_nan(None)).select(
        *("question", "aspect", "method"),
        slice=pl.lit(ALL_STYLES),
        item="image",
        value=pl.when(worse_up).then(-pl.col("value")).otherwise("value"),
        error="error",
        raters="raters",
        prompt="prompt",
        generator="generator",
        style="style",
    )
    styles = unsliced.filter(pl.col("style").is_not_null())
    parts = [unsliced, styles.with_columns(slice="style")] if styles["style"].n_unique() > 1 else [unsliced]
    return pl.concat(parts).drop("style")


def of_pairs(labels: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """Votes on pairs: images, ``share`` (proportion for the first), ``answers``, prompt and both generators."""
    generators = images.select("image", "prompt", "generator")
    return (
        labels.filter(pl.col("other").is_not_null() & ~pl.col("method").is_in(RESCALED_LABELS))
        .join(generators, on="image", maintain_order="left")
        .join(generators.select(other="image", other_generator="generator"), on="other", maintain_order="left")
        .select(
            *("question", "aspect", "method", "image", "other", "answers", "raters"),
            *("prompt", "generator", "other_generator"),
            share="value",
        )
    )
