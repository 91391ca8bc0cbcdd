"""The people: how many took part, whose answers are used, why not, and how far they agree."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

import polars as pl

from beholder.formats.imported import NO_TIME

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
        """Median over the people used of their median time for an answer."""
        times = [member.seconds for member in self.used if member.seconds is not None]
        return median(times) if times else None

    @property
    def unplaced(self) -> int:
        """People whose speed or agreement is not known."""
        return sum(member.seconds is None or member.agreement is None for member in self.members)


def crowds(
    questions: Mapping[str, Sequence[str]],
    sessions: pl.DataFrame,
    raters: pl.DataFrame,
    agreement: pl.DataFrame,
    truth: pl.DataFrame | None = None,
) -> tuple[Crowd, ...]:
    """The people of each question (named with its aspects); ``truth``, shaped as ``raters``, has habits."""
    return tuple(
        _crowd(
            question,
            aspects,
            sessions.filter(pl.col("question") == question),
            raters.filter(pl.col("question") == question),
            agreement.filter(pl.col("question") == question),
            None if truth is None else truth.filter(pl.col("question") == question),
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
) -> Crowd:
    habit_of = {} if truth is None else {r["rater"]: r["reasons"] for r in truth.to_dicts()}
    members = tuple(
        Member(
            rater=row["rater"],
            used=row["used"],
            reasons=tuple(row["reasons"]),
            answers=row["answers"],
            seconds=row["median_seconds"] or None,  # nobody takes no time: imported data does not tell
            agreement=row["agreement"],
            habit=next((MADE_UP.get(name, name) for name in habit_of.get(row["rater"], ())), None),
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
    )


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
    found: dict[tuple[str, str], dict[str, tuple[float | None, float | None, float | None]]] = {}
    for row in agreement.to_dicts():
        numbers = (row["value"], row["low"], row["high"])
        found.setdefault((row["aspect"], row["statistic"]), {})[row["people"]] = numbers
    unknown = (None, None, None)
    return tuple(
        Accord(aspect, statistic, sides.get("all", unknown), sides.get("used", unknown))
        for (aspect, statistic), sides in sorted(found.items(), key=lambda item: place.get(item[0][0], len(place)))
    )


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
