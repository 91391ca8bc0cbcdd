"""Labels of images and pairs, each with an interval and the number of people behind it."""

import numpy as np
import polars as pl
from scipy import stats

from beholder.consolidate.coding import EVEN, FIRST, Coded
from beholder.stats.proportions import wilson
from beholder.study.kinds.catalogue import AnyQuestion


def label(question: AnyQuestion, coded: Coded, level: float) -> pl.DataFrame:
    """The ``labels`` rows of one aspect."""
    if question.kind == "realism":
        rows = _shares(coded, level)
    elif question.kind == "pair":
        rows = _preferences(coded, level)
    else:
        rows = _means(coded, level)
    return rows.with_columns(question=pl.lit(question.name), aspect=pl.lit(coded.aspect))


def _shares(coded: Coded, level: float) -> pl.DataFrame:
    """Share of people who called the image generated (Layer 6's soft label), Wilson's interval, the majority."""
    rows = coded.frame.group_by("image").agg(
        value=pl.col("code").mean(),
        answers=pl.len().cast(pl.Int64),
        raters=pl.col("rater").n_unique().cast(pl.Int64),
    )
    majority = (
        pl.when(pl.col("value") > 0.5).then(pl.lit("generated")).when(pl.col("value") < 0.5).then(pl.lit("real"))
    )
    return _with_wilson(rows.sort("image"), level).with_columns(choice=majority, method=pl.lit("share"))


def _preferences(coded: Coded, level: float) -> pl.DataFrame:
    """Share of votes for ``image`` over ``other``, a tie counting half; the hard label is the larger share."""
    first = (pl.col("code") == FIRST).cast(pl.Float64)
    tie = (pl.col("code") == EVEN).cast(pl.Float64)
    rows = coded.frame.group_by("image", "other").agg(
        value=(first + tie / 2).mean(),
        ties=tie.mean(),
        answers=pl.len().cast(pl.Int64),
        raters=pl.col("rater").n_unique().cast(pl.Int64),
    )
    winner = (
        pl.when(pl.col("value") > 0.5)
        .then(pl.lit("image"))
        .when(pl.col("value") < 0.5)
        .then(pl.lit("other"))
        .otherwise(pl.lit("tie"))
    )
    return _with_wilson(rows.sort("image", "other"), level).with_columns(
        choice=winner, method=pl.lit("preference")
    )


def _means(coded: Coded, level: float) -> pl.DataFrame:
    """Mean opinion with a t interval over people; one answer alone has no interval."""
    rows = (
        coded.frame.group_by("image")
        .agg(
            value=pl.col("code").mean(),
            spread=pl.col("code").std(),
            answers=pl.len().cast(pl.Int64),
            raters=pl.col("rater").n_unique().cast(pl.Int64),
        )
        .sort("image")
    )
    count = rows["answers"].to_numpy()
    reach = stats.t.ppf((1 + level) / 2, np.maximum(count - 1, 1)) / np.sqrt(count)
    half = pl.col("spread") * pl.Series(reach)
    return rows.with_columns(low=pl.col("value") - half, high=pl.col("value") + half, method=pl.lit("mean")).drop(
        "spread"
    )


def _with_wilson(rows: pl.DataFrame, level: float) -> pl.DataFrame:
    count = rows["answers"].to_numpy()
    low, high = wilson(rows["value"].to_numpy() * count, count, level)
    return rows.with_columns(low=pl.Series(low), high=pl.Series(high))
