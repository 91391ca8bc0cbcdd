"""Which generator raters put first: Plackett–Luce on whole rankings."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from beholder.judgements.rankings import rankings_of
from beholder.rank.preference import rate_by_bradley_terry
from beholder.rank.ratings import GeneratorRatings
from beholder.stats.comparisons.plackett_luce import ABSENT
from beholder.stats.comparisons.rated_items import rate_rankings
from beholder.study.study import Analysis


def rate_by_plackett_luce(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate in natural-log odds around 0, by Plackett–Luce.

    The model allows neither ties nor two images of one generator in a ranking; where either occurs, Bradley–Terry
    on the pairs that the rankings imply takes its place, and ``method`` says so.
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
        yield from rate_by_bradley_terry(judgements, images, analysis)
        return
    who, rows = _arrays(placed, generators)
    rated = rate_rankings(who, rows, names=generators)
    reach = float(ndtri((1 + analysis.level) / 2)) * rated.naive_errors
    image_counts = placed.group_by("generator").agg(pl.col("images").n_unique()).sort("generator")
    yield GeneratorRatings(
        aspect="preference",
        method="plackett-luce",
        generators=generators,
        influence=rated.influence,
        naive=(rated.fit.ratings - reach, rated.fit.ratings + reach),
        answers=rated.fit.answers,
        images=image_counts["images"].cast(pl.Int64).to_numpy(),
        ties=rated.ties,
        prior_used=rated.fit.prior_used,
    )


def _repeats(placed: pl.DataFrame, column: str) -> bool:
    """Say whether any ranking has a value of the column twice."""
    return bool(placed.select(pl.struct("row", column).is_duplicated().any()).item())


def _arrays(placed: pl.DataFrame, generators: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rater indices (rankings,) and generator indices, best first (rankings, longest)."""
    number = placed["generator"].replace_strict(list(generators), list(range(len(generators)))).to_numpy()
    row = placed["row"].to_numpy().astype(np.int64)
    position = placed.select(pl.int_range(pl.len()).over("row")).to_series().to_numpy()
    rows = np.full((int(row.max()) + 1, int(position.max()) + 1), ABSENT, dtype=np.int64)
    rows[row, position] = number
    raters = placed.group_by("row", maintain_order=True).agg(pl.col("rater").first())["rater"]
    return (raters.rank("dense").cast(pl.Int64) - 1).to_numpy(), rows
