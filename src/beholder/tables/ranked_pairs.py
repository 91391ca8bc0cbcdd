"""Rankings as votes on pairs: who ranks n images says of n(n − 1)/2 pairs which is better."""

import polars as pl

LEFT, RIGHT, TIE = "left", "right", "tie"
"""As the kind *pair* writes its choices: the pair reads in the order in which its images were shown."""


def pairs_of_rankings(rankings: pl.DataFrame) -> pl.DataFrame:
    """A row for every two images of each row's ``images``, with the better one by ``ranking`` as ``choice``.

    ``images`` becomes the two images in the order shown; equal ranks are a tie. The other columns are repeated.
    """
    rows = rankings.with_row_index("row")
    placed = (
        rows.select("row", image="images", rank="ranking")
        .explode("image", "rank")
        .with_columns(place=pl.int_range(pl.len()).over("row"))
    )
    both = placed.join(placed, on="row", suffix="_after").filter(pl.col("place") < pl.col("place_after"))
    better, worse = pl.col("rank") < pl.col("rank_after"), pl.col("rank") > pl.col("rank_after")
    pairs = both.sort("row", "place", "place_after").select(
        "row",
        images=pl.concat_list("image", "image_after"),
        choice=pl.when(better).then(pl.lit(LEFT)).when(worse).then(pl.lit(RIGHT)).otherwise(pl.lit(TIE)),
    )
    rest = rows.drop("images", "ranking", "choice", strict=False)
    return pairs.join(rest, on="row", maintain_order="left").drop("row")
