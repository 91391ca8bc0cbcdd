"""Ratings from labels that were published in place of answers: mean opinion scores without the raters' answers."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from scipy.special import ndtri

from beholder.rank.ratings import ALL_IMAGES, GeneratorRatings
from beholder.stats.intervals.clustered_t import ratio_influence
from beholder.study.study import Analysis

METHOD = "published-mean"


def rate_by_published_labels(
    published: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[tuple[str, GeneratorRatings]]:
    """Rate by the mean of the published labels of a generator's images, aspect by aspect, overall and by style.

    Who gave which score was not published, so raters cannot be resampled. The bootstrap resamples prompts, with
    all the images that were generated for each (an image without a prompt is a unit of its own): the confidence
    interval is for other prompts judged by these raters, not for other raters.
    """
    labelled = (
        published.filter((pl.col("method") == METHOD) & pl.col("word").is_null())
        .join(images.select("image", "generator", "prompt", "style", "real"), on="image", maintain_order="left")
        .filter(~pl.col("real"))
        .with_columns(unit=pl.coalesce("prompt", "image"))
    )
    for slice_name, part in _slices(labelled):
        for (aspect,), labels in sorted(part.partition_by("aspect", as_dict=True).items()):
            yield slice_name, _rate(str(aspect), labels, analysis)


def _slices(labelled: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield all labels, then those of each style where there are several."""
    yield ALL_IMAGES, labelled
    styles = sorted(style for style in labelled["style"].unique() if style is not None)
    for style in styles if len(styles) > 1 else ():
        yield f"{style} (style)" if style == ALL_IMAGES else style, labelled.filter(pl.col("style") == style)


def _rate(aspect: str, labels: pl.DataFrame, analysis: Analysis) -> GeneratorRatings:
    generators = sorted(labels["generator"].unique())
    units = labels["unit"].unique().sort().to_list()
    cells = labels.group_by("unit", "generator").agg(total=pl.col("value").sum(), count=pl.len())
    row = cells["unit"].replace_strict(units, list(range(len(units)))).to_numpy()
    column = cells["generator"].replace_strict(generators, list(range(len(generators)))).to_numpy()
    totals, counts = np.zeros((len(units), len(generators))), np.zeros((len(units), len(generators)))
    totals[row, column] = cells["total"].to_numpy()
    counts[row, column] = cells["count"].to_numpy()
    by_generator = (
        labels.group_by("generator")
        .agg(
            mean=pl.col("value").mean(),
            error=(pl.col("value").std() / pl.len().sqrt()).fill_null(float("nan")),
            answers=pl.col("raters").sum(),
            images=pl.len().cast(pl.Int64),
            raters=pl.col("raters").max(),
        )
        .sort("generator")
    )
    mean, reach = (
        by_generator["mean"].to_numpy(),
        float(ndtri((1 + analysis.level) / 2)) * by_generator["error"].to_numpy(),
    )
    return GeneratorRatings(
        aspect=aspect,
        method=METHOD,
        generators=tuple(generators),
        influence=ratio_influence(totals, counts),
        naive=(mean - reach, mean + reach),
        answers=by_generator["answers"].to_numpy(),
        images=by_generator["images"].to_numpy(),
        rater_counts=by_generator["raters"].to_numpy(),
    )
