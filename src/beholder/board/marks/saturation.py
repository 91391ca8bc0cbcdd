"""Saturation: the best entries stand at the end of the scale, or are equivalent by this measure."""

import numpy as np

from beholder.board.standings import Standings
from beholder.judgements.measures import Measure
from beholder.stats.intervals.crossed_t import contrast_errors, crossed_t
from beholder.stats.significance.equivalence import equivalence

NEAR_END = 0.05
"""A mean within this part of the scale of its best end is at the ceiling."""

MARGIN = 0.2
"""A difference that does not matter: in standard deviations between prompts; of votes in log odds (55 to 45 %)."""

Row = dict[str, object]


def ceiling_rows(measure: Measure, standing: Standings, *, level: float) -> list[Row]:
    """Return one row of ``board_marks``: is the best entry at the end of the scale?

    The lower confidence bound of the best entry, at a level that allows for all entries, is compared with the
    point that is 5 % of the scale below its end.

    Args:
        measure: A measure by people; others have no scale that is known.
        standing: The entries by it.
        level: 1 − the chance of a false mark.

    Returns:
        The row; none where the scale has no ends, or there are too few prompts or raters.
    """
    if measure.bounds is None:
        return []
    bottom, top = measure.bounds
    best = _best_first(standing)[0]
    alpha = (1 - level) / len(standing.entries)
    low = float(crossed_t(standing.cells, level=1 - 2 * alpha).low[best])
    if np.isnan(low):
        return []
    entry, length = standing.entries[best], top - bottom
    distance, most = (top - float(standing.cells.values[best])) / length, (top - low) / length
    raised = most < NEAR_END
    words = (
        f"{entry} is at the ceiling of {measure.name}: at most {most:.1%} of the scale is left above it, so "
        "better entries cannot be seen"
        if raised
        else f"{entry}, the best by {measure.name}, has {distance:.0%} of the scale left above it"
    )
    finding: Row = {"estimate": distance, "high": most, "raised": raised, "words": words}
    return [{"check": "ceiling", "measure": measure.name, "entry": entry} | finding]


def saturation_rows(measure: Measure, standing: Standings, *, level: float) -> list[Row]:
    """Return one row of ``board_marks``: are the best entries equivalent, so that more data separate none of them?

    Entries that share the first rank are compared with the best one by tests of equivalence: that they are not
    separated is no evidence that they are equal.

    Args:
        measure: What was measured.
        standing: The entries by it.
        level: 1 − the chance of a false mark.

    Returns:
        The row; none where nothing is better, or fewer than two entries have intervals.
    """
    if measure.better is None or len(standing.entries) < 2 or not np.all(np.isfinite(standing.pairs.low)):
        return []
    unit = measure.spread
    if np.ptp(standing.cells.values) <= 1e-9 * max(unit, 1e-300):  # it does not look at the images
        return []
    order = _best_first(standing)
    best, rivals = order[0], [k for k in order[1:] if standing.pairs.rank_low[k] == 1]
    common: Row = {"check": "saturation", "measure": measure.name, "entry": standing.entries[best]}
    if not rivals or unit == 0:
        return [common | {"raised": False, "words": f"{standing.entries[best]} leads alone by {measure.name}"}]
    weights = np.zeros((len(rivals), len(standing.entries)))
    weights[:, best] = 1.0
    weights[np.arange(len(rivals)), rivals] = -1.0
    errors = contrast_errors(standing.cells, weights)
    test = equivalence(
        weights @ standing.cells.values / unit,
        errors.standard_error / unit,
        errors.degrees,
        margin=MARGIN,
        level=level,
    )
    names = _listed([standing.entries[best], *(standing.entries[k] for k in rivals)])
    scale = "log odds" if measure.votes else "standard deviations between prompts"
    words = (
        f"{names} are equivalent by {measure.name}: they differ by less than {test.bound:.2f} {scale}, so "
        f"the measure "
        "no longer separates the best"
        if test.equivalent
        else f"{names} share the first rank by {measure.name}; they may differ by {test.bound:.2f} {scale}, which "
        "more prompts or raters could show"
    )
    tested: Row = {"estimate": test.largest, "high": test.bound, "p": test.p_value, "p_adjusted": test.p_value}
    return [common | tested | {"raised": test.equivalent, "words": words}]


def _best_first(standing: Standings) -> list[int]:
    order = np.argsort(-standing.cells.values if standing.better_up else standing.cells.values, kind="stable")
    return [int(k) for k in order]


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
