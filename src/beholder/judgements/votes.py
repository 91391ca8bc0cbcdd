"""Judgements as votes on two images."""

import polars as pl

from beholder.judgements.coding import ANSWER, PAIRED
from beholder.judgements.rankings import RANK, rankings_of, votes_of_rankings

VOTE = (*ANSWER, "image", "other", "value")
"""The columns of a vote."""


def votes_of(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return the votes among the judgements, then those that rankings imply, each in the order of the judgements.

    A vote has ``image``, ``other`` and how far it leans to ``image`` as ``value``; columns that say which answer
    it is of may be absent.
    """
    columns = [name for name in VOTE if name in judgements.columns]
    cast = judgements.filter(pl.col("value_kind").is_in(PAIRED)).select(columns)
    ranks = judgements.filter(pl.col("value_kind") == RANK)
    if ranks.is_empty():
        return cast
    return pl.concat([cast, votes_of_rankings(rankings_of(ranks)).select(VOTE)])


def in_order_of_ids(votes: pl.DataFrame) -> pl.DataFrame:
    """Return the votes with the images of every pair in the order of their ids, so that a pair has one name."""
    swapped = pl.col("image") > pl.col("other")
    return votes.with_columns(
        image=pl.min_horizontal("image", "other"),
        other=pl.max_horizontal("image", "other"),
        value=pl.when(swapped).then(0.0 - pl.col("value")).otherwise("value"),
    )
