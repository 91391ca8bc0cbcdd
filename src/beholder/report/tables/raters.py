"""The people: how many took part, whose answers are used, why not, and how far they agree."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from statistics import median
from types import MappingProxyType
from typing import Any

import polars as pl

from beholder.formats.imported import NO_TIME
from beholder.report.tables.accuracy import Accuracy
from beholder.report.text.agreement_names import max_diff_edge

MADE_UP = {"noisy": "ordinary"}
"""Habits of made-up people that need another word for a reader."""


@dataclass(frozen=True, slots=True)
class Member:
    """One person in one question."""

    rater: str
    used: bool
    reasons: tuple[str, ...]
    answers: int
    seconds: float | None
    agreement: float | None
    habit: str | None
    """Known only of made-up people."""
    accuracy: Accuracy | None = None
    """How often they were right, where answers can be."""

    @property
    def rule(self) -> str:
        """The first rule that spoke against them; nothing where they are used."""
        if self.used:
            return ""
        return self.reasons[0].split(":")[0] if self.reasons else "no answers"


@dataclass(frozen=True, slots=True)
class Reason:
    """A screening rule, how many people it spoke against, and for how many of them it alone did."""

    rule: str
    example: str
    people: int
    alone: int


@dataclass(frozen=True, slots=True)
class Accord:
    """How far people agree on one aspect, before and after screening."""

    aspect: str
    statistic: str
    before: tuple[float | None, float | None, float | None]
    after: tuple[float | None, float | None, float | None]
    """Value, low, high."""
    answers: int = 0
    items: int = 0
    people: int = 0
    """What the number after screening rests on; before it, where that alone is known."""

    @property
    def is_step(self) -> bool:
        """Whether it is a step of a histogram of max_diff, and no measure by itself."""
        return max_diff_edge(self.statistic) is not None


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit of made-up people, and what screening made of those who have it."""

    name: str
    harmful: bool
    people: int
    set_aside: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """The people of one question."""

    question: str
    invited: int
    """People with a session, whether or not they answered a test trial."""
    members: tuple[Member, ...]
    reasons: tuple[Reason, ...]
    accords: tuple[Accord, ...]
    habits: tuple[Habit, ...]
    notes: tuple[tuple[str, int], ...] = ()
    """What could not be applied, and why, each with the number of people it is said of."""

    @property
    def used(self) -> tuple[Member, ...]:
        """The people whose answers count."""
        return tuple(member for member in self.members if member.used)

    @property
    def set_aside(self) -> int:
        """How many were judged by the screening rules and not used."""
        return len(self.members) - len(self.used)

    @property
    def answers(self) -> int:
        """Answers of the people used."""
        return sum(member.answers for member in self.used)

    @property
    def seconds(self) -> float | None:
        """Median over the people used of their ``timing`` for an answer."""
        times = [member.seconds for member in self.used if member.seconds is not None]
        return median(times) if times else None

    @property
    def by_accuracy(self) -> bool:
        """Whether people can be placed by how often they are right, and not only by agreement."""
        return any(member.accuracy for member in self.members)

    def height(self, member: Member) -> float | None:
        """Where a person stands: their share right, or their agreement with the others."""
        if self.by_accuracy:
            return member.accuracy.share if member.accuracy else None
        return member.agreement

    @property
    def measures(self) -> tuple[tuple[str, tuple[Accord, ...]], ...]:
        """The measures of agreement of each aspect."""
        return _by_aspect(accord for accord in self.accords if not accord.is_step)

    @property
    def steps(self) -> tuple[tuple[str, tuple[Accord, ...]], ...]:
        """The histogram of max_diff of each aspect, cumulated."""
        return _by_aspect(accord for accord in self.accords if accord.is_step)

    @property
    def step_edges(self) -> tuple[float, ...]:
        """The edges of those histograms."""
        edges = (max_diff_edge(accord.statistic) for accord in self.accords)
        return tuple(dict.fromkeys(edge for edge in edges if edge is not None))

    @property
    def timing(self) -> str:
        """What the time of a person is: a median over answers, or, of imported totals, a mean."""
        return "mean" if any(m.accuracy and m.accuracy.seconds for m in self.members) else "median"

    @property
    def unplaced(self) -> int:
        """People whose speed, or whose accuracy or agreement, is not known."""
        return sum(member.seconds is None or self.height(member) is None for member in self.members)


def _by_aspect(accords: Iterable[Accord]) -> tuple[tuple[str, tuple[Accord, ...]], ...]:
    return tuple((aspect, tuple(group)) for aspect, group in groupby(accords, key=lambda accord: accord.aspect))


