"""What people said of every two generators: the shares of ≫ > ≈ < ≪, or of > ≈ <."""

import numpy as np
import polars as pl

from beholder.rank.votes import generator_votes
from beholder.stats.intervals.proportions import wilson
from beholder.tables.schemas.rank import OUTCOMES

FIVE = dict(zip(range(2, -3, -1), OUTCOMES, strict=True))
"""The outcome of each leaning."""

PAIR = ["generator", "other"]


def comparison_rows(
    question: str, piece: str, judgements: pl.DataFrame, images: pl.DataFrame, *, level: float
) -> pl.DataFrame:
    """The ``comparisons`` rows of one slice: of every pair of generators the share of each outcome.

    Votes of one person are alike, so Wilson's interval takes not the number of votes but the number of independent
    ones that would vary as much between people: p(1 − p)/SE², with SE the linearised standard error over people;
    where all votes are alike, the number of people.
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
    parts = [_shares(canonical, end, level) for end in ends] if not canonical.is_empty() else []
    rows = pl.concat(parts) if parts else _shares(canonical, 0, level)
    order = pl.Enum(OUTCOMES)
    return rows.sort(*PAIR, pl.col("outcome").cast(order)).with_columns(
        question=pl.lit(question), aspect=pl.lit("preference"), slice=pl.lit(piece)
    )


def _shares(votes: pl.DataFrame, leaning: int, level: float) -> pl.DataFrame:
    people = (
        votes.group_by(*PAIR, "rater")
        .agg(had=(pl.col("leaning") == leaning).sum().cast(pl.Float64), votes=pl.len().cast(pl.Float64))
        .sort(*PAIR, "rater")  # sums are taken in one order, so that a run can be repeated to the last digit
    )
    share = pl.col("had").sum() / pl.col("votes").sum()
    off = (pl.col("had") - share * pl.col("votes")) ** 2
    n = pl.len().cast(pl.Float64)
    rows = (
        people.group_by(PAIR, maintain_order=True)
        .agg(
            share=share,
            variance=n / (n - 1) * off.sum() / pl.col("votes").sum() ** 2,
            answers=pl.col("votes").sum().cast(pl.Int64),
            raters=pl.len().cast(pl.Int64),
        )
        .sort(PAIR)
    )
    p, votes_count, raters = (rows[name].to_numpy() for name in ("share", "answers", "raters"))
    variance = rows["variance"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        independent = np.where(
            variance > 0, p * (1 - p) / variance, np.where((p > 0) & (p < 1), votes_count, raters)
        )
    independent = np.clip(np.nan_to_num(independent, nan=1.0), 1, votes_count)
    low, high = wilson(p * independent, independent, level)
    alone = pl.col("raters") < 2
    return rows.drop("variance").with_columns(
        outcome=pl.lit(FIVE[leaning]),
        low=pl.when(~alone).then(pl.Series(low, dtype=pl.Float64)),
        high=pl.when(~alone).then(pl.Series(high, dtype=pl.Float64)),
    )
