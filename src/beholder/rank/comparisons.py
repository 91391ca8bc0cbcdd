"""How raters compare every two generators: the proportions of ≫ > ≈ < ≪, or of > ≈ <."""

import numpy as np
import polars as pl

from beholder.judgements.generator_votes import generator_votes
from beholder.stats.intervals.proportions import wilson
from beholder.tables.schemas.rank import OUTCOMES

FIVE = dict(zip(range(2, -3, -1), OUTCOMES, strict=True))
"""The outcome of each leaning of a vote, from 2 to −2."""

PAIR = ["generator", "other"]


def comparison_rows(
    question: str, slice_name: str, judgements: pl.DataFrame, images: pl.DataFrame, *, level: float
) -> pl.DataFrame:
    """Return the ``comparisons`` rows of one slice: for every pair of generators the proportion of each outcome.

    Votes of one rater are correlated, so Wilson's confidence interval takes the effective number of votes,
    p(1 − p)/SE², with SE the linearised standard error over raters; where all votes are the same, it takes the
    number of raters.
    """
    graded = (judgements["value_kind"] == "graded-vote").any()
    ends = (2, 1, 0, -1, -2) if graded else (1, 0, -1)
    votes = generator_votes(judgements, images).with_columns(in_order=pl.col("first") < pl.col("second"))
    leaning = pl.when("in_order").then(pl.col("value")).otherwise(0.0 - pl.col("value"))
    canonical = votes.select(
        "rater",
        leaning.alias("leaning"),
        generator=pl.min_horizontal("first", "second"),
        other=pl.max_horizontal("first", "second"),
    )
    parts = [_proportions(canonical, end, level) for end in ends] if not canonical.is_empty() else []
    rows = pl.concat(parts) if parts else _proportions(canonical, 0, level)
    order = pl.Enum(OUTCOMES)
    return rows.sort(*PAIR, pl.col("outcome").cast(order)).with_columns(
        pl.col(PAIR).cast(pl.String),
        question=pl.lit(question),
        aspect=pl.lit("preference"),
        slice=pl.lit(slice_name),
    )


def _proportions(votes: pl.DataFrame, leaning: int, level: float) -> pl.DataFrame:
    by_rater = (
        votes.group_by(*PAIR, "rater")
        .agg(times=(pl.col("leaning") == leaning).sum().cast(pl.Float64), votes=pl.len().cast(pl.Float64))
        .sort(*PAIR, "rater")  # sums are taken in one order, so that a run can be repeated to the last digit
    )
    proportion = pl.col("times").sum() / pl.col("votes").sum()
    squared_error = (pl.col("times") - proportion * pl.col("votes")) ** 2
    n = pl.len().cast(pl.Float64)
    rows = (
        by_rater.group_by(PAIR, maintain_order=True)
        .agg(
            share=proportion,
            variance=n / (n - 1) * squared_error.sum() / pl.col("votes").sum() ** 2,
            answers=pl.col("votes").sum().cast(pl.Int64),
            raters=pl.len().cast(pl.Int64),
        )
        .sort(PAIR)
    )
    p, vote_counts, rater_counts = (rows[name].to_numpy() for name in ("share", "answers", "raters"))
    variance = rows["variance"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where(
            variance > 0, p * (1 - p) / variance, np.where((p > 0) & (p < 1), vote_counts, rater_counts)
        )
    effective = np.clip(np.nan_to_num(effective, nan=1.0), 1, vote_counts)
    low, high = wilson(p * effective, effective, level)
    lone_rater = pl.col("raters") < 2
    return rows.drop("variance").with_columns(
        outcome=pl.lit(FIVE[leaning]),
        low=pl.when(~lone_rater).then(pl.Series(low, dtype=pl.Float64)),
        high=pl.when(~lone_rater).then(pl.Series(high, dtype=pl.Float64)),
    )
