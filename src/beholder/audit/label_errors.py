"""Label errors: does the board change where labels that are likely errors are left out?

A label is a likely error by the raters' own doubt (``labels``) or by a model that predicts it without having seen
it (``label_errors``). Votes and ratings of these images, or pairs, are left out, and every entry is rated again.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from beholder.audit.finding import Finding, nothing
from beholder.audit.gap_findings import unit_of
from beholder.audit.material import Material
from beholder.errors import StatisticsError
from beholder.judgements.measures import Measure, collect_measures, influence_of
from beholder.stats.intervals.crossed_t import contrast_errors
from beholder.tables.schemas.audit import CAUTION, CLEAR, PROBLEM


def audit_label_errors(material: Material) -> Iterator[Finding]:
    """Yield one finding per measure by people and per entry: its rating with and without likely errors."""
    suspects = _suspects(material)
    if not material.table("labels").height:
        yield nothing("It needs labels: beholder consolidate.")
        return
    judged = [name for name, measure in material.measures.items() if measure.source == "people"]
    if suspects.is_empty() or not judged:
        total = material.table("labels").height
        yield Finding(f"None of {total:,} labels is a likely error, so nothing is left out.", CLEAR, figure=0.0)
        return
    rest = _without(material, suspects)
    for name in judged:
        before, after = material.measures[name], rest.get(name)
        if after is None or after.rows.height == before.rows.height:
            continue
        yield from _compared(before, after, level=material.level)


def _suspects(material: Material) -> pl.DataFrame:
    """Return ``question``, ``image`` and ``other`` of labels that are likely errors."""
    columns = ("question", "image", "other")
    parts = [material.table(name).filter(pl.col("suggested").is_not_null()) for name in ("labels", "label_errors")]
    return pl.concat([part.select(columns) for part in parts]).unique()


def _without(material: Material, suspects: pl.DataFrame) -> dict[str, Measure]:
    """Return the measures from judgements of all other images and pairs."""
    both_ways = pl.concat([suspects, suspects.select("question", image="other", other="image")]).unique()
    judgements = material.table("judgements").join(
        both_ways, on=["question", "image", "other"], how="anti", nulls_equal=True
    )
    empty = (material.table("scores").clear(), material.table("predictions").clear())
    return {each.name: each for each in collect_measures(judgements, material.table("images"), *empty)}


def _compared(before: Measure, after: Measure, *, level: float) -> Iterator[Finding]:
    left = _entries(after)
    entries = [entry for entry in _entries(before) if entry in left]
    try:
        old, new = influence_of(before, _entries(before)), influence_of(after, left)
    except StatisticsError as fault:
        yield nothing(f"{before.name} cannot be rated without likely errors: {fault}")
        return
    values = {entry: float(old.values[_entries(before).index(entry)]) for entry in entries}
    changed = {entry: float(new.values[left.index(entry)]) for entry in entries}
    errors = contrast_errors(old, np.eye(len(old.values))).standard_error
    order_before = sorted(entries, key=lambda entry: -values[entry] * before.sign)
    order_after = sorted(entries, key=lambda entry: -changed[entry] * before.sign)
    removed = before.rows.height - after.rows.height
    share = f"{removed:,} of {before.rows.height:,} judgements are on labels that are likely errors"
    same = order_before == order_after
    words = (
        f"{before.name}: {share}; the order of the entries stays {', '.join(order_before)}."
        if same
        else f"{before.name}: {share}; without them the order changes from {', '.join(order_before)} to "
        f"{', '.join(order_after)}."
    )
    yield Finding(words, CAUTION if same else PROBLEM, "all", before.name, figure=removed / before.rows.height)
    for entry in entries:
        place = _entries(before).index(entry)
        change, error = changed[entry] - values[entry], float(errors[place])
        moved = error > 0 and abs(change) > error
        yield Finding(
            f"{entry} by {before.name}: {values[entry]:.3g} with likely errors, {changed[entry]:.3g} without"
            + (f", which is {abs(change) / error:.1f} standard errors." if error > 0 else "."),
            CAUTION if moved else CLEAR,
            entry,
            before.name,
            figure=changed[entry],
            baseline=values[entry],
            level=level,
            unit=unit_of(before),
        )


def _entries(measure: Measure) -> list[str]:
    return sorted(set(measure.rows["entry"]) | (set(measure.rows["other"]) if measure.votes else set()))
