"""Leaderboards that may be looked at as often as one likes: confidence sequences and sequential tests.

The unit is the rater, who enters once, with the mean of all their answers about a generator, in the order in which
sessions ended. Raters who are still answering wait: their means would change between two looks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.judgements.generator_values import FAKE_ERRORS, UNIT, GeneratorValues, generator_values
from beholder.stats.intervals.confidence_sequence import betting_sequence
from beholder.stats.significance.rank_ranges import rank_ranges
from beholder.stats.significance.sequential_separation import sequential_separation
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.tables.store import Store

ERRORS, REAL_ERRORS, EXPOSURE = "error-rate", "real-error-rate", "modal-exposure"

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class RaterMeans:
    """One mean per rater and generator, raters in the order in which they finished."""

    aspect: str
    method: str
    bounds: tuple[float, float]
    generators: tuple[str, ...]
    means: NDArray[np.float64]  # (raters, generators), nan where a rater did not judge a generator
    answers: tuple[int, ...]
    """Answers behind each generator's means."""


def anytime_boards(question: AnyQuestion, store: Store, *, level: float) -> dict[tuple[str, str], list[Row]]:
    """Return the rows of every leaderboard of a question that a confidence sequence exists for.

    Args:
        question: The question; its judgements are read from ``store``.
        store: Tables of the study as they stand now, consolidated.
        level: The probability with which every interval of one generator contains the true mean at all times,
            and with which no pair of one leaderboard is ever separated falsely.

    Returns:
        By aspect and method, one row per generator, the best first. Methods whose raters have no bounded means,
        such as Bradley–Terry and d′, are not among them, and none is before the first rater has finished.
    """
    boards = {}
    for means in rater_means(question, store):
        boards[means.aspect, means.method] = anytime_rows(means, level=level)
    return boards


def rater_means(question: AnyQuestion, store: Store) -> Iterator[RaterMeans]:
    """Yield the means of the raters who have finished, for every method whose values have bounds."""
    arrival = _arrivals(question, store)
    judgements = store.read("judgements").filter((pl.col("question") == question.name) & pl.col("used"))
    finished = judgements.join(arrival, on="rater", how="semi", maintain_order="left")
    images = store.read("images")
    for values in generator_values(question, finished, images):
        if values.method == FAKE_ERRORS:
            yield from _error_rates(values, finished, images, arrival)
        else:
            yield _tabulate(values, values.rows, arrival)
    if (adaptive := kind_of(question).adaptive(question)) is not None:
        settled = store.read("thresholds").filter(
            (pl.col("question") == question.name) & pl.col("generator").is_not_null()
        )
        counted = settled.join(finished, on="rater", how="semi", maintain_order="left")
        if not counted.is_empty():
            limits = (float(adaptive.shortest_ms), float(adaptive.longest_ms))
            exposures = counted.select("rater", "generator", "answers", value="modal_ms")
            yield _tabulate(GeneratorValues("realism", EXPOSURE, limits, exposures), exposures, arrival)


def anytime_rows(means: RaterMeans, *, level: float) -> list[Row]:
    """Return one row per generator: mean, confidence sequence now, range of ranks, and whom it is separated from.

    A rank is ruled out only by pairs that the sequential test separates.
    """
    judged_several = (~np.isnan(means.means)).sum(axis=1) > 1
    generators = means.generators
    separated: dict[str, list[str]] = {name: [] for name in generators}
    best = worst = np.ones(1, np.int64)
    if len(generators) > 1:
        tests = sequential_separation(
            means.means, within=bool(judged_several.any()), bounds=means.bounds, level=level
        )
        advantage = np.nan_to_num(tests.difference)
        best, worst = rank_ranges(tests.first, tests.second, advantage, tests.separated, len(generators))
        for pair in np.flatnonzero(tests.separated):
            first, second = generators[tests.first[pair]], generators[tests.second[pair]]
            separated[first].append(second)
            separated[second].append(first)
    rows: list[Row] = []
    for cell, name in enumerate(generators):
        scores = means.means[:, cell]
        sequence = betting_sequence(scores[~np.isnan(scores)], bounds=means.bounds, level=level)
        rows.append(
            {
                "generator": name,
                "rating": float(sequence.mean[-1]),
                "low": float(sequence.low[-1]),
                "high": float(sequence.high[-1]),
                "rank_low": int(best[cell]),
                "rank_high": int(worst[cell]),
                "answers": means.answers[cell],
                "raters": len(sequence.mean),
                "separated_from": separated[name],
            }
        )
    return sorted(rows, key=lambda row: (-row["rating"], row["generator"]))


def _arrivals(question: AnyQuestion, store: Store) -> pl.DataFrame:
    """Return the raters whose sessions have all ended, in the order in which they finished."""
    sessions = store.read("sessions").filter(pl.col("question") == question.name)
    ends = sessions.group_by("rater").agg(pl.col("ended").max(), running=pl.col("ended").is_null().any())
    return ends.filter(~pl.col("running")).sort("ended", "rater").select("rater").with_row_index("row")


def _error_rates(
    values: GeneratorValues, judgements: pl.DataFrame, images: pl.DataFrame, arrival: pl.DataFrame
) -> Iterator[RaterMeans]:
    """Yield the error rates on generated images, and where real ones were shown on both and on those."""
    real = images.filter("real").select("image")
    alarms = (
        judgements.join(real, on="image", how="semi")
        .group_by("rater")
        .agg(alarm=(pl.col("value") == 1).mean(), reals=pl.len())
    )
    if alarms.is_empty():
        yield _tabulate(values, values.rows, arrival)
        return
    missed = values.rows.group_by("rater", "generator").agg(pl.col("value").mean(), fakes=pl.len())
    both = missed.join(alarms, on="rater").with_columns(total=pl.col("fakes") + pl.col("reals"))
    if both.is_empty():
        return
    mean = (pl.col("value") + pl.col("alarm")) / 2
    for method, value, answers in (
        (ERRORS, mean, "total"),
        (FAKE_ERRORS, pl.col("value"), "fakes"),
        (REAL_ERRORS, pl.col("alarm"), "reals"),
    ):
        rows = both.select("rater", "generator", value=value, answers=answers)
        yield _tabulate(replace(values, method=method, bounds=UNIT), rows, arrival)


def _tabulate(values: GeneratorValues, rows: pl.DataFrame, arrival: pl.DataFrame) -> RaterMeans:
    """Return the means of ``rows``: ``rater``, ``generator``, ``value`` and, if a row is several, ``answers``."""
    counted = rows if "answers" in rows.columns else rows.with_columns(answers=pl.lit(1))
    cells = counted.group_by("rater", "generator").agg(pl.col("value").mean(), pl.col("answers").sum())
    generators = tuple(cells["generator"].unique().sort())
    placed = cells.join(arrival, on="rater").sort("row", "generator")
    row = (placed["row"].rank("dense").cast(pl.Int64) - 1).to_numpy()
    column = placed["generator"].replace_strict(list(generators), list(range(len(generators)))).to_numpy()
    means = np.full((int(row.max()) + 1, len(generators)), np.nan)
    means[row, column] = placed["value"].to_numpy()
    totals = dict(cells.group_by("generator").agg(pl.col("answers").sum()).iter_rows())
    return RaterMeans(
        values.aspect, values.method, values.bounds, generators, means, tuple(int(totals[g]) for g in generators)
    )
