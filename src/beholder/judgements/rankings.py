"""Ranks as complete rankings, and as the votes they imply: a ranking of n images has n(n − 1)/2 pairs."""

import polars as pl

RANK = "rank"
"""The kind of value of these judgements."""

RANKING = ("trial", "session", "attempt")
"""What the ranks of one ranking share."""


def rankings_of(ranks: pl.DataFrame) -> pl.DataFrame:
    """Return one row per ranking: its rater and trial, ``images`` as shown, and their ranks as ``ranking``."""
    in_order = ranks.select("rater", "aspect", *RANKING, "place", "image", "value").sort(
        "place", maintain_order=True
    )
    return in_order.group_by(RANKING, maintain_order=True).agg(
        pl.col("rater", "aspect").first(), images="image", ranking="value"
    )


def votes_of_rankings(rankings: pl.DataFrame) -> pl.DataFrame:
    """Return a vote for every two images of each row: 1 where the first ranks better, −1 the second, 0 a tie.

    ``image`` and ``other`` stand in the order shown. The other columns are repeated.
    """
    rows = rankings.with_row_index("row")
    placed = (
        rows.select("row", image="images", rank="ranking")
        .explode("image", "rank")
        .with_columns(place=pl.int_range(pl.len()).over("row"))
    )
    both = placed.join(placed, on="row", suffix="_after").filter(pl.col("place") < pl.col("place_after"))
    better, worse = pl.col("rank") < pl.col("rank_after"), pl.col("rank") > pl.col("rank_after")
    votes = both.sort("row", "place", "place_after").select(
        "row",
        "image",
        other="image_after",
        value=pl.when(better).then(1.0).when(worse).then(-1.0).otherwise(0.0),
    )
    return votes.join(rows.drop("images", "ranking"), on="row", maintain_order="left").drop("row")
