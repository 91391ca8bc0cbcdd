"""Which generator raters prefer: Bradley–Terry with ties and a side effect."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from scipy.special import ndtri

from beholder.judgements.generator_votes import generator_votes
from beholder.rank.ratings import GeneratorRatings
from beholder.stats.comparisons.rated_items import rate_votes
from beholder.stats.comparisons.vote_table import FIRST, SECOND, TIE
from beholder.study.study import Analysis


def rate_by_bradley_terry(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate in natural-log odds around 0; the model has a term for the side on which an image stood."""
    votes = generator_votes(judgements, images)
    generators = tuple(pl.concat([votes["first"], votes["second"]]).unique().sort().to_list())
    if len(generators) < 2:
        return
    who = (votes["rater"].rank("dense").cast(pl.Int32) - 1).to_numpy()
    numbers = range(len(generators))
    first, second = (
        votes[side].replace_strict(list(generators), list(numbers), return_dtype=pl.Int32).to_numpy()
        for side in ("first", "second")
    )
    outcome = np.select([votes["value"] > 0, votes["value"] < 0], [FIRST, SECOND], TIE).astype(np.int8)
    rated = rate_votes(who, first, second, outcome, names=generators)
    reach = float(ndtri((1 + analysis.level) / 2)) * rated.naive_errors
    yield GeneratorRatings(
        aspect="preference",
        method="bradley-terry",
        generators=generators,
        influence=rated.influence,
        naive=(rated.fit.ratings - reach, rated.fit.ratings + reach),
        answers=rated.fit.answers,
        images=_count_images(votes, generators),
        ties=rated.ties,
        prior_used=rated.fit.prior_used,
    )


def _count_images(votes: pl.DataFrame, generators: tuple[str, ...]) -> np.ndarray:
    """Count the images behind each generator's rating."""
    sides = (votes.select(generator="first", image="image"), votes.select(generator="second", image="other"))
    generator_images = pl.concat([side.unique() for side in sides]).unique()
    counts = dict(generator_images.group_by("generator").len().iter_rows())
    return np.asarray([counts[generator] for generator in generators], dtype=np.int64)
