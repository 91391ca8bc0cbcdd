"""Votes on two images as votes on their generators."""

import polars as pl

from beholder.judgements.votes import votes_of


def generator_votes(judgements: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """One row per vote: ``rater``, ``image``, ``other``, their generators ``first`` and ``second``, and ``value``.

    Votes on two images of one generator say nothing about generators: left out.
    """
    generator_of = images.select("image", "generator")
    return (
        votes_of(judgements)
        .select("rater", "value", "image", "other")
        .join(generator_of.rename({"generator": "first"}), on="image", maintain_order="left")
        .join(generator_of.rename({"image": "other", "generator": "second"}), on="other", maintain_order="left")
        .filter(pl.col("first") != pl.col("second"))
    )
