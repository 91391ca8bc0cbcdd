"""How often a generator's images pass in a rapid series without a press."""

from collections.abc import Iterator

import polars as pl

from beholder.rank.cells import rate_values
from beholder.rank.ratings import GeneratorRatings
from beholder.study.study import Analysis


def rate_by_pass_rate(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate by 1 less the mean credit that a generator's images have from presses (see ``judgements/credits``).

    A press is shared by the images that may have caused it, so real images have some credit too, and a generator
    all of whose images are recognised does not fall to 0: rates compare generators within one study. What real
    images get is the same for all where raters judge all generators.
    """
    judged = (
        judgements.select("rater", "image", value=1 - pl.col("value"))
        .join(images.select("image", "generator", "real"), on="image", maintain_order="left")
        .filter(~pl.col("real"))
    )
    if not judged.is_empty():
        yield rate_values(judged, aspect="realism", method="pass-rate", analysis=analysis, proportions=True)
