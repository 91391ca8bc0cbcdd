"""By how much raters prefer a generator, from five answers: ≫ > ≈ < ≪."""

from collections.abc import Iterator

import polars as pl

from beholder.judgements.generator_votes import generator_votes
from beholder.rank.cells import rate_values
from beholder.rank.preference import rate_by_bradley_terry
from beholder.rank.ratings import GeneratorRatings
from beholder.study.study import Analysis

TIE_RULE = "about the same counts as 0, between −1 and 1"


def rate_by_mean_preference(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate by Bradley–Terry with *about the same* as a tie, and by the mean preference over rivals (−2 to 2)."""
    votes = generator_votes(judgements, images)
    if votes.is_empty():
        return
    both = pl.concat(
        [
            votes.select("rater", "image", "value", generator="first"),
            votes.select("rater", image="other", value=0.0 - pl.col("value"), generator="second"),
        ]
    )
    yield from rate_by_bradley_terry(judgements, images, analysis)
    yield rate_values(both, aspect="preference", method="mean-preference", analysis=analysis, ties=TIE_RULE)
