"""Which metric to trust for this study, in words: from the tables ``correlations`` and ``metric_separations``.

A metric is trusted to order the generators where the confidence interval of its rank correlation with raters, over
generators, is above 0; it disagrees with raters where the interval is below 0; otherwise it is inconclusive. A
perfect order has no interval: it counts where the chance that any metric has one, 2/n! for each, is small.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import polars as pl

STATISTIC = "spearman"
PERFECT = 1 - 1e-9
CHANCE = 0.05
"""Significance level at which a perfect order counts."""

KEY = ("question", "aspect", "method")

Standing = Literal["trusted", "alongside", "unknown", "against"]
"""Agrees with raters; correlates, though neither direction is known to be better; inconclusive; disagrees."""


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """A metric and its rank correlation with raters, signed so that agreement is positive."""

    name: str
    standing: Standing
    rho: float | None
    """``None`` where the metric is the same for all generators."""
    low: float | None
    high: float | None
    directed: bool
    """Whether it is known which values are better; if not, the absolute correlation is taken."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which metrics to trust for one rating of one question."""

    question: str
    aspect: str
    method: str
    trusted: tuple[str, ...]
    """Ordered by agreement, the best first."""
    against: tuple[str, ...]
    alongside: tuple[str, ...]
    """Those that correlate with ratings, without it being known which direction is better."""
    unknown: tuple[str, ...]
    not_separated: tuple[str, ...]
    """Trusted ones that do not agree significantly less than the best, and the best itself."""
    items: int
    """Number of generators."""
    human_ceiling: float | None
    """The rank correlation that as many other raters would have with these."""
    metrics: tuple[MetricAgreement, ...]
    """All metrics, the best agreement first."""
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((f"{self.question} · {self.aspect} ({self.method})", *(f"  {s}" for s in self.sentences)))


def verdicts(correlations: pl.DataFrame, separations: pl.DataFrame) -> list[Verdict]:
    """One verdict per rating of each question that a metric of generators was compared with."""
    all_images = pl.col("slice") == "all"
    rows = correlations.filter(all_images & (pl.col("level") == "generator") & (pl.col("statistic") == STATISTIC))
    pairs = separations.filter(all_images & (pl.col("level") == "generator"))
    all_verdicts = []
    for key, part in rows.partition_by(KEY, as_dict=True, maintain_order=True).items():
        same = pl.all_horizontal(pl.col(name) == value for name, value in zip(KEY, key, strict=True))
        all_verdicts.append(_verdict([str(name) for name in key], part, pairs.filter(same)))
    return all_verdicts


def _verdict(key: list[str], rows: pl.DataFrame, pairs: pl.DataFrame) -> Verdict:
    ordered = sorted(
        (_Metric.from_row(row, rows.height) for row in rows.iter_rows(named=True)),
        key=lambda metric: -metric.value,
    )
    by_standing: dict[Standing, list[_Metric]] = {"trusted": [], "alongside": [], "unknown": [], "against": []}
    for metric in ordered:
        by_standing[metric.standing].append(metric)
    trusted = by_standing["trusted"]
    not_separated = _not_separated(trusted, pairs)
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
        not_separated=_names(not_separated),
        items=items,
        human_ceiling=float(ceilings[0]) if len(ceilings) else None,
        metrics=tuple(metric.agreement for metric in ordered),
        sentences=tuple(_sentences(by_standing, not_separated, items)),
    )


def _names(metrics: list["_Metric"]) -> tuple[str, ...]:
    return tuple(metric.name for metric in metrics)


