"""Drift: does a metric rate newer generators ever higher (or lower) than people do?

Scores and ratings are brought to one standard deviation each over prompts and entries. The slope of their
difference over the chronological order of the entries is a contrast of the means of the differences, with its
uncertainty over prompts and raters: 0 where the metric keeps pace with people.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from beholder.judgements.measures import Measure
from beholder.stats.intervals.crossed_t import crossed_means
from beholder.stats.significance.dose_response import DoseResponse, dose_response
from beholder.stats.significance.holm import holm

FEWEST_ENTRIES = 3

Row = dict[str, object]


def drift_rows(measures: Mapping[str, Measure], chronology: Sequence[str], *, level: float) -> list[Row]:
    """Return one row of ``board_marks`` per automatic measure and measure by people.

    Args:
        measures: Name -> measure, over all prompts. Votes have no ratings of single images, and are left out; so
            are metrics of which nobody knows which values are better.
        chronology: Entries from the oldest to the newest.
        level: 1 − the chance of any false mark against one measure by people.

    Returns:
        The rows; ``estimate`` is the drift from the oldest to the newest entry, in standard deviations.
    """
    people = [m for m in measures.values() if m.source == "people" and not m.votes]
    programs = [m for m in measures.values() if m.source != "people" and m.better is not None]
    rows: list[Row] = []
    for judged in people:
        curves = {
            program.name: curve
            for program in programs
            if (curve := _drift(program, judged, chronology, level)) is not None
        }
        adjusted = holm([curve.p_value for curve in curves.values()])
        rows += [
            _row(name, judged.name, curve, float(p), level)
            for (name, curve), p in zip(curves.items(), adjusted, strict=True)
        ]
    return rows


def _drift(metric: Measure, people: Measure, chronology: Sequence[str], level: float) -> DoseResponse | None:
    scores = metric.by_prompt.select("prompt", "entry", score=pl.col("value") * metric.sign)
    both = people.rows.join(scores, on=["prompt", "entry"]).filter(pl.col("entry").is_in(list(chronology)))
    entries = [name for name in chronology if name in set(both["entry"])]
    spreads = [
        float(both.group_by("prompt", "entry").agg(pl.col(name).mean())[name].std() or 0.0)  # type: ignore[arg-type]
        for name in ("score", "value")
    ]
    if len(entries) < FEWEST_ENTRIES or min(spreads) == 0:
        return None
    apart = both.select(
        "rater", "prompt", "entry", value=pl.col("score") / spreads[0] - pl.col("value") / spreads[1]
    )
    cells = crossed_means(
        _codes(apart["rater"]),
        _codes(apart["prompt"]),
        apart["entry"].replace_strict(entries, list(range(len(entries))), return_dtype=pl.Int64).to_numpy(),
        apart["value"].to_numpy(),
        cell_count=len(entries),
    )
    curve = dose_response(cells, range(len(entries)), [float(k) for k in range(len(entries))], level=level)
    return curve if np.isfinite(curve.low) else None


def _row(metric: str, people: str, curve: DoseResponse, p_adjusted: float, level: float) -> Row:
    raised = p_adjusted < 1 - level
    way = "higher" if curve.slope > 0 else "lower"
    words = (
        f"{metric} drifts away from {people}: from the oldest to the newest entry it rates {abs(curve.slope):.2f} "
        f"standard deviations {way} than people do [{curve.low:+.2f}, {curve.high:+.2f}]"
        if raised
        else f"no evidence that {metric} drifts away from {people} [{curve.low:+.2f}, {curve.high:+.2f}]"
    )
    return {
        "check": "drift",
        "measure": f"{metric} against {people}",
        "entry": "all",
        "estimate": curve.slope,
        "low": curve.low,
        "high": curve.high,
        "p": curve.p_value,
        "p_adjusted": p_adjusted,
        "raised": raised,
        "words": words,
    }


def _codes(names: pl.Series) -> np.ndarray:
    return (names.rank("dense").cast(pl.Int64) - 1).to_numpy()
