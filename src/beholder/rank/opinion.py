"""How good raters find a generator's images: mean opinion scores."""

from collections.abc import Iterator

import polars as pl

from beholder.rank.cells import rate_values
from beholder.rank.ratings import GeneratorRatings
from beholder.study.study import Analysis


def rate_by_mean_opinion(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate by the mean of the ratings of a generator's images, aspect by aspect."""
    judged = judgements.select("rater", "aspect", "value", "image").join(
        images.select("image", "generator"), on="image", maintain_order="left"
    )
    for (aspect,), ratings in sorted(judged.partition_by("aspect", as_dict=True).items()):
        yield rate_values(ratings, aspect=str(aspect), method="mean-opinion", analysis=analysis)
