"""People × generators: what each person's answers add to the rating of each generator."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from beholder.rank.rated import Rated
from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights, ratio_of_sums
from beholder.stats.intervals.standard_error import clustered_error
from beholder.study.study import Analysis


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums and numbers of a person's scores for each generator; 0 of 0 where they did not judge it."""

    generators: tuple[str, ...]
    totals: NDArray[np.float64]  # (people, generators)
    counts: NDArray[np.float64]  # (people, generators)

    @property
    def within(self) -> bool:
        """Whether anybody judged several generators."""
        return bool(((self.counts > 0).sum(axis=1) > 1).any())

    def weights(self, draws: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Bootstrap weights; people who judge one generator each are drawn within their generator."""
        strata = np.zeros(len(self.counts), np.int64) if self.within else self.counts.argmax(axis=1)
        return rater_weights(strata, draws, rng)


@dataclass(frozen=True, eq=False)
class Support:
    """What stands behind each generator's rating, and its interval were all answers independent."""

    answers: NDArray[np.int64]  # (generators,)
    images: NDArray[np.int64]  # (generators,)
    naive: tuple[NDArray[np.float64], NDArray[np.float64]]  # low and high, each (generators,)


def cells_of(scores: pl.DataFrame) -> Cells:
    """Cells from rows of ``rater``, ``generator``, ``total`` and ``count``, one for each person and generator."""
    raters, generators = (scores[name].unique().sort() for name in ("rater", "generator"))
    row, column = (
        scores[name].replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
        for name, names in (("rater", raters), ("generator", generators))
    )
    totals, counts = np.zeros((len(raters), len(generators))), np.zeros((len(raters), len(generators)))
    totals[row, column] = scores["total"].to_numpy()
    counts[row, column] = scores["count"].to_numpy()
    return Cells(tuple(generators), totals, counts)


def rated_cells(
    cells: Cells,
    weights: NDArray[np.int32],
    support: Support,
    *,
    aspect: str,
    method: str,
    level: float,
    ties: str | None = None,
    higher_is_better: bool = True,
) -> Rated:
    """The ratio of sums over people as the rating of each generator."""
    return Rated(
        aspect=aspect,
        method=method,
        generators=cells.generators,
        estimates=clustered_ratio(cells.totals, cells.counts, weights, level=level),
        draws=ratio_of_sums(cells.totals, cells.counts, weights),
        naive=support.naive,
        answers=support.answers,
        images=support.images,
        within=cells.within,
        ties=ties,
        se=clustered_error(cells.totals, cells.counts),
        higher_is_better=higher_is_better,
    )


def rated_values(
    values: pl.DataFrame,
    *,
    aspect: str,
    method: str,
    analysis: Analysis,
    rng: np.random.Generator,
    ties: str | None = None,
) -> Rated:
    """The mean of all values of a generator, from rows with ``rater``, ``generator``, ``image`` and ``value``."""
    cells = cells_of(
        values.group_by("rater", "generator").agg(total=pl.col("value").sum(), count=pl.len()).sort("rater")
    )
    alone = (
        values.group_by("generator")
        .agg(
            mean=pl.col("value").mean(),
            error=(pl.col("value").std() / pl.len().sqrt()).fill_null(float("nan")),
            answers=pl.len().cast(pl.Int64),
            images=pl.col("image").n_unique().cast(pl.Int64),
        )
        .sort("generator")
    )
    mean, reach = alone["mean"].to_numpy(), float(ndtri((1 + analysis.level) / 2)) * alone["error"].to_numpy()
    support = Support(alone["answers"].to_numpy(), alone["images"].to_numpy(), (mean - reach, mean + reach))
    weights = cells.weights(analysis.draws, rng)
    return rated_cells(cells, weights, support, aspect=aspect, method=method, level=analysis.level, ties=ties)
