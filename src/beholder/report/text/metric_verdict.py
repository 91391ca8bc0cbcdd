"""Which metric to trust for this study, in words: from the tables ``correlations`` and ``metric_separations``.

A metric can be trusted to order the generators where the interval of its rank correlation with people, over
generators, lies above 0; it runs against people where the interval lies below; otherwise nobody knows. A perfect
order has no interval: it counts where chance would hardly give one to any of the metrics, 2/n! for each.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import polars as pl

STATISTIC = "spearman"
PERFECT = 1 - 1e-9
CHANCE = 0.05
"""The chance of being wrong that is taken with a perfect order."""

ASKED = ("question", "aspect", "method")

Standing = Literal["trusted", "alongside", "unknown", "against"]
"""Agrees with people; goes with ratings, though no value of it is better as such; nobody knows; disagrees."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A metric and its rank correlation with people, turned so that agreeing is above 0."""

    name: str
    standing: Standing
    rho: float | None
    """``None`` where the metric is the same for all generators."""
    low: float | None
    high: float | None
    directed: bool
    """Whether it is known which values are better; if not, the correlation is taken without its sign."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of the metrics for one question."""

    question: str
    aspect: str
    method: str
    trusted: tuple[str, ...]
    """From the best agreement down."""
    against: tuple[str, ...]
    alongside: tuple[str, ...]
    """Those that go with people's ratings one way or the other, without it being known which is better."""
    unknown: tuple[str, ...]
    not_told_apart: tuple[str, ...]
    """Trusted ones that agree no worse than the best, as far as can be told."""
    items: int
    """How many generators."""
    ceiling: float | None
    """The agreement of another crowd of the same size with this one."""
    metrics: tuple[Judged, ...]
    """All of them, the best agreement first."""
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((f"{self.question} · {self.aspect} ({self.method})", *(f"  {s}" for s in self.sentences)))


def verdicts(correlations: pl.DataFrame, separations: pl.DataFrame) -> list[Verdict]:
    """One for each rating of each question that a metric of generators was held against."""
    whole = pl.col("slice") == "all"
    rows = correlations.filter(whole & (pl.col("level") == "generator") & (pl.col("statistic") == STATISTIC))
    pairs = separations.filter(whole & (pl.col("level") == "generator"))
    found = []
    for key, part in rows.partition_by(ASKED, as_dict=True, maintain_order=True).items():
        same = pl.all_horizontal(pl.col(name) == value for name, value in zip(ASKED, key, strict=True))
        found.append(_verdict([str(name) for name in key], part, pairs.filter(same)))
    return found


def _verdict(key: list[str], rows: pl.DataFrame, pairs: pl.DataFrame) -> Verdict:
    ordered = sorted(
        (_Judged.of(row, rows.height) for row in rows.iter_rows(named=True)), key=lambda one: -one.value
    )
    by_standing: dict[Standing, list[_Judged]] = {"trusted": [], "alongside": [], "unknown": [], "against": []}
    for one in ordered:
        by_standing[one.standing].append(one)
    trusted = by_standing["trusted"]
    alike = _alike(trusted, pairs)
    items = int(str(rows["items"].max()))
    ceilings = rows["ceiling"].drop_nulls()
    return Verdict(
        question=key[0],
        aspect=key[1],
        method=key[2],
        trusted=_names(trusted),
        against=_names(by_standing["against"]),
        alongside=_names(by_standing["alongside"]),
        unknown=_names(by_standing["unknown"]),
        not_told_apart=_names(alike),
        items=items,
        ceiling=float(ceilings[0]) if len(ceilings) else None,
        metrics=tuple(one.shown for one in ordered),
        sentences=tuple(_sentences(by_standing, alike, items)),
    )


