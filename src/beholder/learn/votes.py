"""Single answers on pairs of images, for figures that resample people."""

import polars as pl

from beholder.study.study import Study
from beholder.tables.joined import used_answers
from beholder.tables.ranked_pairs import LEFT, RIGHT, pairs_of_rankings
from beholder.tables.store import Store

SCHEMA = {"rater": pl.String(), "image": pl.String(), "other": pl.String(), "lead": pl.Int64()}
"""``lead`` is 1 where the person preferred ``image``, −1 for ``other``, 0 for a tie."""


def votes_of(store: Store, study: Study, question: str | None) -> pl.DataFrame:
    """The votes of people whose answers are used; none where the study came without answers."""
    if not store.has("answers") or not store.has("raters"):
        return pl.DataFrame(schema=SCHEMA)
    answers = used_answers(store)
    parts = [pl.DataFrame(schema=SCHEMA)]
    for one in study.questions:
        if one.kind not in ("pair", "ranking") or (question and one.name != question):
            continue
        mine = answers.filter(pl.col("question") == one.name).select("rater", "images", "choice", "ranking")
        pairs = pairs_of_rankings(mine.drop("choice")) if one.kind == "ranking" else mine
        lead = pl.when(pl.col("choice") == LEFT).then(1).when(pl.col("choice") == RIGHT).then(-1).otherwise(0)
        shown = {"image": pl.col("images").list.get(0), "other": pl.col("images").list.get(1)}
        parts.append(pairs.select("rater", **shown, lead=lead.cast(pl.Int64)))
    return pl.concat(parts)
