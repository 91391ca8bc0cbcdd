"""How narrow the intervals would be with other numbers of prompts and raters: the rows of ``curves``."""

import numpy as np

from beholder.board.standings import Standings
from beholder.stats.intervals.crossed_precision import precision, variance_components

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Of the present numbers of prompts and raters."""

Row = dict[str, object]


def curve_rows(name: str, standing: Standings, *, level: float) -> list[Row]:
    """Return the half-width of the best entry's value, and of the difference of the two best, over sizes.

    Args:
        name: Of the measure.
        standing: Its standings over all prompts.
        level: Of the confidence intervals.

    Returns:
        Rows of ``curves``; none where there is no interval now.
    """
    order = np.argsort(standing.cells.values)
    order = order[::-1] if standing.better_up else order
    if not np.isfinite(standing.estimates.low[order[0]]):
        return []
    rows: list[Row] = []
    for contrast in ("value", "difference"):
        weights = np.zeros(len(standing.entries))
        weights[order[0]] = 1.0
        if contrast == "difference":
            if len(order) < 2 or not np.isfinite(standing.estimates.low[order[1]]):
                continue
            weights[order[1]] = -1.0
        rows += _rows(name, contrast, standing, weights, level)
    return rows


def _rows(name: str, contrast: str, standing: Standings, weights: np.ndarray, level: float) -> list[Row]:
    parts = variance_components(standing.cells, weights)
    sizes = sorted(
        {
            (max(round(parts.prompts * p), 2), max(round(parts.raters * r), 2) if parts.raters else 0)
            for p in FACTORS
            for r in (FACTORS if parts.raters else (1.0,))
        }
    )
    prompts, raters = (np.array(column, np.int64) for column in zip(*sizes, strict=True))
    predicted = precision(parts, prompts, raters, level=level)
    return [
        {
            "measure": name,
            "contrast": contrast,
            "prompts": int(prompts[k]),
            "raters": int(raters[k]),
            "half_width": float(predicted.half_width[k]),
            "low": float(predicted.low[k]),
            "high": float(predicted.high[k]),
            "now": (int(prompts[k]), int(raters[k])) == (parts.prompts, parts.raters),
        }
        for k in range(len(sizes))
    ]
