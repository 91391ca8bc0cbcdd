"""Generators by labels that were published in place of answers: mean opinion scores without the people."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from scipy.special import ndtri

from beholder.rank.rated import Rated
from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights, ratio_of_sums
from beholder.study.study import Analysis

METHOD = "published-mean"
WHOLE = "all"


def published_means(
    published: pl.DataFrame, images: pl.DataFrame, analysis: Analysis, rng: np.random.Generator
) -> Iterator[tuple[str, Rated]]:
    """The mean of the published labels of a generator's images, aspect by aspect, as a whole and by style.

    Who gave which score was not published, so people cannot be resampled. The draws resample prompts, with all
    the images that were made for each (an image without a prompt stands alone): the interval is for other
    prompts judged by these people, not for other people.
    """
    labelled = (
        published.filter((pl.col("method") == METHOD) & pl.col("word").is_null())
        .join(images.select("image", "generator", "prompt", "style", "real"), on="image", maintain_order="left")
        .filter(~pl.col("real"))
        .with_columns(unit=pl.coalesce("prompt", "image"))
    )
    for piece, part in _pieces(labelled):
        for (aspect,), labels in sorted(part.partition_by("aspect", as_dict=True).items()):
            yield piece, _rated(str(aspect), labels, analysis, rng)


def _pieces(labelled: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """All labels, then those of each style where there are several."""
    yield WHOLE, labelled
    styles = sorted(style for style in labelled["style"].unique() if style is not None)
    for style in styles if len(styles) > 1 else ():
        yield f"{style} (style)" if style == WHOLE else style, labelled.filter(pl.col("style") == style)


def _rated(aspect: str, labels: pl.DataFrame, analysis: Analysis, rng: np.random.Generator) -> Rated:
    generators = sorted(labels["generator"].unique())
    units = labels["unit"].unique().sort().to_list()
    cells = labels.group_by("unit", "generator").agg(total=pl.col("value").sum(), count=pl.len())
    row = cells["unit"].replace_strict(units, list(range(len(units)))).to_numpy()
    column = cells["generator"].replace_strict(generators, list(range(len(generators)))).to_numpy()
    totals, counts = np.zeros((len(units), len(generators))), np.zeros((len(units), len(generators)))
    totals[row, column] = cells["total"].to_numpy()
    counts[row, column] = cells["count"].to_numpy()
    weights = rater_weights(np.zeros(len(units), dtype=np.int64), analysis.draws, rng)
    alone = (
        labels.group_by("generator")
        .agg(
            mean=pl.col("value").mean(),
            error=(pl.col("value").std() / pl.len().sqrt()).fill_null(float("nan")),
            answers=pl.col("raters").sum(),
            images=pl.len().cast(pl.Int64),
            people=pl.col("raters").max(),
        )
        .sort("generator")
    )
    mean, reach = alone["mean"].to_numpy(), float(ndtri((1 + analysis.level) / 2)) * alone["error"].to_numpy()
    return Rated(
        aspect=aspect,
        method=METHOD,
        generators=tuple(generators),
        estimates=clustered_ratio(totals, counts, weights, level=analysis.level),
        draws=ratio_of_sums(totals, counts, weights),
        naive=(mean - reach, mean + reach),
        answers=alone["answers"].to_numpy(),
        images=alone["images"].to_numpy(),
        within=True,
        people=alone["people"].to_numpy(),
    )
