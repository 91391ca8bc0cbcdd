"""Which generator people put first: Plackett–Luce on whole rankings."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from beholder.judgements.rankings import rankings_of
from beholder.rank.preference import never_compared, preferences
from beholder.rank.rated import Rated
from beholder.stats.comparisons.plackett_luce import ABSENT, TIE_RULE, plackett_luce
from beholder.stats.comparisons.win_graph import comparison_components
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.study.study import Analysis


def rankings(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis, rng: np.random.Generator
) -> Iterator[Rated]:
    """Ratings in natural-log odds around 0, by Plackett–Luce.

    It knows neither ties nor two images of one generator in a ranking; where either occurs, Bradley–Terry on the
    pairs that the rankings imply takes its place, and ``method`` says so.
    """
    placed = (
        rankings_of(judgements)
        .select("rater", "images", "ranking")
        .with_row_index("row")
        .explode("images", "ranking")
        .join(images.select("generator", images="image"), on="images", maintain_order="left")
        .sort("row", "ranking", maintain_order=True)
    )
    generators = tuple(placed["generator"].unique().sort().to_list())
    if len(generators) < 2:
        return
    if _repeats(placed, "ranking") or _repeats(placed, "generator"):
        yield from preferences(judgements, images, analysis, rng)
        return
    who, rows = _arrays(placed, generators)
    apart = comparison_components(_neighbours(rows), len(generators))
    if len(apart) > 1:
        raise never_compared(apart, generators)
    weights = rater_weights(np.zeros(int(who.max()) + 1, dtype=np.int64), analysis.draws, rng)
    fit = plackett_luce(who, rows, items=len(generators), weights=weights)
    alone = plackett_luce(np.arange(len(rows)), rows, items=len(generators))  # as if each were another person's
    reach = float(ndtri((1 + analysis.level) / 2)) * alone.standard_errors
    shown = placed.group_by("generator").agg(pl.col("images").n_unique()).sort("generator")
    yield Rated(
        aspect="preference",
        method="plackett-luce",
        generators=generators,
        estimates=fit.estimates(level=analysis.level),
        draws=fit.rating_replicates,
        naive=(fit.ratings - reach, fit.ratings + reach),
        answers=fit.answers,
        images=shown["images"].cast(pl.Int64).to_numpy(),
        within=True,
        ties=TIE_RULE,
        se=fit.standard_errors,
        prior_used=fit.prior_used,
        prior_share=fit.prior_share,
    )


def _repeats(placed: pl.DataFrame, column: str) -> bool:
    """Whether any ranking has a value of the column twice."""
    return bool(placed.select(pl.struct("row", column).is_duplicated().any()).item())


def _arrays(placed: pl.DataFrame, generators: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Person numbers (rankings,) and generators by number, best first (rankings, longest)."""
    number = placed["generator"].replace_strict(list(generators), list(range(len(generators)))).to_numpy()
    row = placed["row"].to_numpy().astype(np.int64)
    place = placed.select(pl.int_range(pl.len()).over("row")).to_series().to_numpy()
    rows = np.full((int(row.max()) + 1, int(place.max()) + 1), ABSENT, dtype=np.int64)
    rows[row, place] = number
    raters = placed.group_by("row", maintain_order=True).agg(pl.col("rater").first())["rater"]
    return (raters.rank("dense").cast(pl.Int64) - 1).to_numpy(), rows


def _neighbours(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every two generators next to each other in a ranking (pairs, 2): enough to tell which hang together."""
    pairs = np.stack([rows[:, :-1].ravel(), rows[:, 1:].ravel()], axis=1)
    return np.unique(pairs[(pairs != ABSENT).all(axis=1)], axis=0)
