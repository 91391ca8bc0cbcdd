"""Single votes on pairs of images, for figures that resample people."""

import polars as pl

from beholder.judgements.votes import votes_of
from beholder.study.study import Study
from beholder.tables.store import Store

COUNTED = ("vote", "rank")
"""Kinds of judgements that are votes, or imply some."""


def used_votes(store: Store, study: Study, question: str | None) -> pl.DataFrame:
    """``rater``, ``image``, ``other``, and ``lead``: 1 for ``image``, −1 for ``other``, 0 for a tie.

    Of people whose answers are used; none where the study came without answers.
    """
    judgements = store.read_or_empty("judgements").filter("used", pl.col("value_kind").is_in(COUNTED))
    names = [name for name in (q.name for q in study.questions) if question in (None, "", name)]
    parts = [votes_of(judgements.filter(pl.col("question") == name)) for name in names]
    columns = ("rater", "image", "other", "value")
    votes = pl.concat([judgements.clear().select(columns), *(part.select(columns) for part in parts)])
    return votes.rename({"value": "lead"}).with_columns(pl.col("lead").cast(pl.Int64))
