"""Findings from gaps that are tested together: significant ones are problems, equivalent ones clear."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beholder.audit.contrasts import Contrast, scored
from beholder.audit.finding import ALL, Finding
from beholder.judgements.measures import Measure
from beholder.stats.significance.gaps import simultaneous_gaps
from beholder.tables.schemas.audit import CAUTION, CLEAR, PROBLEM, UNDECIDED

MARGIN = 0.2
"""Standard deviations between prompts below which a gap does not matter, as for the board's saturation."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A contrast of two groups of prompts, whose it is, and what the groups are called."""

    contrast: Contrast
    entry: str
    measure: Measure
    slice: str
    first: str
    second: str
    symmetric: bool = False
    """Whether a gap in either direction is a problem; otherwise only where the first group is worse."""


def gap_findings(tested: Sequence[Gap], *, level: float) -> Iterator[Finding]:
    """Yield one finding per gap, with intervals that hold together and estimates shrunk towards no gap.

    Args:
        tested: All gaps of one audit: the family.
        level: 1 − the chance of any false finding.
    """
    if not tested:
        return
    gaps = simultaneous_gaps(
        [each.contrast.estimate for each in tested],
        [each.contrast.standard_error for each in tested],
        [each.contrast.degrees if len(tested) > 1 else each.contrast.alone_degrees for each in tested],
        level=level,
    )
    spreads = {each.measure.name: scored(each.measure).spread for each in tested}
    for k, each in enumerate(tested):
        low, high = float(gaps.low[k]), float(gaps.high[k])
        margin = MARGIN * spreads[each.measure.name]
        significant, worse = bool(gaps.significant[k]), each.contrast.estimate < 0
        severity = UNDECIDED
        if significant:
            severity = PROBLEM if worse or each.symmetric else CAUTION
        elif -margin < low and high < margin:
            severity = CLEAR
        yield Finding(
            words=_sentence(each, low, high, float(gaps.shrunk[k]), severity, margin),
            severity=severity,
            subject=each.entry,
            measure=each.measure.name,
            slice=each.slice,
            figure=each.contrast.estimate,
            low=low,
            high=high,
            level=level,
            baseline=each.contrast.second,
            shrunk=float(gaps.shrunk[k]),
            p=float(gaps.p_value[k]),
            p_adjusted=float(gaps.p_adjusted[k]),
            prompts=each.contrast.prompts,
            raters=each.contrast.raters,
            unit=unit_of(each.measure),
        )


def unit_of(measure: Measure) -> str:
    """Return the unit of a measure in words."""
    if measure.votes:
        return "win rate"
    return "proportion" if measure.proportion else "points"


def _sentence(each: Gap, low: float, high: float, shrunk: float, severity: str, margin: float) -> str:
    who = "All entries together" if each.entry == ALL else each.entry
    by = f"{who} by {each.measure.name}" + (" (win rate)" if each.measure.votes else "")
    numbers = f"{each.contrast.first:.3g} against {each.contrast.second:.3g}, gap {each.contrast.estimate:+.2g}"
    interval = f"[{low:+.2g}, {high:+.2g}]"
    if severity in (PROBLEM, CAUTION):
        way = "worse" if each.contrast.estimate < 0 else "better"
        return f"{by}: {way} on {each.first} than on {each.second}: {numbers} {interval}, shrunk {shrunk:+.2g}."
    if severity == CLEAR:
        return f"{by}: {each.first} and {each.second} differ by less than {margin:.2g}: {numbers} {interval}."
    return f"{by}: no evidence of a gap between {each.first} and {each.second}: {numbers} {interval}."
