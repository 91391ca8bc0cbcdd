"""Which generator raters prefer: Bradley–Terry with ties and a side effect."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from scipy.special import ndtri

from beholder.errors import StatisticsError
from beholder.judgements.generator_votes import generator_votes
from beholder.rank.ratings import GeneratorRatings
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.vote_table import FIRST, OUTCOMES, SECOND, TIE, tally_votes
from beholder.stats.comparisons.win_graph import comparison_components
from beholder.study.study import Analysis

TIE_RULE = "Davidson's model: a tie has a probability of its own"


def rate_by_bradley_terry(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate in natural-log odds around 0; the model has a term for the side on which an image stood."""
    votes = generator_votes(judgements, images)
    generators = tuple(pl.concat([votes["first"], votes["second"]]).unique().sort().to_list())
    if len(generators) < 2:
        return
    who = (votes["rater"].rank("dense").cast(pl.Int64) - 1).to_numpy()
    first, second = (
        votes[side].replace_strict(list(generators), list(range(len(generators)))).to_numpy()
        for side in ("first", "second")
    )
    outcome = np.select([votes["value"] > 0, votes["value"] < 0], [FIRST, SECOND], TIE).astype(np.int64)
    pairs, counts = tally_votes(who, first, second, outcome)
    groups = comparison_components(pairs, len(generators))
    if len(groups) > 1:
        raise never_compared(groups, generators)
    both_orders = {(int(a), int(b)) for a, b in pairs} & {(int(b), int(a)) for a, b in pairs}
    fit = bradley_terry(pairs, counts, items=len(generators), side_effect=bool(both_orders))
    totals = np.asarray(counts.sum(axis=0)).reshape(-1, OUTCOMES)
    unclustered = bradley_terry(pairs, totals, items=len(generators), side_effect=bool(both_orders))
    reach = float(ndtri((1 + analysis.level) / 2)) * unclustered.standard_errors
    yield GeneratorRatings(
        aspect="preference",
        method="bradley-terry",
        generators=generators,
        influence=fit.rater_influence(),
        naive=(fit.ratings - reach, fit.ratings + reach),
        answers=fit.answers,
        images=_count_images(votes, generators),
        ties=TIE_RULE,
        prior_used=fit.prior_used,
    )


def never_compared(groups: Sequence[Sequence[int]], generators: tuple[str, ...]) -> StatisticsError:
    """Return the error for generators whose comparisons form several components."""
    named = "; ".join(", ".join(generators[cell] for cell in group) for group in groups)
    return StatisticsError(
        "generators that were never compared, even through others, cannot be rated together: "
        f"found {len(groups)} separate groups ({named}). Collect pairs between them, or ask about each group "
        "in a question of its own"
    )


def _count_images(votes: pl.DataFrame, generators: tuple[str, ...]) -> np.ndarray:
    """Count the images behind each generator's rating."""
    generator_images = pl.concat(
        [votes.select(generator="first", image="image"), votes.select(generator="second", image="other")]
    ).unique()
    counts = dict(generator_images.group_by("generator").len().iter_rows())
    return np.asarray([counts[generator] for generator in generators], dtype=np.int64)
