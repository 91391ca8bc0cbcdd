"""The exposure that raters need to distinguish a generator's images from real ones: HYPE_time's score."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from beholder.rank.cells import Support, rate_cells, tally_cells
from beholder.rank.error_rate import rate_by_errors
from beholder.rank.ratings import GeneratorRatings
from beholder.study.study import Analysis

METHODS = {"modal-exposure": "modal_ms", "exposure-threshold": "threshold_ms"}
"""Each method, and the column of ``thresholds`` it averages: over a rater's blocks, then over raters."""


def rate_by_exposure(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate by the mean over raters of the mean over blocks of the modal exposure, and of the threshold.

    The threshold is the one of maximum likelihood. ``judgements`` have the block of their trial and the columns of
    its row of ``thresholds``. Where raters judged several generators in a block, its staircase belongs to none of
    them; but all were then shown at the same exposures, and the error rates compare them.
    """
    one_generator = judgements.filter(pl.col("judged").is_not_null())
    if one_generator.is_empty():
        yield from rate_by_errors(judgements, images, analysis)
        return
    exposed = one_generator.group_by("judged").agg(
        answers=pl.len().cast(pl.Int64), images=pl.col("image").n_unique().cast(pl.Int64)
    )
    blocks = one_generator.unique(["session", "block"], keep="first", maintain_order=True)
    for method, column in METHODS.items():
        settled = blocks.filter(pl.col(column).is_not_null())
        if settled.is_empty():
            continue
        by_rater = settled.group_by("rater", generator="judged").agg(total=pl.col(column).mean(), count=pl.lit(1))
        cells = tally_cells(by_rater.sort("rater", "generator"))
        behind = exposed.filter(pl.col("judged").is_in(list(cells.generators))).sort("judged")
        undefined = np.full(behind.height, np.nan)  # a staircase has no independent answers
        support = Support(behind["answers"].to_numpy(), behind["images"].to_numpy(), (undefined, undefined))
        yield rate_cells(cells, support, aspect="realism", method=method)
