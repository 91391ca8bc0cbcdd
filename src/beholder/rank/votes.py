"""Votes on two images as votes on their generators."""

import polars as pl

from beholder.study.kinds.pair import TIE
from beholder.study.kinds.side_by_side import BETTER, MUCH_BETTER, MUCH_WORSE, SAME, WORSE

LEANINGS = {MUCH_BETTER: 2, BETTER: 1, SAME: 0, TIE: 0, WORSE: -1, MUCH_WORSE: -2}
"""How far each choice leans to the left image; the kind *pair* has no 2."""


def votes_of(tests: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """A row a vote: ``rater``, images ``left`` and ``right``, their generators ``first`` and ``second``, and
    ``leaning``, from −2 to 2. Votes on two images of one generator say nothing about generators: left out."""
    generator_of = images.select("image", "generator")
    left, right = pl.col("images").list.get(0), pl.col("images").list.get(1)
    leaning = pl.col("choice").replace_strict(LEANINGS, return_dtype=pl.Int64)
    return (
        tests.select("rater", leaning=leaning, left=left, right=right)
        .join(generator_of.rename({"image": "left", "generator": "first"}), on="left", maintain_order="left")
        .join(generator_of.rename({"image": "right", "generator": "second"}), on="right", maintain_order="left")
        .filter(pl.col("first") != pl.col("second"))
    )
