"""Values that others state: shown beside what was measured here, marked, and compared where both exist."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import special

from beholder.board.standings import Standings
from beholder.stats.significance.holm import holm
from beholder.study.board import Stated

Row = dict[str, object]


def stated_board_rows(stated: Sequence[Stated], boards: Mapping[str, Standings], *, level: float) -> list[Row]:
    """Return rows of ``board`` for the values of entries that were not measured here; they have no rank.

    Args:
        stated: What the study file says.
        boards: Name of a measure -> its standings over all prompts.
        level: Of the confidence intervals.

    Returns:
        One row per value, without ranks, prompts and raters; none where the entry was measured here.
    """
    return [
        {
            "family": "all",
            "slice": "all",
            "measure": value.measure,
            "source": "stated",
            "entry": value.entry,
            "value": value.value,
            "low": value.low,
            "high": value.high,
            "level": level,
            "note": f"stated by {value.source}; not measured here and not ranked",
        }
        for value in stated
        if not _measured(value, boards)
    ]


def stated_rows(stated: Sequence[Stated], boards: Mapping[str, Standings], *, level: float) -> list[Row]:
    """Return one row of ``board_marks`` per stated value: is it what was measured here?

    A value whose entry was measured here is tested against that measurement: t test over prompts and raters,
    two-sided, with the uncertainty that is stated, if any. The mark is raised where both differ; and always where
    there is nothing to compare it with.

    Args:
        stated: What the study file says.
        boards: Name of a measure -> its standings over all prompts.
        level: 1 − the chance of any false mark.

    Returns:
        The rows.
    """
    tests = [_test(value, boards[value.measure]) if _measured(value, boards) else None for value in stated]
    adjusted = holm([np.nan if test is None else test[2] for test in tests])
    rows: list[Row] = []
    for value, test, p in zip(stated, tests, adjusted, strict=True):
        common: Row = {"check": "stated", "measure": value.measure, "entry": value.entry}
        if test is None:
            words = f"{value.measure} of {value.entry} is stated by {value.source}; it was not measured here"
            rows.append(common | {"estimate": None, "raised": True, "words": words})
            continue
        gap, error, p_value, degrees = test
        reach = float(special.stdtrit(degrees, (1 + level) / 2)) * error
        raised = bool(p < 1 - level)
        verdict = "differs from" if raised else "agrees with"
        words = (
            f"{value.measure} of {value.entry} as stated by {value.source} ({value.value:.4g}) {verdict} what was "
            f"measured here by {gap:+.3g} [{gap - reach:+.3g}, {gap + reach:+.3g}]"
        )
        tested: Row = {
            "estimate": gap,
            "low": gap - reach,
            "high": gap + reach,
            "p": p_value,
            "p_adjusted": float(p),
        }
        rows.append(common | tested | {"raised": raised, "words": words})
    return rows


def _measured(value: Stated, boards: Mapping[str, Standings]) -> bool:
    if value.measure not in boards or value.entry not in boards[value.measure].entries:
        return False
    standing = boards[value.measure]
    return bool(np.isfinite(standing.estimates.low[standing.entries.index(value.entry)]))


def _test(value: Stated, standing: Standings) -> tuple[float, float, float, float]:
    """Return stated less measured, its standard error, p-value and degrees of freedom."""
    k = standing.entries.index(value.entry)
    own = 0.0
    if value.low is not None and value.high is not None:
        own = (value.high - value.low) / (2 * float(special.ndtri(0.975)))
    gap = value.value - float(standing.cells.values[k])
    error = float(np.hypot(standing.errors.standard_error[k], own))
    degrees = float(standing.errors.degrees[k])
    t = abs(gap) / error if error > 0 else np.inf if gap else 0.0
    return gap, error, float(2 * special.stdtr(degrees, -t)), degrees
