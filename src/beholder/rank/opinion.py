"""How good people find a generator's images: mean opinion scores."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from scipy.special import ndtri

from beholder.rank.rated import Rated
from beholder.stats.bootstrap import clustered_ratio, person_weights, ratio_of_sums
from beholder.study.study import Analysis


def mean_opinions(
    tests: pl.DataFrame, images: pl.DataFrame, analysis: Analysis, rng: np.random.Generator
) -> Iterator[Rated]:
    """The mean of all ratings of a generator's images, aspect by aspect; people are resampled."""
    judged = tests.select("rater", "aspect", "value", image=pl.col("images").list.first()).join(
        images.select("image", "generator"), on="image", maintain_order="left"
    )
    for (aspect,), answers in sorted(judged.partition_by("aspect", as_dict=True).items()):
        generators = tuple(sorted(answers["generator"].unique()))
        raters = answers["rater"].unique().sort().to_list()
        cells = answers.group_by("rater", "generator").agg(total=pl.col("value").sum(), count=pl.len())
        row = cells["rater"].replace_strict(raters, list(range(len(raters)))).to_numpy()
        column = cells["generator"].replace_strict(list(generators), list(range(len(generators)))).to_numpy()
        totals, counts = np.zeros((len(raters), len(generators))), np.zeros((len(raters), len(generators)))
        totals[row, column] = cells["total"].to_numpy()
        counts[row, column] = cells["count"].to_numpy()
        weights = person_weights(np.zeros(len(raters), dtype=np.int64), analysis.draws, rng)
        alone = _by_generator(answers, generators)
        reach = float(ndtri((1 + analysis.level) / 2)) * alone["error"].to_numpy()
        mean = alone["mean"].to_numpy()
        yield Rated(
            aspect=str(aspect),
            method="mean-opinion",
            generators=generators,
            estimates=clustered_ratio(totals, counts, weights, level=analysis.level),
            draws=ratio_of_sums(totals, counts, weights),
            naive=(mean - reach, mean + reach),
            answers=alone["answers"].to_numpy().astype(np.int64),
            images=alone["images"].to_numpy().astype(np.int64),
            within=True,
        )


def _by_generator(answers: pl.DataFrame, generators: tuple[str, ...]) -> pl.DataFrame:
    """Mean, its error were all answers independent, answers and images of each generator."""
    return (
        answers.group_by("generator")
        .agg(
            mean=pl.col("value").mean(),
            error=pl.col("value").std() / pl.len().sqrt(),
            answers=pl.len(),
            images=pl.col("image").n_unique(),
        )
        .sort("generator")
        .filter(pl.col("generator").is_in(list(generators)))
        .with_columns(pl.col("error").fill_null(float("nan")))
    )
