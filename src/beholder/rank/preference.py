"""Which generator people prefer: Bradley–Terry with ties and a side effect."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from beholder.errors import StatisticsError
from beholder.rank.rated import Rated
from beholder.stats.bootstrap import person_weights
from beholder.stats.bradley_terry import FIRST, SECOND, TIE, bradley_terry, tally_votes
from beholder.stats.win_graph import comparison_components
from beholder.study.kinds.pair import LEFT, RIGHT
from beholder.study.kinds.pair import TIE as TIED
from beholder.study.study import Analysis

TIE_RULE = "Davidson's model: a tie has a probability of its own"


def preferences(
    tests: pl.DataFrame, images: pl.DataFrame, analysis: Analysis, rng: np.random.Generator
) -> Iterator[Rated]:
    """Ratings in natural-log odds around 0; the side on which an image stood is allowed for."""
    if tests.is_empty():
        return
    generator_of = images.select("image", "generator")
    votes = (
        tests.select("rater", "choice", left=pl.col("images").list.get(0), right=pl.col("images").list.get(1))
        .join(generator_of.rename({"image": "left", "generator": "first"}), on="left", maintain_order="left")
        .join(generator_of.rename({"image": "right", "generator": "second"}), on="right", maintain_order="left")
    )
    generators = tuple(pl.concat([votes["first"], votes["second"]]).unique().sort().to_list())
    if len(generators) < 2:
        return
    who = (votes["rater"].rank("dense").cast(pl.Int64) - 1).to_numpy()
    first, second = (
        votes[side].replace_strict(list(generators), list(range(len(generators)))).to_numpy()
        for side in ("first", "second")
    )
    outcome = votes["choice"].replace_strict({LEFT: FIRST, RIGHT: SECOND, TIED: TIE}).to_numpy()
    pairs, counts = tally_votes(who, first, second, outcome)
    _require_connected(pairs, generators)
    both_orders = {(int(a), int(b)) for a, b in pairs} & {(int(b), int(a)) for a, b in pairs}
    weights = person_weights(np.zeros(len(counts), dtype=np.int64), analysis.draws, rng)
    fit = bradley_terry(pairs, counts, items=len(generators), weights=weights, side_effect=bool(both_orders))
    alone = bradley_terry(pairs, counts.sum(axis=0), items=len(generators), side_effect=bool(both_orders))
    reach = float(ndtri((1 + analysis.level) / 2)) * alone.standard_errors
    yield Rated(
        aspect="preference",
        method="bradley-terry",
        generators=generators,
        estimates=fit.estimates(level=analysis.level),
        draws=fit.rating_draws,
        naive=(fit.ratings - reach, fit.ratings + reach),
        answers=fit.answers,
        images=_images(votes, generators),
        within=True,
        ties=TIE_RULE,
    )


def _require_connected(pairs: NDArray[np.int64], generators: tuple[str, ...]) -> None:
    groups = comparison_components(pairs, len(generators))
    if len(groups) > 1:
        named = "; ".join(", ".join(generators[cell] for cell in group) for group in groups)
        raise StatisticsError(
            "generators that were never compared, even through others, cannot be rated together: "
            f"found {len(groups)} separate groups ({named}). Collect pairs between them, or ask about each group "
            "in a question of its own"
        )


def _images(votes: pl.DataFrame, generators: tuple[str, ...]) -> np.ndarray:
    """Images behind each generator's rating."""
    shown = pl.concat(
        [votes.select(generator="first", image="left"), votes.select(generator="second", image="right")]
    ).unique()
    counts = dict(shown.group_by("generator").len().iter_rows())
    return np.asarray([counts[generator] for generator in generators], dtype=np.int64)
