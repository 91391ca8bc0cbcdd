"""The raters: how many took part, whose answers are used, who was excluded and why, and inter-rater agreement."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby
from statistics import median
from types import MappingProxyType
from typing import Any

import polars as pl

from beholder.formats.imported import NO_TIME
from beholder.report.tables.accuracy import Accuracy
from beholder.report.text.agreement_names import max_diff_edge

HABIT_NAMES = {"noisy": "ordinary"}
"""Habits of simulated raters that need another word for a reader."""


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """One rater in one question."""

    name: str
    used: bool
    reasons: tuple[str, ...]
    answers: int
    seconds: float | None
    agreement: float | None
    habit: str | None
    """Known only of simulated raters."""
    accuracy: Accuracy | None = None
    """How often they were right, where answers can be."""

    @property
    def rule(self) -> str:
        """The first rule that excluded the rater; empty where their answers are used."""
        if self.used:
            return ""
        return self.reasons[0].split(":")[0] if self.reasons else "no answers"


@dataclass(frozen=True, slots=True)
class Reason:
    """A screening rule, how many raters it excluded, and how many of them no other rule did."""

    rule: str
    example: str
    raters: int
    alone: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Inter-rater agreement on one aspect, before and after screening."""

    aspect: str
    statistic: str
    before: tuple[float | None, float | None, float | None]
    after: tuple[float | None, float | None, float | None]
    """Value, low, high."""
    answers: int = 0
    items: int = 0
    raters: int = 0
    """What the value after screening is computed from; the value before it, where only that is known."""

    @property
    def is_step(self) -> bool:
        """Whether it is a bin of a histogram of max_diff, not a measure by itself."""
        return max_diff_edge(self.statistic) is not None


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit of simulated raters, how many have it, and how many of them screening excluded."""

    name: str
    harmful: bool
    raters: int
    excluded: int


@dataclass(frozen=True)
class RaterPool:
    """The raters of one question; what is computed from all of them is computed once."""

    question: str
    took_part: int
    """Raters with a session, whether or not they answered a test trial."""
    raters: tuple[RaterSummary, ...]
    reasons: tuple[Reason, ...]
    agreements: tuple[Agreement, ...]
    habits: tuple[Habit, ...]
    notes: tuple[tuple[str, int], ...] = ()
    """Rules that could not be applied, and why, each with the number of raters concerned."""

    @cached_property
    def used(self) -> tuple[RaterSummary, ...]:
        """The raters whose answers count."""
        return tuple(rater for rater in self.raters if rater.used)

    @property
    def excluded(self) -> int:
        """How many raters screening excluded."""
        return len(self.raters) - len(self.used)

    @cached_property
    def included(self) -> int:
        """How many raters are used although screening excludes them."""
        return sum(bool(rater.reasons) for rater in self.used)

    @cached_property
    def answers(self) -> int:
        """Answers of the raters used."""
        return sum(rater.answers for rater in self.used)

    @property
    def seconds(self) -> float | None:
        """Median over the raters used of their ``timing`` per answer."""
        times = [rater.seconds for rater in self.used if rater.seconds is not None]
        return median(times) if times else None

    @cached_property
    def by_accuracy(self) -> bool:
        """Whether raters can be compared by accuracy, and not only by agreement."""
        return any(rater.accuracy for rater in self.raters)

    def quality(self, rater: RaterSummary) -> float | None:
        """The accuracy of a rater, or their agreement with the others where no answer is right or wrong."""
        if self.by_accuracy:
            return rater.accuracy.proportion if rater.accuracy else None
        return rater.agreement

    @property
    def measures(self) -> tuple[tuple[str, tuple[Agreement, ...]], ...]:
        """The measures of agreement of each aspect."""
        return _by_aspect(agreement for agreement in self.agreements if not agreement.is_step)

    @property
    def steps(self) -> tuple[tuple[str, tuple[Agreement, ...]], ...]:
        """The cumulative histogram of max_diff of each aspect."""
        return _by_aspect(agreement for agreement in self.agreements if agreement.is_step)

    @property
    def step_edges(self) -> tuple[float, ...]:
        """The bin edges of those histograms."""
        edges = (max_diff_edge(agreement.statistic) for agreement in self.agreements)
        return tuple(dict.fromkeys(edge for edge in edges if edge is not None))

    @cached_property
    def timing(self) -> str:
        """What the time of a rater is: a median over answers, or, of imported totals, a mean."""
        return "mean" if any(rater.accuracy and rater.accuracy.seconds for rater in self.raters) else "median"

    @cached_property
    def unplaced(self) -> int:
        """Raters whose speed, or whose accuracy or agreement, is not known."""
        return sum(rater.seconds is None or self.quality(rater) is None for rater in self.raters)


def _by_aspect(agreements: Iterable[Agreement]) -> tuple[tuple[str, tuple[Agreement, ...]], ...]:
    return tuple(
        (aspect, tuple(group)) for aspect, group in groupby(agreements, key=lambda agreement: agreement.aspect)
    )


def build_pools(
    questions: Mapping[str, Sequence[str]],
    sessions: pl.DataFrame,
    raters: pl.DataFrame,
    agreement: pl.DataFrame,
    truth: pl.DataFrame | None = None,
    accuracy: Mapping[tuple[str, str], Accuracy] = MappingProxyType({}),
) -> tuple[RaterPool, ...]:
    """The raters of each question (``questions`` maps names to aspects).

    ``truth`` has the columns of ``raters`` and the habits of simulated ones; ``accuracy`` is by question, rater.
    """
    return tuple(
        _pool(
            question,
            aspects,
            sessions.filter(pl.col("question") == question),
            raters.filter(pl.col("question") == question),
            agreement.filter(pl.col("question") == question),
            None if truth is None else truth.filter(pl.col("question") == question),
            accuracy,
        )
        for question, aspects in questions.items()
    )


def collection_dates(sessions: pl.DataFrame) -> tuple[datetime, datetime] | None:
    """When the first session began and the last began or ended; ``None`` where imported data has no times."""
    moments = pl.concat([sessions["started"], sessions["ended"]]).drop_nulls()
    moments = moments.filter(moments > NO_TIME)
    if moments.is_empty():
        return None
    return moments.sort()[0], moments.sort()[-1]


def _pool(
    question: str,
    aspects: Sequence[str],
    sessions: pl.DataFrame,
    raters: pl.DataFrame,
    agreement: pl.DataFrame,
    truth: pl.DataFrame | None,
    accuracy: Mapping[tuple[str, str], Accuracy],
) -> RaterPool:
    habit_of = {} if truth is None else {r["rater"]: r["reasons"] for r in truth.to_dicts()}
    accuracy_of = {rater: own for (name, rater), own in accuracy.items() if name == question}
    summaries = tuple(
        RaterSummary(
            name=row["rater"],
            used=row["used"],
            reasons=tuple(row["reasons"]),
            answers=row["answers"],
            seconds=row["median_seconds"] or _mean_seconds(accuracy_of.get(row["rater"])),
            agreement=row["agreement"],
            habit=next((HABIT_NAMES.get(name, name) for name in habit_of.get(row["rater"], ())), None),
            accuracy=accuracy_of.get(row["rater"]),
        )
        for row in raters.to_dicts()
    )
    return RaterPool(
        question=question,
        took_part=max(sessions["rater"].n_unique(), len(summaries)),
        raters=summaries,
        reasons=_reasons(summaries),
        agreements=_agreements(agreement, aspects),
        habits=() if truth is None else _habits(summaries, truth),
        notes=tuple(Counter(note for row in raters["notes"].to_list() for note in row or ()).most_common()),
    )


def _mean_seconds(accuracy: Accuracy | None) -> float | None:
    """Imported data may have only the mean time, or none; a time of 0 means that it is unknown."""
    return (accuracy.seconds or None) if accuracy else None


def _reasons(raters: Sequence[RaterSummary]) -> tuple[Reason, ...]:
    """The rules by how many raters they excluded; the words before the colon name a rule."""
    excluded: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for rater in raters:
        rules = list(dict.fromkeys(reason.split(":")[0] for reason in rater.reasons))
        excluded.update(rules)
        if len(rules) == 1:
            alone.update(rules)
        for reason in rater.reasons:
            rule, _, detail = reason.partition(":")
            examples.setdefault(rule, detail.strip())
    silent = sum(not rater.used and not rater.reasons for rater in raters)
    rows = [Reason(rule, examples[rule], number, alone[rule]) for rule, number in excluded.items()]
    if silent:
        rows.append(Reason("no answers", "no valid answer to a test trial", silent, silent))
    return tuple(sorted(rows, key=lambda reason: (-reason.raters, reason.rule)))


def _agreements(agreement: pl.DataFrame, aspects: Sequence[str]) -> tuple[Agreement, ...]:
    """One per aspect and statistic, in the order in which the question lists its aspects."""
    place = {aspect: number for number, aspect in enumerate(aspects)}
    by_statistic: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in agreement.to_dicts():
        by_statistic.setdefault((row["aspect"], row["statistic"]), {})[row["people"]] = row
    in_order = sorted(by_statistic.items(), key=lambda item: place.get(item[0][0], len(place)))
    return tuple(_agreement(aspect, statistic, sides) for (aspect, statistic), sides in in_order)


def _agreement(aspect: str, statistic: str, sides: Mapping[str, Mapping[str, Any]]) -> Agreement:
    before, after = (
        (row["value"], row["low"], row["high"]) if row else (None, None, None)
        for row in (sides.get("all"), sides.get("used"))
    )
    defined = [row for row in (sides.get("used"), sides.get("all")) if row and row["value"] is not None]
    counts = defined[0] if defined else next(iter(sides.values()))
    return Agreement(aspect, statistic, before, after, counts["answers"], counts["items"], counts["raters"])


def _habits(raters: Sequence[RaterSummary], truth: pl.DataFrame) -> tuple[Habit, ...]:
    """Every habit with how many raters have it and how many of them were excluded; harmful ones first."""
    harmless = {r["rater"]: r["used"] for r in truth.to_dicts()}
    have: Counter[tuple[bool, str]] = Counter()
    excluded: Counter[tuple[bool, str]] = Counter()
    for rater in raters:
        if rater.habit is None:
            continue
        key = (harmless[rater.name], rater.habit)
        have[key] += 1
        excluded[key] += not rater.used
    return tuple(Habit(name, not fine, have[fine, name], excluded[fine, name]) for fine, name in sorted(have))
