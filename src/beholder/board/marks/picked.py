"""Best of N: entries whose images were chosen among several, and what the choosing gained."""

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from beholder.board.standings import Standings
from beholder.stats.intervals.crossed_t import FEWEST
from beholder.stats.significance.dose_response import DoseResponse, dose_response
from beholder.stats.significance.holm import holm
from beholder.study.board import Picked

SETTING = "best_of"
"""What a generator that chooses among several images says of itself in the settings of its generations."""

Row = dict[str, object]


def picked_rows(
    picked: Sequence[Picked],
    generations: pl.DataFrame,
    boards: Mapping[str, Standings],
    *,
    level: float,
) -> list[Row]:
    """Return rows of ``board_marks`` for entries that show the best of several images.

    Args:
        picked: What the study file says.
        generations: The table: a generator may say so itself, by ``best_of`` in its settings.
        boards: Name of a measure -> its standings over all prompts.
        level: 1 − the chance of any false gain of one entry.

    Returns:
        One row per entry, always raised; and one per measure where the same generator without choosing is on the
        board, with the gain of choosing and its confidence interval.
    """
    entries = dict.fromkeys(entry for standing in boards.values() for entry in standing.entries)
    stated = {choice.entry: choice for choice in picked if choice.entry in entries}
    rows: list[Row] = []
    for entry, count in _own_settings(generations, [name for name in entries if name not in stated]):
        stated[entry] = Picked(entry=entry, best_of=count, chosen_by="the generator itself")
    for entry, choice in stated.items():
        words = (
            f"{entry} shows the best of {choice.best_of} images of each prompt, chosen by "
            f"{choice.chosen_by}; others "
            "show what they made"
        )
        finding: Row = {"estimate": float(choice.best_of), "raised": True, "words": words}
        rows.append({"check": "best-of-n", "measure": "all", "entry": entry} | finding)
        if choice.base is not None:
            rows += _gains(choice, boards, level)
    return rows


def _own_settings(generations: pl.DataFrame, entries: Sequence[str]) -> Iterator[tuple[str, int]]:
    texts = generations.drop_nulls("settings").select("generator", "settings").unique(maintain_order=True)
    counts: dict[str, int] = {}
    for generator, settings in texts.iter_rows():
        content = json.loads(settings)
        count = content.get(SETTING) if isinstance(content, dict) else None
        if generator in entries and isinstance(count, int) and count > 1:
            counts[generator] = max(count, counts.get(generator, 0))
    yield from counts.items()


def _gains(choice: Picked, boards: Mapping[str, Standings], level: float) -> list[Row]:
    curves: dict[str, DoseResponse] = {}
    for name, standing in boards.items():
        if choice.base in standing.entries and choice.entry in standing.entries:
            pair = [standing.entries.index(choice.base), standing.entries.index(choice.entry)]
            sign = 1.0 if standing.better_up else -1.0
            curves[name] = dose_response(standing.cells, pair, [0.0, 1.0], unit=sign, level=level)
    curves = {name: curve for name, curve in curves.items() if np.isfinite(curve.low) and curve.prompts >= FEWEST}
    adjusted = holm([curve.p_value for curve in curves.values()])
    rows: list[Row] = []
    for (name, curve), p in zip(curves.items(), adjusted, strict=True):
        gain = f"{curve.slope:+.3g} [{curve.low:+.3g}, {curve.high:+.3g}] over {choice.base} by {name}"
        rows.append(
            {
                "check": "best-of-n",
                "measure": name,
                "entry": choice.entry,
                "estimate": curve.slope,
                "low": curve.low,
                "high": curve.high,
                "p": curve.p_value,
                "p_adjusted": float(p),
                "raised": bool(p < 1 - level and curve.slope > 0),
                "words": f"choosing the best of {choice.best_of} gains {choice.entry} {gain}",
            }
        )
    return rows
