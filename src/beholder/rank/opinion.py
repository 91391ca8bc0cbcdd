"""How good people find a generator's images: mean opinion scores."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from beholder.rank.cells import rated_values
from beholder.rank.rated import Rated
from beholder.study.study import Analysis


def mean_opinions(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis, rng: np.random.Generator
) -> Iterator[Rated]:
    """The mean of all ratings of a generator's images, aspect by aspect; people are resampled."""
    judged = judgements.select("rater", "aspect", "value", "image").join(
        images.select("image", "generator"), on="image", maintain_order="left"
    )
    for (aspect,), ratings in sorted(judged.partition_by("aspect", as_dict=True).items()):
        yield rated_values(ratings, aspect=str(aspect), method="mean-opinion", analysis=analysis, rng=rng)
