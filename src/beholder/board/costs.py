"""What an image of each entry costs: time, energy by its method, price; and the Pareto front with it.

The figures differ from run to run, so they have a table of their own that no lock covers. Energy of one method is
never compared with that of another, nor are prices in different currencies.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from beholder.board.standings import standings
from beholder.board.utilities import oriented_table
from beholder.judgements.measures import Measure
from beholder.stats.decision.pareto import pareto_front, surely_dominated

Row = dict[str, object]


def cost_measures(costs: pl.DataFrame, generations: pl.DataFrame) -> Iterator[Measure]:
    """Yield what was spent on images that exist, as measures of which lower values are better.

    Args:
        costs: The table ``generation_costs``.
        generations: The table ``generations``.

    Yields:
        Seconds, CPU seconds, energy by method and price by currency, where known.
    """
    done = costs.join(
        generations.filter(pl.col("status") == "done").select("generator", "prompt", "sample"),
        on=["generator", "prompt", "sample"],
    )
    for column, name in (("seconds", "seconds per image"), ("cpu_seconds", "CPU seconds per image")):
        yield from _measure(name, done, column)
    for column, kind, name in (
        ("energy_wh", "energy_method", "energy per image, Wh ({})"),
        ("cost", "currency", "price per image, {}"),
    ):
        for kind_name in done.drop_nulls(column)[kind].unique().sort():
            if kind_name is not None:
                yield from _measure(name.format(kind_name), done.filter(pl.col(kind) == kind_name), column)


def cost_rows(measure: Measure, board: pl.DataFrame, *, level: float, seed: int) -> list[Row]:
    """Return one row of ``board_costs`` per entry.

    Args:
        measure: From :func:`cost_measures`.
        board: The table ``board``; entries that have all of its measures are compared with the cost as one more.
        level: Of the confidence intervals over prompts.
        seed: Of the board.

    Returns:
        The rows, with ranges of ranks and the Pareto front.
    """
    standing = standings(measure, level=level, seed=seed)
    images = dict(measure.rows.group_by("entry").len().iter_rows())
    fronts = _fronts(
        board, standing.entries, standing.cells.values, standing.estimates.low, standing.estimates.high
    )
    rows: list[Row] = []
    for k, entry in enumerate(standing.entries):
        low, high = (float(end[k]) for end in (standing.estimates.low, standing.estimates.high))
        known = np.isfinite(low)
        front, dominated = fronts.get(entry, (None, None))
        rows.append(
            {
                "measure": measure.name,
                "entry": entry,
                "value": float(standing.cells.values[k]),
                "low": max(low, 0.0) if known else None,
                "high": high if known else None,
                "level": level,
                "se": float(standing.errors.standard_error[k]) if known else None,
                "rank_low": int(standing.pairs.rank_low[k]),
                "rank_high": int(standing.pairs.rank_high[k]),
                "prompts": int(standing.errors.prompts[k]),
                "images": int(images[entry]),
                "pareto": front,
                "surely_dominated": dominated,
            }
        )
    return rows


def _measure(name: str, costs: pl.DataFrame, column: str) -> Iterator[Measure]:
    rows = costs.drop_nulls(column).select("prompt", entry="generator", value=pl.col(column).cast(pl.Float64))
    if not rows.is_empty():
        yield Measure(name, "scorer", "lower", rows)


def _fronts(
    board: pl.DataFrame,
    entries: tuple[str, ...],
    values: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> dict[str, tuple[bool, bool]]:
    """Return for every entry with all measures whether it is on the Pareto front, and surely dominated."""
    table = oriented_table(board)
    both = [entry for entry in table.entries if entry in entries]
    if len(both) < 2 or not table.measures:
        return {}
    own = [table.entries.index(entry) for entry in both]
    place = [entries.index(entry) for entry in both]
    value, least, most = (
        np.column_stack([part[own], -cost[place]])
        for part, cost in ((table.value, values), (table.least, high), (table.most, low))
    )
    front, dominated = pareto_front(value), surely_dominated(least, most)
    return {entry: (bool(front[k]), bool(dominated[k])) for k, entry in enumerate(both)}
