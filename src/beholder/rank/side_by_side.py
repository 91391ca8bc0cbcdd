"""By how much people prefer a generator, from five answers: ≫ > ≈ < ≪."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from beholder.rank.cells import rated_values
from beholder.rank.preference import preferences
from beholder.rank.rated import Rated
from beholder.rank.votes import generator_votes
from beholder.study.study import Analysis

TIE_RULE = "about the same counts as 0, between −1 and 1"


def leanings(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis, rng: np.random.Generator
) -> Iterator[Rated]:
    """The mean preference over all rivals, from −2 to 2, and Bradley–Terry with *about the same* as a tie."""
    votes = generator_votes(judgements, images)
    if votes.is_empty():
        return
    both = pl.concat(
        [
            votes.select("rater", "image", "value", generator="first"),
            votes.select("rater", image="other", value=0.0 - pl.col("value"), generator="second"),
        ]
    )
    yield from preferences(judgements, images, analysis, rng)
    yield rated_values(
        both, aspect="preference", method="mean-preference", analysis=analysis, rng=rng, ties=TIE_RULE
    )
