"""Votes on two images as votes on their generators."""

import polars as pl

from beholder.judgements.votes import votes_of


def generator_votes(judgements: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """Return one row per vote on images of two generators.

    Columns: ``rater``, ``image``, ``other``, their generators ``first`` and ``second``, and ``value``. Votes on
    two images of one generator say nothing about generators and are dropped.
    """
    generator_of = images.select("image", "generator")
    return (
        votes_of(judgements)
        .select("rater", "value", "image", "other")
        .join(generator_of.rename({"generator": "first"}), on="image", maintain_order="left")
        .join(generator_of.rename({"image": "other", "generator": "second"}), on="other", maintain_order="left")
        .filter(pl.col("first") != pl.col("second"))
    )