def _names(judged: list["_Judged"]) -> tuple[str, ...]:
    return tuple(one.name for one in judged)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A metric, with its agreement turned so that better values count up; unknown directions count as they lie."""

    name: str
    key: tuple[object, ...]
    directed: bool
    value: float
    low: float | None
    high: float | None
    raw: float | None
    ends: tuple[float | None, float | None]

    @classmethod
    def of(cls, row: dict[str, object], metrics: int) -> "_Judged":
        value, low, high = (_number(row[name]) for name in ("value", "low", "high"))
        raw, ends = value, (low, high)
        if value is not None and low is None and _is_no_chance(value, int(str(row["items"])), metrics):
            low = high = value
        down = row["better"] == "lower" or (row["better"] != "higher" and value is not None and value < 0)
        if down:
            value, low, high = _less(value), _less(high), _less(low)
        encoder = f" ({str(row['encoder']).partition('@')[0]})" if row["encoder"] else ""
        key = (row["metric"], row["encoder"], row["reference"])
        directed = row["better"] in ("lower", "higher")
        return cls(
            f"{row['metric']}{encoder}", key, directed, -2.0 if value is None else value, low, high, raw, ends
        )

    @property
    def standing(self) -> Standing:
        """What the interval says."""
        if self.low is not None and self.low > 0:
            return "trusted" if self.directed else "alongside"
        return "against" if self.high is not None and self.high < 0 else "unknown"

    @property
    def perfect(self) -> bool:
        """Whether the order is people's, or its reverse, and has no interval."""
        return self.raw is not None and self.low is None and abs(self.raw) > PERFECT

    @property
    def shown(self) -> Judged:
        """For a reader; a perfect order that counts has no interval."""
        rho = None if self.raw is None else self.value
        low, high = (None, None) if self.ends == (None, None) else (self.low, self.high)
        return Judged(self.name, self.standing, rho, low, high, self.directed)

    def __str__(self) -> str:
        if self.raw is None:
            return f"{self.name} (the same for all)"
        low, high = self.ends
        interval = "" if low is None or high is None else f" [{_signed(low)}, {_signed(high)}]"
        return f"{self.name}: ρ = {_signed(self.raw)}{interval}"


def _is_no_chance(value: float, items: int, metrics: int) -> bool:
    """Whether a perfect order is too unlikely to come about by chance, however many metrics are looked at."""
    return abs(value) > PERFECT and metrics * 2 / math.factorial(items) < CHANCE


def _alike(trusted: list[_Judged], pairs: pl.DataFrame) -> list[_Judged]:
    """The best one, and those that are not told apart from it."""
    if not trusted:
        return []
    best, columns = trusted[0], ("metric", "encoder", "reference")
    apart = {
        tuple(row[f"other{tail}"] for tail in ("", "_encoder", "_reference"))
        for row in pairs.filter("separated").iter_rows(named=True)
        if tuple(row[name] for name in columns) == best.key
    }
    return [one for one in trusted if one.key not in apart]


def _sentences(by_standing: dict[Standing, list[_Judged]], alike: list[_Judged], items: int) -> Iterator[str]:
    trusted = by_standing["trusted"]
    if trusted:
        yield f"Trust {trusted[0]} over {items} generators."
        rest = [one for one in alike if one is not trusted[0]]
        if rest:
            yield f"Not told apart from it: {_listed(rest)}."
        worse = [one for one in trusted if one not in alike]
        if worse:
            yield f"Agrees with people, but less: {_listed(worse)}."
    else:
        yield f"No metric can be told to order these {items} generators as people do."
    perhaps = [one for one in by_standing["unknown"] if one.perfect]
    if perhaps:
        names = ", ".join(one.name for one in perhaps)
        yield f"Perfect, or perfectly reversed, which with so few generators may be chance: {names}."
    for standing, words in SAID.items():
        listed = [one for one in by_standing[standing] if one not in perhaps]
        if listed:
            yield f"{words}: {_listed(listed)}."


SAID: dict[Standing, str] = {
    "alongside": "Goes with people's ratings, though no value of it is better as such",
    "unknown": "Cannot be trusted here",
    "against": "Runs against people",
}


def _listed(judged: list[_Judged]) -> str:
    return "; ".join(str(one) for one in judged)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _less(value: float | None) -> float | None:
    return None if value is None else -value
