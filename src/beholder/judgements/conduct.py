"""A rater's conduct on a question: response times, identical answers, checks passed. Plain numbers in and out.

Answers are counted by :func:`tally` for a few rows of a database, and by ``judgements/tallies.py`` for the columns
of the tables. What the counts mean is defined here alone, and needs neither Polars nor NumPy.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

TEST, GOLD, ATTENTION, QUALIFICATION = "test", "gold", "attention", "qualification"
"""Roles of the trials that conduct looks at."""


class Hits(NamedTuple):
    """How many of a rater's checks were passed."""

    right: float
    of: int


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """A valid answer to one aspect of a trial, with the answer expected; texts as ``trials.expected`` has them."""

    role: str
    trial: str
    aspect: str
    text: str
    expected: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class SkippedTrial:
    """A trial that was left unanswered, with the answer expected."""

    role: str
    expected: str | None


@dataclass(frozen=True, slots=True)
class Tally:
    """What a rater did on one question, counted."""

    seconds: Sequence[float] = ()
    """The time of each answer to a test trial."""
    same: Sequence[Sequence[int]] = ()
    """Of each aspect how often each answer was given to test trials."""
    skipped: Hits | None = None
    """Test trials that were skipped, of those that were answered or skipped."""
    gold: Hits | None = None
    attention: Hits | None = None
    """Trials on which every aspect was answered as asked; one that was skipped is not passed."""
    qualification: Mapping[str, Hits] = field(default_factory=dict)
    """By the answer expected; a trial that was skipped is not right."""
    repeats: Hits | None = None
    """Repeated trials answered alike; a ranking counts by its pairs."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """What the counts imply; ``None`` where there is nothing to count."""

    answers: int
    median_seconds: float | None
    same_share: float | None
    gold_share: float | None
    skipped: float | None
    attention_failures: int | None
    qualification_share: float | None
    repeat_share: float | None


def tally(
    answers: Iterable[CheckedAnswer], skipped: Iterable[SkippedTrial] = (), repeats: Hits | None = None
) -> Tally:
    """Return the counts of one rater's answers to one question, and of the trials left unanswered."""
    seconds: list[float] = []
    tests: set[str] = set()
    same: dict[str, Counter[str]] = defaultdict(Counter)
    gold: list[bool] = []
    attention: dict[str, bool] = {}
    classes: dict[str, list[bool]] = defaultdict(list)
    for answer in answers:
        right = answer.text == answer.expected
        if answer.role == TEST:
            seconds.append(answer.seconds)
            tests.add(answer.trial)
            same[answer.aspect][answer.text] += 1
        elif answer.expected is None:
            continue
        elif answer.role == GOLD:
            gold.append(right)
        elif answer.role == ATTENTION:
            attention[answer.trial] = attention.get(answer.trial, True) and right
        elif answer.role == QUALIFICATION:
            classes[answer.expected].append(right)
    unanswered = list(skipped)
    for trial in unanswered:
        if trial.role == QUALIFICATION and trial.expected is not None:
            classes[trial.expected].append(False)
    missed = [trial.role for trial in unanswered].count(ATTENTION)
    skipped_tests = [trial.role for trial in unanswered].count(TEST)
    return Tally(
        seconds=seconds,
        same=[list(counts.values()) for counts in same.values()],
        skipped=_hits([True] * skipped_tests + [False] * len(tests)),
        gold=_hits(gold),
        attention=_hits([*attention.values(), *[False] * missed]),
        qualification={name: Hits(sum(rights), len(rights)) for name, rights in classes.items()},
        repeats=repeats,
    )


def conduct_of(counts: Tally) -> Conduct:
    """Return a rater's conduct from the counts."""
    return Conduct(
        answers=len(counts.seconds),
        median_seconds=median(counts.seconds),
        same_share=same_share(counts.same),
        gold_share=proportion(counts.gold),
        skipped=proportion(counts.skipped),
        attention_failures=None if counts.attention is None else counts.attention.of - int(counts.attention.right),
        qualification_share=lowest_proportion(counts.qualification.values()),
        repeat_share=proportion(counts.repeats),
    )


def median(values: Sequence[float]) -> float | None:
    """Return the middle value; of an even number a + (b − a)/2 for the two in the middle."""
    if not values:
        return None
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low + (high - low) * 0.5


def same_share(counts: Iterable[Sequence[int]]) -> float | None:
    """Return the proportion of the most frequent answer; of several aspects, the least.

    Aspects with a single answer are ignored.
    """
    proportions = [max(times) / sum(times) for times in counts if sum(times) > 1]
    return min(proportions, default=None)


def lowest_proportion(hits: Iterable[Hits]) -> float | None:
    """Return the proportion correct of the class (real, generated) on which the rater did worst."""
    return min((right / of for right, of in hits if of), default=None)


def proportion(hits: Hits | None) -> float | None:
    """Return the proportion correct; ``None`` where there were no checks."""
    return None if hits is None or not hits.of else hits.right / hits.of


def _hits(rights: Sequence[bool]) -> Hits | None:
    return Hits(sum(rights), len(rights)) if rights else None
