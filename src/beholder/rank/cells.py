"""Raters × generators: what each rater's answers contribute to the rating of each generator."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from beholder.rank.ratings import GeneratorRatings
from beholder.stats.intervals.clustered_t import ratio_influence
from beholder.study.study import Analysis


@dataclass(frozen=True, eq=False)
class Cells:
    """Sum and number of each rater's scores for each generator; 0 of 0 where the rater did not judge it."""

    generators: tuple[str, ...]
    totals: NDArray[np.float64]  # (raters, generators)
    counts: NDArray[np.float64]  # (raters, generators)


@dataclass(frozen=True, eq=False)
class Support:
    """What stands behind each generator's rating, and its confidence interval if all answers were independent."""

    answers: NDArray[np.int64]  # (generators,)
    images: NDArray[np.int64]  # (generators,)
    naive: tuple[NDArray[np.float64], NDArray[np.float64]]  # low and high, each (generators,)


def tally_cells(scores: pl.DataFrame) -> Cells:
    """Build cells from ``rater``, ``generator``, ``total`` and ``count``, one row per rater and generator."""
    raters, generators = (scores[name].unique().sort() for name in ("rater", "generator"))
    row, column = (
        scores[name].replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
        for name, names in (("rater", raters), ("generator", generators))
    )
    totals, counts = np.zeros((len(raters), len(generators))), np.zeros((len(raters), len(generators)))
    totals[row, column] = scores["total"].to_numpy()
    counts[row, column] = scores["count"].to_numpy()
    return Cells(tuple(generators), totals, counts)


def rate_cells(
    cells: Cells,
    support: Support,
    *,
    aspect: str,
    method: str,
    ties: str | None = None,
    proportions: bool = False,
    higher_is_better: bool = True,
) -> GeneratorRatings:
    """Rate each generator by the ratio of sums over raters; ``proportions`` lie between 0 and 1."""
    return GeneratorRatings(
        aspect=aspect,
        method=method,
        generators=cells.generators,
        influence=ratio_influence(cells.totals, cells.counts, proportions=proportions),
        naive=support.naive,
        answers=support.answers,
        images=support.images,
        ties=ties,
        higher_is_better=higher_is_better,
    )


def rate_values(
    values: pl.DataFrame,
    *,
    aspect: str,
    method: str,
    analysis: Analysis,
    ties: str | None = None,
    proportions: bool = False,
) -> GeneratorRatings:
    """Rate each generator by its mean value, from rows with ``rater``, ``generator``, ``image`` and ``value``.

    The mean of every rater's answers counts the same, or every answer does (``analysis.weight``).
    """
    by_rater = values.group_by("rater", "generator").agg(
        total=pl.col("value").sum(), answers=pl.len().cast(pl.Float64)
    )
    each = pl.col("answers") if analysis.weight == "raters" else pl.lit(1.0)
    shares = by_rater.with_columns(total=pl.col("total") / each, count=pl.col("answers") / each).sort("rater")
    cells = tally_cells(shares)
    by_generator = (
        values.group_by("generator")
        .agg(
            spread=pl.col("value").std().fill_null(float("nan")),
            answers=pl.len().cast(pl.Int64),
            images=pl.col("image").n_unique().cast(pl.Int64),
        )
        .join(shares.group_by("generator").agg(mean=_mean(), squares=_squared_weights()), on="generator")
        .sort("generator")
    )
    mean, spread, squares = (by_generator[name].to_numpy() for name in ("mean", "spread", "squares"))
    reach = float(ndtri((1 + analysis.level) / 2)) * spread * np.sqrt(squares)
    support = Support(
        by_generator["answers"].to_numpy(), by_generator["images"].to_numpy(), (mean - reach, mean + reach)
    )
    return rate_cells(cells, support, aspect=aspect, method=method, ties=ties, proportions=proportions)


def _mean() -> pl.Expr:
    """The rating of one generator: its raters' totals over their counts."""
    return pl.col("total").sum() / pl.col("count").sum()


def _squared_weights() -> pl.Expr:
    """Σ of the squared weights of single answers: 1 / answers where all weigh the same.

    An answer of a rater weighs count/answers among the sum of all counts.
    """
    return (pl.col("count") ** 2 / pl.col("answers")).sum() / pl.col("count").sum() ** 2
