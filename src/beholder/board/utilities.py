"""Entries by all measures together: the Pareto front, a utility, and for which weights each entry wins."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.errors import UserError
from beholder.stats.decision.pareto import pareto_front, surely_dominated
from beholder.stats.decision.utility import utilities, winning_weights

Row = dict[str, object]


@dataclass(frozen=True, eq=False)
class OrientedTable:
    """Entries by all measures of a board, over all prompts, turned so that higher is better."""

    entries: tuple[str, ...]
    measures: tuple[str, ...]
    value: NDArray[np.float64]  # (entries, measures)
    least: NDArray[np.float64]  # (entries, measures) the unfavourable end of the interval; nan without one
    most: NDArray[np.float64]  # (entries, measures)


def utility_rows(board: pl.DataFrame, weights: Mapping[str, float], *, seed: int) -> list[Row]:
    """Return one row of ``utilities`` per entry, from its values over all prompts.

    Args:
        board: Rows of ``board``. Measures without a direction, and entries without all measures, are left out.
        weights: Name of a measure -> what it is worth; without any, all measures by people weigh the same, or all
            measures where there are none by people.
        seed: For the weights drawn to count how often each entry wins.

    Returns:
        The rows; none where fewer than two entries have all measures.

    Raises:
        UserError: If a weight names a measure that the board does not have.
    """
    directed = _directed(board)
    unknown = sorted(set(weights) - set(directed["measure"]))
    if unknown:
        names = ", ".join(dict.fromkeys(directed["measure"]))
        raise UserError(f"[board.weights] names {', '.join(unknown)}; the board has {names}")
    table = oriented_table(board)
    if len(table.entries) < 2:
        return []
    value, measures = table.value, table.measures
    people = set(directed.filter(pl.col("source") == "people")["measure"]) or set(measures)
    worth = np.array([weights.get(m, 0.0) if weights else float(m in people) for m in measures])
    wins = winning_weights(value, np.random.default_rng(seed))
    front, dominated = pareto_front(value), surely_dominated(table.least, table.most)
    utility = utilities(value, worth) if worth.sum() > 0 else np.full(len(value), np.nan)
    return [
        {
            "entry": entry,
            "pareto": bool(front[k]),
            "surely_dominated": bool(dominated[k]),
            "utility": float(utility[k]) if np.isfinite(utility[k]) else None,
            "wins": float(wins.proportion[k]),
            "lead": float(wins.margin[k]),
            "best_weights": json.dumps(
                {m: round(float(w), 4) for m, w in zip(measures, wins.best_weights[k], strict=True) if w > 5e-5}
            ),
        }
        for k, entry in enumerate(table.entries)
    ]


def oriented_table(board: pl.DataFrame) -> OrientedTable:
    """Return the entries that have all measures with a direction, over all prompts.

    Args:
        board: Rows of ``board``.

    Returns:
        Values and the ends of their intervals, higher is better.
    """
    sign = pl.when(pl.col("better") == "higher").then(1.0).otherwise(-1.0)
    oriented = _directed(board).with_columns(
        value=pl.col("value") * sign,
        least=pl.min_horizontal(pl.col("low") * sign, pl.col("high") * sign),
        most=pl.max_horizontal(pl.col("low") * sign, pl.col("high") * sign),
    )
    measures = list(dict.fromkeys(oriented["measure"]))
    tables = {
        column: oriented.pivot(on="measure", index="entry", values=column).select("entry", *measures).sort("entry")
        for column in ("value", "least", "most")
    }
    complete = tables["value"].drop_nulls()["entry"]
    value, least, most = (
        table.filter(pl.col("entry").is_in(complete.implode())).select(measures).to_numpy().astype(np.float64)
        for table in tables.values()
    )
    return OrientedTable(tuple(complete), tuple(measures), value, least, most)


def _directed(board: pl.DataFrame) -> pl.DataFrame:
    return board.filter((pl.col("slice") == "all") & pl.col("better").is_in(["higher", "lower"]))
