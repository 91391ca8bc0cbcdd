"""Staircases: how the exposure moved in each block, and where it converged."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import stdtrit

from beholder.report.tables.leaderboard import Board, Standing

MOST_GENERATORS = 6
MOST_TRACES = 8
"""Blocks drawn per generator, spread evenly from the shortest to the longest modal exposure."""

ALL = "all generators"
"""Where several generators share a block, its staircase belongs to none of them."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over raters, each weighted alike, with its confidence interval."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ConvergedExposure:
    """Where the staircases of the raters who judged one generator converged."""

    generator: str
    raters: int
    blocks: int
    converged: int
    """Blocks with enough reversals, away from both ends."""
    modal: Mean
    reversal: Mean
    threshold: Mean
    right: Mean
    at_shortest: float
    at_longest: float
    """Proportions of trials at the shortest and at the longest exposure."""


@dataclass(frozen=True, slots=True)
class Traces:
    """Some blocks of one generator, and the median exposure of all of them by trial."""

    generator: str
    blocks: int
    paths: tuple[tuple[float, ...], ...]
    """Exposures of some blocks, trial by trial."""
    median: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RaterExposure:
    """The modal exposure of one rater, averaged over their blocks."""

    generator: str
    rater: str
    modal: float
    used: bool


@dataclass(frozen=True, slots=True)
class Staircases:
    """All staircases of one question."""

    generators: tuple[ConvergedExposure, ...]
    traces: tuple[Traces, ...]
    raters: tuple[RaterExposure, ...]
    level: float


def build_staircases(
    question: str,
    thresholds: pl.DataFrame,
    judged: pl.DataFrame,
    used: Sequence[str],
    boards: Sequence[Board],
    level: float,
) -> Staircases | None:
    """The staircases of a question, generators in the order of its first board; ``None`` where none were run.

    The table and the traces are of the raters ``used``, the exposures of raters are of all. Ratings on ``boards``
    keep the confidence intervals of their board.
    """
    blocks = thresholds.filter(pl.col("question") == question).with_columns(pl.col("generator").fill_null(ALL))
    if blocks.is_empty():
        return None
    names = set(blocks["generator"])
    order = [row.generator for row in boards[0].rows] if boards else []
    in_order = [name for name in order if name in names] + sorted(names - set(order))
    rated = {(board.method, row.generator): row for board in boards for row in board.rows}
    used_blocks = blocks.filter(pl.col("rater").is_in(list(used)))
    trials = judged.filter((pl.col("question") == question) & pl.col("ms").is_not_null())
    drawn = [_traces(name, part, trials) for name, part in _parts(used_blocks, in_order[:MOST_GENERATORS])]
    return Staircases(
        generators=tuple(_converged(name, part, rated, level) for name, part in _parts(used_blocks, in_order)),
        traces=tuple(traces for traces in drawn if traces.paths),
        raters=_rater_exposures(blocks, set(used)),
        level=level,
    )


def _parts(blocks: pl.DataFrame, names: Sequence[str]) -> list[tuple[str, pl.DataFrame]]:
    parts = [(name, blocks.filter(pl.col("generator") == name)) for name in names]
    return [(name, part) for name, part in parts if not part.is_empty()]


def _converged(
    generator: str, blocks: pl.DataFrame, rated: Mapping[tuple[str, str], Standing], level: float
) -> ConvergedExposure:
    def mean(method: str, column: str) -> Mean:
        row = rated.get((method, generator))
        return Mean(row.rating, row.low, row.high) if row else _over_raters(blocks, column, level)

    weights = blocks["answers"].to_numpy()
    return ConvergedExposure(
        generator=generator,
        raters=blocks["rater"].n_unique(),
        blocks=blocks.height,
        converged=int(blocks["converged"].sum()),
        modal=mean("modal-exposure", "modal_ms"),
        reversal=_over_raters(blocks, "reversal_ms", level),
        threshold=mean("exposure-threshold", "threshold_ms"),
        right=_over_raters(blocks, "right_share", level),
        at_shortest=float(np.average(blocks["floor_share"].to_numpy(), weights=weights)),
        at_longest=float(np.average(blocks["ceiling_share"].to_numpy(), weights=weights)),
    )


def _over_raters(blocks: pl.DataFrame, column: str, level: float) -> Mean:
    """Mean over raters of the mean over their blocks: mean ± t(n − 1) · s/√n."""
    own = blocks.drop_nulls(column).group_by("rater").agg(pl.col(column).mean())[column].sort().to_numpy()
    if not len(own):
        return Mean(None, None, None)
    mean = float(own.mean())
    if len(own) < 2:
        return Mean(mean, None, None)
    reach = float(stdtrit(len(own) - 1, (1 + level) / 2)) * float(own.std(ddof=1)) / math.sqrt(len(own))
    return Mean(mean, mean - reach, mean + reach)


def _traces(generator: str, blocks: pl.DataFrame, trials: pl.DataFrame) -> Traces:
    ranked = blocks.sort("modal_ms", "session", "block").select("session", "block")
    paths = (
        trials.join(ranked, on=["session", "block"], how="semi")
        .sort("session", "block", "position")
        .group_by("session", "block", maintain_order=True)
        .agg("ms")
    )
    by_block = {(session, block): ms for session, block, ms in paths.iter_rows()}
    in_order = [by_block[key] for key in ranked.iter_rows() if key in by_block]
    if not in_order:
        return Traces(generator, blocks.height, (), ())
    chosen = np.unique(np.linspace(0, len(in_order) - 1, min(MOST_TRACES, len(in_order))).round().astype(int))
    longest = max(len(path) for path in in_order)
    table = np.full((len(in_order), longest), np.nan)
    for number, path in enumerate(in_order):
        table[number, : len(path)] = path
    return Traces(
        generator,
        blocks.height,
        tuple(tuple(in_order[number]) for number in chosen),
        tuple(float(value) for value in np.nanmedian(table, axis=0)),
    )


def _rater_exposures(blocks: pl.DataFrame, used: set[str]) -> tuple[RaterExposure, ...]:
    exposures = blocks.group_by("generator", "rater").agg(pl.col("modal_ms").mean()).sort("generator", "rater")
    return tuple(
        RaterExposure(generator, rater, ms, rater in used) for generator, rater, ms in exposures.iter_rows()
    )
