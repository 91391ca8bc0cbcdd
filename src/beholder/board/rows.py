"""The rows of ``board`` and ``board_pairs`` from one measure in one slice."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.board.standings import Standings
from beholder.judgements.measures import Measure, influence_of
from beholder.stats.intervals.crossed_t import contrast_errors
from beholder.stats.significance.fragility import fragility

Row = dict[str, object]


def board_rows(measure: Measure, standing: Standings) -> list[Row]:
    """Return one row per entry, without the columns of the slice.

    Args:
        measure: What was measured.
        standing: The entries by it.

    Returns:
        Rows of ``board``.
    """
    estimates, errors = standing.estimates, standing.errors
    ranked = measure.better is not None
    return [
        {
            "measure": measure.name,
            "source": measure.source,
            "better": measure.better,
            "entry": entry,
            "value": float(estimates.value[k]),
            "low": _number_or_none(estimates.low[k]),
            "high": _number_or_none(estimates.high[k]),
            "level": estimates.level,
            "se": _number_or_none(errors.standard_error[k]),
            "se_prompts": _number_or_none(errors.over_prompts[k]),
            "se_raters": _number_or_none(errors.over_raters[k]),
            "rank_low": int(standing.pairs.rank_low[k]) if ranked else None,
            "rank_high": int(standing.pairs.rank_high[k]) if ranked else None,
            "chance_best": None if standing.chances is None else float(standing.chances[k]),
            "prompts": int(errors.prompts[k]),
            "raters": int(errors.raters[k]),
            "answers": round(float(standing.cells.answers[:, k].sum())),
            "note": None,
        }
        for k, entry in enumerate(standing.entries)
    ]


def described_rows(measure: Measure, reason: str, *, level: float) -> list[Row]:
    """Return rows without numbers, for a slice that is too small or cannot be rated, with the reason in words."""
    names = set(measure.rows["entry"]) | (set(measure.rows["other"]) if measure.votes else set())
    common: Row = {"measure": measure.name, "source": measure.source, "better": measure.better, "level": level}
    prompts = measure.rows["prompt"].n_unique()
    return [common | {"entry": entry, "prompts": prompts, "note": reason} for entry in sorted(names)]


def pair_rows(measure: Measure, standing: Standings, *, check_fragility: bool) -> list[Row]:
    """Return one row per pair of entries, the better first.

    Args:
        measure: What was measured.
        standing: The entries by it.
        check_fragility: Whether to look for the fewest prompts and raters whose removal undoes a separation.

    Returns:
        Rows of ``board_pairs``.
    """
    pairs = standing.pairs
    sign = 1.0 if standing.better_up else -1.0
    rows: list[Row] = []
    for k in range(len(pairs.first)):
        first, second = int(pairs.first[k]), int(pairs.second[k])
        difference, low, high = (float(column[k]) for column in (pairs.difference, pairs.low, pairs.high))
        if sign * difference < 0:
            first, second, difference, low, high = second, first, -difference, -high, -low
        row: Row = {
            "measure": measure.name,
            "entry": standing.entries[first],
            "other": standing.entries[second],
            "difference": difference,
            "low": _number_or_none(low),
            "high": _number_or_none(high),
            "se": _number_or_none(pairs.standard_error[k]),
            "degrees": _number_or_none(pairs.degrees[k]),
            "p": _number_or_none(pairs.p_value[k]),
            "p_adjusted": _number_or_none(pairs.p_adjusted[k]),
            "separated": bool(pairs.separated[k]),
        }
        if check_fragility and pairs.separated[k]:
            critical = (difference - low) / float(pairs.standard_error[k])
            row |= _fragile(measure, standing, first, second, critical)
        rows.append(row)
    return rows


def _fragile(measure: Measure, standing: Standings, first: int, second: int, critical: float) -> Row:
    """Return how few prompts, and how few raters, carry the separation of two entries.

    Entries are rated again without them. The critical value stays that of all pairs.
    """
    weights = np.zeros((1, len(standing.entries)))
    weights[0, first], weights[0, second] = 1.0, -1.0
    sign = 1.0 if standing.better_up else -1.0
    pull = (standing.cells.influence @ weights[0]) * sign
    units = {"prompt": standing.cells.prompts}
    if standing.cells.raters is not None:
        units["rater"] = standing.cells.raters
    fewest: Row = {}
    for unit, codes in units.items():
        names = measure.rows[unit].unique().sort()
        support = np.bincount(codes, pull, minlength=len(names))

        def holds(keep: NDArray[np.bool_], unit: str = unit, names: pl.Series = names) -> bool:
            rest = measure.rows.filter(pl.col(unit).is_in(names.filter(pl.Series(keep)).implode()))
            left = set(rest["entry"]) | (set(rest["other"]) if measure.votes else set())
            if left != set(standing.entries):
                return False
            cells = influence_of(replace(measure, rows=rest), list(standing.entries))
            error = contrast_errors(cells, weights).standard_error[0]
            return bool(sign * (weights[0] @ cells.values) > critical * error)

        removed = fragility(support, holds).removed if len(names) > 2 else None
        fewest[f"fragile_{unit}s"] = None if removed is None else len(removed)
    return fewest


def _number_or_none(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
