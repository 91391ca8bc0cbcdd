"""Does every measure see a controlled change? Rows of ``dose_responses`` and ``dose_steps``.

Variants of a generator differ in one setting: guidance scale, steps, strength of the initial image or of a LoRA,
resolution, or a known rate of flaws. People and scorers are compared on the same variants and prompts.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from beholder.board.standings import Standings
from beholder.errors import UserError
from beholder.judgements.measures import Measure
from beholder.stats.significance.dose_response import DoseResponse, dose_response
from beholder.stats.significance.holm import holm
from beholder.study.board import Variants

Row = dict[str, object]


def dose_rows(
    variants: Sequence[Variants],
    measures: Mapping[str, Measure],
    boards: Mapping[str, Standings],
    *,
    level: float,
) -> tuple[list[Row], list[Row]]:
    """Return the rows of ``dose_responses`` and of ``dose_steps``.

    Args:
        variants: What the study file says.
        measures: Name -> measure, over all prompts.
        boards: Name -> its standings.
        level: Of the confidence intervals; 1 − the chance of any false detection.

    Returns:
        One row per setting and measure; and one per setting, measure and variant.

    Raises:
        UserError: With every variant that is no entry of the board.
    """
    known = {entry for standing in boards.values() for entry in standing.entries}
    unknown = [
        f"{family.setting}: '{entry}' is no entry of the board"
        for family in variants
        for entry in family.entries
        if entry not in known
    ]
    if unknown:
        lines = "\n".join(f"  - {fault}" for fault in unknown)
        raise UserError(
            f"[[board.variants]] of study.toml, whose entries are {', '.join(sorted(known))}:\n{lines}"
        )
    responses: list[Row] = []
    steps: list[Row] = []
    for family in variants:
        curves = {
            name: _curve(family, measures[name], standing, level)
            for name, standing in boards.items()
            if set(family.entries) <= set(standing.entries)
        }
        tested = {name: curve for name, curve in curves.items() if curve is not None}
        adjusted = holm([curve.p_value for curve in tested.values()])
        for (name, curve), p in zip(tested.items(), adjusted, strict=True):
            responses.append(_response(family, measures[name], curve, float(p)))
            steps += _steps(family, name, boards[name], curve)
    return responses, steps


def _curve(family: Variants, measure: Measure, standing: Standings, level: float) -> DoseResponse | None:
    unit = measure.sign * measure.spread
    if unit == 0:
        return None
    places = [standing.entries.index(entry) for entry in family.entries]
    return dose_response(standing.cells, places, family.doses, unit=unit, level=level)


def _response(family: Variants, measure: Measure, curve: DoseResponse, p_adjusted: float) -> Row:
    seen_at = np.flatnonzero(curve.detected)
    first = family.entries[int(seen_at[0]) + 1] if len(seen_at) else None
    return {
        "setting": family.setting,
        "measure": measure.name,
        "source": measure.source,
        "slope": _or_none(curve.slope),
        "low": _or_none(curve.low),
        "high": _or_none(curve.high),
        "p": _or_none(curve.p_value),
        "p_adjusted": _or_none(p_adjusted),
        "level": curve.level,
        "prompts": curve.prompts,
        "raters": curve.raters,
        "first_seen": first,
        "words": _words(family, measure, curve, p_adjusted, first),
    }


def _words(family: Variants, measure: Measure, curve: DoseResponse, p_adjusted: float, first: str | None) -> str:
    unit = "log odds" if measure.votes else "standard deviations"
    span = f"from {family.doses[0]:g} to {family.doses[-1]:g}"
    if not np.isfinite(p_adjusted):
        return f"{measure.name}: too few prompts or raters to say whether it sees {family.setting}"
    if p_adjusted >= 1 - curve.level:
        within = max(abs(curve.low), abs(curve.high))
        return f"{measure.name} does not see {family.setting} {span}: the change is below {within:.2f} {unit}"
    way = "" if measure.better is None else ", for the better" if curve.slope > 0 else ", for the worse"
    at = "" if first is None else f", first at {family.doses[family.entries.index(first)]:g}"
    return f"{measure.name} changes by {curve.slope:+.2f} {unit} {span}{way}{at}"


def _steps(family: Variants, name: str, standing: Standings, curve: DoseResponse) -> list[Row]:
    rows: list[Row] = []
    for k, (entry, dose) in enumerate(zip(family.entries, family.doses, strict=True)):
        place = standing.entries.index(entry)
        row: Row = {
            "setting": family.setting,
            "measure": name,
            "entry": entry,
            "dose": dose,
            "value": float(standing.estimates.value[place]),
            "low": _or_none(standing.estimates.low[place]),
            "high": _or_none(standing.estimates.high[place]),
            "detected": False,
        }
        if k > 0:
            row |= {
                "difference": _or_none(curve.difference[k - 1]),
                "difference_low": _or_none(curve.difference_low[k - 1]),
                "difference_high": _or_none(curve.difference_high[k - 1]),
                "p_adjusted": _or_none(curve.p_adjusted[k - 1]),
                "detected": bool(curve.detected[k - 1]),
            }
        rows.append(row)
    return rows


def _or_none(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
