"""Misaligned keywords: one label per word of the prompt, by the majority of the raters."""

import polars as pl

from beholder.stats.intervals.proportions import wilson
from beholder.study.words import split_words

ASPECT = "misalignment"
MISALIGNED, ALIGNED = "misaligned", "aligned"


def word_labels(judged: pl.DataFrame, marks: pl.DataFrame, prompts: pl.DataFrame, level: float) -> pl.DataFrame:
    """Return the ``labels`` rows without the question: the proportion who clicked each word, and the majority.

    ``judged`` has one row per rater and image judged (``rater``, ``image``, ``trial``, ``session``,
    ``prompt``). A word that nobody clicked has the label 0.
    """
    texts = prompts.select("prompt", pl.col("text").map_elements(_positions, return_dtype=pl.List(pl.Int64)))
    words = texts.rename({"text": "word"}).explode("word").drop_nulls()
    rater_counts = judged.group_by("image", "prompt").agg(raters=pl.col("rater").n_unique().cast(pl.Int64))
    clicks = (
        marks.filter(pl.col("word").is_not_null())
        .join(judged.select("rater", "image", "trial", "session"), on=["trial", "session"], suffix="_judged")
        .group_by(pl.col("image_judged").alias("image"), "word")
        .agg(clicked=pl.col("rater").n_unique())
    )
    rows = (
        rater_counts.join(words, on="prompt")
        .join(clicks, on=["image", "word"], how="left")
        .with_columns(pl.col("clicked").fill_null(0))
        .with_columns(value=pl.col("clicked") / pl.col("raters"), answers="raters")
        .sort("image", "word")
    )
    low, high = wilson(rows["clicked"].to_numpy(), rows["raters"].to_numpy(), level)
    majority = (
        pl.when(pl.col("value") > 0.5).then(pl.lit(MISALIGNED)).when(pl.col("value") < 0.5).then(pl.lit(ALIGNED))
    )
    return rows.select(
        "image",
        "word",
        "value",
        "answers",
        "raters",
        aspect=pl.lit(ASPECT),
        method=pl.lit("majority"),
        low=pl.Series(low, dtype=pl.Float64),
        high=pl.Series(high, dtype=pl.Float64),
        choice=majority,
    )


def _positions(text: str) -> list[int]:
    return list(range(len(split_words(text))))