def crowds(
    questions: Mapping[str, Sequence[str]],
    sessions: pl.DataFrame,
    raters: pl.DataFrame,
    agreement: pl.DataFrame,
    truth: pl.DataFrame | None = None,
    accuracy: Mapping[tuple[str, str], Accuracy] = MappingProxyType({}),
) -> tuple[Crowd, ...]:
    """The people of each question (named with its aspects); ``truth``, shaped as ``raters``, has habits.

    ``accuracy`` is how often people were right, by question and person.
    """
    return tuple(
        _crowd(
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


def days(sessions: pl.DataFrame) -> tuple[datetime, datetime] | None:
    """When the first session began and the last began or ended; nothing where imported data does not tell."""
    moments = pl.concat([sessions["started"], sessions["ended"]]).drop_nulls()
    moments = moments.filter(moments > NO_TIME)
    if moments.is_empty():
        return None
    return moments.sort()[0], moments.sort()[-1]


def _crowd(
    question: str,
    aspects: Sequence[str],
    sessions: pl.DataFrame,
    raters: pl.DataFrame,
    agreement: pl.DataFrame,
    truth: pl.DataFrame | None,
    accuracy: Mapping[tuple[str, str], Accuracy],
) -> Crowd:
    habit_of = {} if truth is None else {r["rater"]: r["reasons"] for r in truth.to_dicts()}
    known = {rater: one for (asked, rater), one in accuracy.items() if asked == question}
    members = tuple(
        Member(
            rater=row["rater"],
            used=row["used"],
            reasons=tuple(row["reasons"]),
            answers=row["answers"],
            seconds=row["median_seconds"] or _mean_seconds(known.get(row["rater"])),
            agreement=row["agreement"],
            habit=next((MADE_UP.get(name, name) for name in habit_of.get(row["rater"], ())), None),
            accuracy=known.get(row["rater"]),
        )
        for row in raters.to_dicts()
    )
    return Crowd(
        question=question,
        invited=max(sessions["rater"].n_unique(), len(members)),
        members=members,
        reasons=_reasons(members),
        accords=_accords(agreement, aspects),
        habits=() if truth is None else _habits(members, truth),
        notes=tuple(Counter(note for row in raters["notes"].to_list() for note in row or ()).most_common()),
    )


def _mean_seconds(accuracy: Accuracy | None) -> float | None:
    """Imported data may tell the mean time alone, or none: nobody takes no time."""
    return (accuracy.seconds or None) if accuracy else None


def _reasons(members: Sequence[Member]) -> tuple[Reason, ...]:
    """The rules by how many people they spoke against; the words before the colon name a rule."""
    people: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for member in members:
        rules = list(dict.fromkeys(reason.split(":")[0] for reason in member.reasons))
        people.update(rules)
        if len(rules) == 1:
            alone.update(rules)
        for reason in member.reasons:
            rule, _, detail = reason.partition(":")
            examples.setdefault(rule, detail.strip())
    silent = sum(not member.used and not member.reasons for member in members)
    rows = [Reason(rule, examples[rule], number, alone[rule]) for rule, number in people.items()]
    if silent:
        rows.append(Reason("no answers", "no valid answer to a test trial", silent, silent))
    return tuple(sorted(rows, key=lambda reason: (-reason.people, reason.rule)))


def _accords(agreement: pl.DataFrame, aspects: Sequence[str]) -> tuple[Accord, ...]:
    """As the question lists its aspects."""
    place = {aspect: number for number, aspect in enumerate(aspects)}
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in agreement.to_dicts():
        found.setdefault((row["aspect"], row["statistic"]), {})[row["people"]] = row
    in_order = sorted(found.items(), key=lambda item: place.get(item[0][0], len(place)))
    return tuple(_accord(aspect, statistic, sides) for (aspect, statistic), sides in in_order)


def _accord(aspect: str, statistic: str, sides: Mapping[str, Mapping[str, Any]]) -> Accord:
    all_people, used = (
        (row["value"], row["low"], row["high"]) if row else (None, None, None)
        for row in (sides.get("all"), sides.get("used"))
    )
    known = [row for row in (sides.get("used"), sides.get("all")) if row and row["value"] is not None]
    counts = known[0] if known else next(iter(sides.values()))
    return Accord(aspect, statistic, all_people, used, counts["answers"], counts["items"], counts["raters"])


def _habits(members: Sequence[Member], truth: pl.DataFrame) -> tuple[Habit, ...]:
    """Every habit with how many have it and how many of them were set aside; harmful ones first."""
    harmless = {r["rater"]: r["used"] for r in truth.to_dicts()}
    have: Counter[tuple[bool, str]] = Counter()
    gone: Counter[tuple[bool, str]] = Counter()
    for member in members:
        if member.habit is None:
            continue
        key = (harmless[member.rater], member.habit)
        have[key] += 1
        gone[key] += not member.used
    return tuple(Habit(name, not fine, have[fine, name], gone[fine, name]) for fine, name in sorted(have))
