"""Roles of measures, whatever their names, so that practitioners' weights hold for any board."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.audit.material import Material

ROLES: dict[str, tuple[str, ...]] = {
    "preference": ("preference", "pickscore", "hps", "image-reward", "tower"),
    "quality": ("quality", "aesthetic", "overall", "mos"),
    "alignment": ("alignment", "consistency", "clip-score", "follow"),
    "realism": ("real", "naturalness"),
    "worst-slice": (),
    "refusals": (),
    "speed": ("seconds per image",),
    "price": ("price per image",),
    "energy": ("energy per image",),
}
"""Role -> words by which the names of its measures are recognised; those without words are computed."""

DEGREES = 30.0
"""Degrees of freedom where a measure does not say its own."""


@dataclass(frozen=True, eq=False)
class ProfileMeasure:
    """Values of entries by one measure, higher is better, with their covariance."""

    name: str
    role: str
    values: dict[str, float]
    covariance: NDArray[np.float64]  # (entries, entries) in the order of ``values``
    people: bool = False
    degrees: float = field(default=DEGREES)


def role_of(name: str) -> str | None:
    """Return the role that a measure plays by its name; ``None`` where it plays none.

    Example:
        >>> role_of("realism: taken for real"), role_of("seconds per image"), role_of("brightness")
        ('realism', 'speed', None)
    """
    lower = name.lower()
    if lower.startswith("cpu"):  # the time that passes counts
        return None
    return next((role for role, words in ROLES.items() if any(word in lower for word in words)), None)


def profile_measures(material: Material) -> Iterator[ProfileMeasure]:
    """Yield all measures that a profile can weigh: of the board, its worst slice, refusals and costs.

    A role that people judge is not filled by scorers.
    """
    board = material.table("board").filter(pl.col("better").is_not_null() & pl.col("value").is_not_null())
    overall = board.filter((pl.col("slice") == "all") & (pl.col("source") != "stated"))
    by_people = {role_of(name) for name in overall.filter(pl.col("source") == "people")["measure"].unique()}
    for (name,), rows in overall.group_by("measure", maintain_order=True):
        role, people = role_of(str(name)) or "", rows["source"][0] == "people"
        yield _board_measure(material, str(name), role if people or role not in by_people else "", rows)
    yield from _worst_slice(board)
    yield from _refusals(material.table("generations"))
    for (name,), rows in material.table("board_costs").group_by("measure", maintain_order=True):
        errors = np.nan_to_num(rows["se"].cast(pl.Float64).to_numpy())
        values = {entry: -float(number) for entry, number in rows.select("entry", "value").iter_rows()}
        yield ProfileMeasure(str(name), role_of(str(name)) or "", values, np.diag(errors**2))


def _board_measure(material: Material, name: str, role: str, rows: pl.DataFrame) -> ProfileMeasure:
    """Take the covariance from the standard errors of the entries and of their differences."""
    sign = 1.0 if rows["better"][0] == "higher" else -1.0
    entries = rows["entry"].to_list()
    variance = np.nan_to_num(rows["se"].cast(pl.Float64).to_numpy()) ** 2
    covariance = np.diag(variance)
    pairs = material.table("board_pairs").filter((pl.col("measure") == name) & (pl.col("slice") == "all"))
    for first, second, error in pairs.select("entry", "other", "se").iter_rows():
        if error is not None and first in entries and second in entries:
            i, j = entries.index(first), entries.index(second)
            covariance[i, j] = covariance[j, i] = (variance[i] + variance[j] - error**2) / 2
    degrees = pairs["degrees"].drop_nulls()
    values = dict(zip(entries, (rows["value"] * sign).to_list(), strict=True))
    middle = float(np.median(degrees.to_numpy())) if len(degrees) else DEGREES
    return ProfileMeasure(name, role, values, covariance, rows["source"][0] == "people", middle)


def _worst_slice(board: pl.DataFrame) -> Iterator[ProfileMeasure]:
    """Yield the lowest value of each entry over all slices, by the first measure of people that is no vote."""
    slices = board.filter((pl.col("family") != "all") & (pl.col("source") == "people"))
    names = [name for name in slices["measure"].unique(maintain_order=True) if role_of(name) != "preference"]
    if not names:
        return
    rows = slices.filter(pl.col("measure") == names[0])
    sign = 1.0 if rows["better"][0] == "higher" else -1.0
    lowest = (
        rows.with_columns(turned=pl.col("value") * sign)
        .sort("entry", "turned")
        .group_by("entry", maintain_order=True)
        .first()
    )
    values = dict(zip(lowest["entry"].to_list(), lowest["turned"].to_list(), strict=True))
    errors = np.nan_to_num(lowest["se"].cast(pl.Float64).to_numpy())
    yield ProfileMeasure(f"worst slice of {names[0]}", "worst-slice", values, np.diag(errors**2), people=True)


def _refusals(generations: pl.DataFrame) -> Iterator[ProfileMeasure]:
    """Yield the proportion of prompts that each generator refused, where any did."""
    if not (generations["status"] == "refused").any():
        return
    rates = generations.group_by("generator").agg(rate=(pl.col("status") == "refused").mean(), count=pl.len())
    rates = rates.sort("generator")
    values = {entry: -float(rate) for entry, rate in rates.select("generator", "rate").iter_rows()}
    rate, count = rates["rate"].cast(pl.Float64).to_numpy(), rates["count"].to_numpy()
    yield ProfileMeasure("refused prompts", "refusals", values, np.diag(rate * (1 - rate) / count))
