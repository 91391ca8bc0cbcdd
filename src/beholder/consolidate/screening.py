"""Whose answers are used: rules that each give a reason in words, and what the reasons rest on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from beholder.consolidate.coding import Coded
from beholder.consolidate.conduct import CORRELATION, SHARE, conduct_of
from beholder.stats.truth.bt500 import bt500
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.question import Screening

Conduct = Mapping[str, Any]
"""A row of :func:`conduct_of`, by column."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the column it looks at, when it speaks against a person, and why it may have nothing to look at."""

    column: str
    against: Callable[[float, float, Conduct], str | None]
    """The reason, from what was found, the threshold, and all of the person's conduct; or nothing."""
    lacking: str
    kind: str | None = None
    """Of the rules on agreement, the kind of agreement they are about."""


def screen(
    question: AnyQuestion, answered: pl.DataFrame, skipped: pl.DataFrame, coded: list[Coded]
) -> pl.DataFrame:
    """The ``raters`` rows of a question: conduct, the reasons against each person, and who is used.

    ``notes`` name the rules of the study that could not be applied to a person: they have passed nobody.
    """
    conduct = conduct_of(question, answered, skipped, coded)
    rated = [aspect for aspect in coded if aspect.scale != "nominal"]
    outliers = _bt500_outliers(rated) if question.screening.bt500 else set()
    reasons, notes = [], []
    for row in conduct.iter_rows(named=True):
        against, idle = _judge(row, question.screening)
        if row["rater"] in outliers:
            against.append("bt500: scores far from the others' in both directions")
        if question.screening.bt500 and not rated:
            idle.append("bt500: not applicable: it is for ratings, and these are choices")
        if row["answers"] == 0 and not against:
            against.append("no answers: left before the first test trial")
        reasons.append(against)
        notes.append(idle)
    return conduct.drop("agreement_p", "agreement_typical").with_columns(
        question=pl.lit(question.name),
        reasons=pl.Series(reasons, dtype=pl.List(pl.String)),
        notes=pl.Series(notes, dtype=pl.List(pl.String)),
        used=pl.Series([not against for against in reasons], dtype=pl.Boolean),
    )


def _judge(conduct: Conduct, screening: Screening) -> tuple[list[str], list[str]]:
    """The reasons against a person, and the rules that have nothing to go by."""
    against, idle = [], []
    for name, rule in RULES.items():
        limit = getattr(screening, name)
        if limit is None:
            continue
        found = conduct[rule.column]
        if rule.kind is not None and conduct["agreement_kind"] not in (rule.kind, None):
            found = None
        if found is None:
            idle.append(f"{name}: not applicable: {rule.lacking}")
            continue
        reason = rule.against(found, limit, conduct)
        if reason:
            against.append(reason)
    return against, idle


def _fast(seconds: float, least: float, conduct: Conduct) -> str | None:  # noqa: ARG001 - the shape of ``against``
    return f"fast: median {seconds:.2f} s, at least {least:g} s expected" if seconds < least else None


def _same(share: float, most: float, conduct: Conduct) -> str | None:  # noqa: ARG001
    return f"same answer: {share:.0%} of the time, at most {most:.0%} expected" if share > most else None


def _skipped(proportion: float, most: float, conduct: Conduct) -> str | None:  # noqa: ARG001
    if proportion <= most:
        return None
    return f"skipped: {proportion:.0%} of the test trials, at most {most:.0%} expected"


def _qualification(share: float, least: float, conduct: Conduct) -> str | None:  # noqa: ARG001
    if share >= least:
        return None
    return f"qualification: {share:.0%} right on the harder class, at least {least:.0%} expected"


def _gold(share: float, least: float, conduct: Conduct) -> str | None:  # noqa: ARG001
    return f"gold trials: {share:.0%} right, at least {least:.0%} expected" if share < least else None


def _attention(missed: float, most: float, conduct: Conduct) -> str | None:  # noqa: ARG001
    return f"attention checks: {missed:.0f} missed, at most {most:.0f} expected" if missed > most else None


def _repeat(share: float, least: float, conduct: Conduct) -> str | None:  # noqa: ARG001
    return f"repeated trials: {share:.0%} answered alike, at least {least:.0%} expected" if share < least else None


def _chance(share: float, most: float, conduct: Conduct) -> str | None:
    chance = conduct["agreement_p"]
    if chance is None or chance <= most or conduct["agreement_typical"]:
        return None
    return f"agreement: {share:.0%} with the majority, less than is usual and no better than guessing"


def _correlation(found: float, least: float, conduct: Conduct) -> str | None:  # noqa: ARG001
    if found >= least:
        return None
    return f"agreement: correlation {found:.2f} with the others, at least {least:g} expected"


RULES: dict[str, Rule] = {
    "min_seconds": Rule("median_seconds", _fast, "no test trial was answered"),
    "max_same_share": Rule("same_share", _same, "fewer than two test trials were answered"),
    "max_skipped": Rule("skipped", _skipped, "no test trial was answered or skipped"),
    "min_qualification": Rule("qualification_share", _qualification, "no qualification trial was answered"),
    "min_gold": Rule("gold_share", _gold, "no gold trial was answered"),
    "max_attention_failures": Rule("attention_failures", _attention, "no attention check was answered"),
    "min_repeat": Rule("repeat_share", _repeat, "no repeated trial was answered"),
    "above_chance": Rule("agreement", _chance, "there are no choices that others made too", SHARE),
    "min_correlation": Rule(
        "agreement", _correlation, "there are no numbers, or too few, that others gave too", CORRELATION
    ),
}
"""Each rule under the name of its setting; ``bt500`` looks at all people together and stands apart."""


def _bt500_outliers(coded: list[Coded]) -> set[str]:
    """People whom BT.500 rejects on any aspect."""
    rejected: set[str] = set()
    for aspect in coded:
        if aspect.frame.is_empty():
            continue
        who, what, scores, names = aspect.arrays()
        rejected |= {name for name, out in zip(names, bt500(who, what, scores).rejected, strict=True) if out}
    return rejected
