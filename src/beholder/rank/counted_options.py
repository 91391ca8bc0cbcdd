"""How often the options that count are chosen for a generator's images."""

from collections.abc import Iterator

import polars as pl

from beholder.rank.cells import rate_values
from beholder.rank.ratings import GeneratorRatings
from beholder.study.study import Analysis


def rate_by_counted_options(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate by the proportion of the answers that are options that count (``value`` 1).

    *Cannot tell* and *several* stay in the denominator: who leaves them out assumes that the others would have
    answered alike.
    """
    judged = judgements.select("rater", "image", "value").join(
        images.select("image", "generator"), on="image", maintain_order="left"
    )
    if not judged.is_empty():
        yield rate_values(judged, aspect="choice", method="option-share", analysis=analysis, proportions=True)
