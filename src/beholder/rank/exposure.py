"""The exposure that people need to tell a generator's images from real ones: HYPE_time's score."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from beholder.rank.cells import Support, cells_of, rated_cells
from beholder.rank.error_rate import error_rates
from beholder.rank.rated import Rated
from beholder.study.study import Analysis

METHODS = {"modal-exposure": "modal_ms", "exposure-threshold": "threshold_ms"}
"""Each method, and the column of ``thresholds`` it averages: over a person's blocks, then over people."""


def exposures(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis, rng: np.random.Generator
) -> Iterator[Rated]:
    """Mean over people of the mean over blocks of the modal exposure, and of the threshold by likelihood.

    ``judgements`` have the block of their trial and the columns of its row of ``thresholds``. Where people judged
    several generators in a block, its staircase belongs to none of them; but all were then shown at the same
    exposures, and the error rates tell them apart.
    """
    alone = judgements.filter(pl.col("judged").is_not_null())
    if alone.is_empty():
        yield from error_rates(judgements, images, analysis, rng)
        return
    shown = alone.group_by("judged").agg(
        answers=pl.len().cast(pl.Int64), images=pl.col("image").n_unique().cast(pl.Int64)
    )
    blocks = alone.unique(["session", "block"], keep="first", maintain_order=True)
    for method, column in METHODS.items():
        known = blocks.filter(pl.col(column).is_not_null())
        if known.is_empty():
            continue
        people = known.group_by("rater", generator="judged").agg(total=pl.col(column).mean(), count=pl.lit(1))
        cells = cells_of(people.sort("rater", "generator"))
        behind = shown.filter(pl.col("judged").is_in(list(cells.generators))).sort("judged")
        unknown = np.full(behind.height, np.nan)  # a staircase has no independent answers
        support = Support(behind["answers"].to_numpy(), behind["images"].to_numpy(), (unknown, unknown))
        weights = cells.weights(analysis.draws, rng)
        yield rated_cells(cells, weights, support, aspect="realism", method=method, level=analysis.level)