@dataclass(frozen=True, slots=True)
class _Metric:
    """A metric with its agreement signed so that higher is better; of an unknown direction, the absolute value."""

    name: str
    key: tuple[object, ...]
    directed: bool
    value: float
    low: float | None
    high: float | None
    raw: float | None
    ends: tuple[float | None, float | None]

    @classmethod
    def from_row(cls, row: dict[str, object], metrics: int) -> "_Metric":
        value, low, high = (_number(row[name]) for name in ("value", "low", "high"))
        raw, ends = value, (low, high)
        if value is not None and low is None and _beyond_chance(value, int(str(row["items"])), metrics):
            low = high = value
        down = row["better"] == "lower" or (row["better"] != "higher" and value is not None and value < 0)
        if down:
            value, low, high = _negated(value), _negated(high), _negated(low)
        encoder = f" ({str(row['encoder']).partition('@')[0]})" if row["encoder"] else ""
        key = (row["metric"], row["encoder"], row["reference"])
        directed = row["better"] in ("lower", "higher")
        return cls(
            f"{row['metric']}{encoder}", key, directed, -2.0 if value is None else value, low, high, raw, ends
        )

    @property
    def standing(self) -> Standing:
        """What the confidence interval implies."""
        if self.low is not None and self.low > 0:
            return "trusted" if self.directed else "alongside"
        return "against" if self.high is not None and self.high < 0 else "unknown"

    @property
    def perfect(self) -> bool:
        """Whether the order is that of the raters, or its reverse, and has no confidence interval."""
        return self.raw is not None and self.low is None and abs(self.raw) > PERFECT

    @property
    def agreement(self) -> MetricAgreement:
        """As a verdict reports it; a perfect order that counts has no confidence interval."""
        rho = None if self.raw is None else self.value
        low, high = (None, None) if self.ends == (None, None) else (self.low, self.high)
        return MetricAgreement(self.name, self.standing, rho, low, high, self.directed)

    def __str__(self) -> str:
        if self.raw is None:
            return f"{self.name} (the same for all generators)"
        low, high = self.ends
        interval = "" if low is None or high is None else f" [{_signed(low)}, {_signed(high)}]"
        return f"{self.name}: ρ = {_signed(self.raw)}{interval}"


def _beyond_chance(value: float, items: int, metrics: int) -> bool:
    """Whether a perfect order is significant, corrected for the number of metrics."""
    return abs(value) > PERFECT and metrics * 2 / math.factorial(items) < CHANCE


def _not_separated(trusted: list[_Metric], pairs: pl.DataFrame) -> list[_Metric]:
    """The best metric, and those that are not significantly different from it."""
    if not trusted:
        return []
    best, columns = trusted[0], ("metric", "encoder", "reference")
    separated = {
        tuple(row[f"other{tail}"] for tail in ("", "_encoder", "_reference"))
        for row in pairs.filter("separated").iter_rows(named=True)
        if tuple(row[name] for name in columns) == best.key
    }
    return [metric for metric in trusted if metric.key not in separated]


def _sentences(
    by_standing: dict[Standing, list[_Metric]], not_separated: list[_Metric], items: int
) -> Iterator[str]:
    trusted = by_standing["trusted"]
    if trusted:
        yield f"Trust {trusted[0]} over {items} generators."
        rest = [metric for metric in not_separated if metric is not trusted[0]]
        if rest:
            yield f"Not significantly different from it: {_listed(rest)}."
        worse = [metric for metric in trusted if metric not in not_separated]
        if worse:
            yield f"Agrees with raters, but significantly less: {_listed(worse)}."
    else:
        yield f"There is not enough evidence that any metric orders these {items} generators as raters do."
    perfect = [metric for metric in by_standing["unknown"] if metric.perfect]
    if perfect:
        names = ", ".join(metric.name for metric in perfect)
        yield f"Order perfect or perfectly reversed, which may be chance with so few generators: {names}."
    for standing, words in OPENINGS.items():
        metrics = [metric for metric in by_standing[standing] if metric not in perfect]
        if metrics:
            yield f"{words}: {_listed(metrics)}."


OPENINGS: dict[Standing, str] = {
    "alongside": "Correlates with ratings, but neither direction is known to be better",
    "unknown": "Not enough evidence to trust",
    "against": "Disagrees with raters",
}
"""How the sentence on the metrics of a standing begins."""


def _listed(metrics: list[_Metric]) -> str:
    return "; ".join(str(metric) for metric in metrics)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _negated(value: float | None) -> float | None:
    return None if value is None else -value
