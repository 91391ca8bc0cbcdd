"""What people say, as metrics are held against it: ratings of generators, labels of images and pairs.

Everything is put so that higher is better, and carries its standard error over people where that is known.
"""

import numpy as np
import polars as pl

from beholder.stats.intervals.standard_error import error_of_interval

WHOLE = "all"

ASIDE_RATINGS = ("d-prime", "real-error-rate")
"""Ratings that speak of how people tell images apart, not of the generator's images."""

ASIDE_LABELS = ("z-mean", "p910", "mean-preference")
"""Labels that say the same as another of their question, on another scale."""

WORSE_UP = ("share", "credit")
"""Labels that are high where people call an image generated."""

SCHEMA = {
    **dict.fromkeys(("question", "aspect", "method", "slice", "item"), pl.String()),
    **dict.fromkeys(("value", "error"), pl.Float64()),
    "raters": pl.Int64(),
}
"""Columns of opinions; ``item`` is a generator or an image."""


def of_generators(ratings: pl.DataFrame) -> pl.DataFrame:
    """Opinions of generators (see ``SCHEMA``), by every rating in which higher is better."""
    return ratings.filter(~pl.col("method").is_in(ASIDE_RATINGS)).select(
        *("question", "aspect", "method", "slice"),
        item="generator",
        value="rating",
        error="se",
        raters="raters",
    )


def of_images(labels: pl.DataFrame, images: pl.DataFrame, level: float) -> pl.DataFrame:
    """Opinions of generated images, with the ``prompt`` and ``generator`` of each, as a whole and by style.

    ``level`` is that of the labels' intervals, from whose width the standard error is reckoned: Wilson's for
    shares, Student's t for means.
    """
    single = labels.filter(
        pl.col("other").is_null() & pl.col("word").is_null() & ~pl.col("method").is_in(ASIDE_LABELS)
    )
    made = images.filter(~pl.col("real") & ~pl.col("gold")).select("image", "prompt", "generator", "style")
    found = single.join(made, on="image", maintain_order="left")
    shares = (found["method"] == "share").to_numpy()
    low, high = (found[end].to_numpy().astype(np.float64) for end in ("low", "high"))
    error = error_of_interval(low, high, found["answers"].to_numpy(), level=level, proportions=shares)
    worse_up = pl.col("method").is_in(WORSE_UP)
    whole = found.with_columns(error=pl.Series(error, dtype=pl.Float64).fill_nan(None)).select(
        *("question", "aspect", "method"),
        slice=pl.lit(WHOLE),
        item="image",
        value=pl.when(worse_up).then(-pl.col("value")).otherwise("value"),
        error="error",
        raters="raters",
        prompt="prompt",
        generator="generator",
        style="style",
    )
    styles = whole.filter(pl.col("style").is_not_null())
    parts = [whole, styles.with_columns(slice="style")] if styles["style"].n_unique() > 1 else [whole]
    return pl.concat(parts).drop("style")


def of_pairs(labels: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """Votes on pairs: ``image``, ``other``, ``share`` for the first, ``answers``, prompt and both generators."""
    made = images.select("image", "prompt", "generator")
    return (
        labels.filter(pl.col("other").is_not_null() & ~pl.col("method").is_in(ASIDE_LABELS))
        .join(made, on="image", maintain_order="left")
        .join(made.select(other="image", other_generator="generator"), on="other", maintain_order="left")
        .select(
            *("question", "aspect", "method", "image", "other", "answers", "raters"),
            *("prompt", "generator", "other_generator"),
            share="value",
        )
    )
