"""The screening rules: when a rater is excluded for their conduct, and the reason in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from beholder.study.question import Screening

SHARE, CORRELATION = "majority-share", "correlation"
"""What ``agreement`` is: of choices and of numbers."""

Columns = Mapping[str, Any]
"""A rater's conduct by column of ``raters``, and ``agreement_p`` and ``agreement_typical``; some may be absent."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the column it tests, when it excludes a rater, and why that column may be empty."""

    column: str
    against: Callable[[float, float, Columns], str | None]
    """From the value, the threshold and all of the rater's conduct: the reason to exclude, or ``None``."""
    lacking: str
    kind: str | None = None
    """Of the rules on agreement, the kind of agreement they are about."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say of one rater."""

    reasons: list[str]
    """Why the rater is excluded; ``reason.split(':')[0]`` is the short name of a reason."""
    notes: list[str]
    """The rules that could not be applied."""


def judge(conduct: Columns, screening: Screening) -> Verdict:
    """Apply every rule that the study sets, but ``bt500``, which looks at all raters together."""
    verdict = Verdict([], [])
    for name, rule in RULES.items():
        limit = getattr(screening, name)
        if limit is None:
            continue
        value = conduct.get(rule.column)
        if rule.kind is not None and conduct.get("agreement_kind") not in (rule.kind, None):
            value = None
        if value is None:
            verdict.notes.append(f"{name}: not applicable: {rule.lacking}")
            continue
        reason = rule.against(value, limit, conduct)
        if reason:
            verdict.reasons.append(reason)
    return verdict


def _fast(seconds: float, least: float, conduct: Columns) -> str | None:  # noqa: ARG001 - the shape of ``against``
    return f"fast: median {seconds:.2f} s, at least {least:g} s expected" if seconds < least else None


def _same(proportion: float, most: float, conduct: Columns) -> str | None:  # noqa: ARG001
    return f"same answer: {proportion:.0%} of the time, at most {most:.0%} expected" if proportion > most else None


def _skipped(proportion: float, most: float, conduct: Columns) -> str | None:  # noqa: ARG001
    if proportion <= most:
        return None
    return f"skipped: {proportion:.0%} of the test trials, at most {most:.0%} expected"


def _qualification(proportion: float, least: float, conduct: Columns) -> str | None:  # noqa: ARG001
    if proportion >= least:
        return None
    return f"qualification: {proportion:.0%} right on the harder class, at least {least:.0%} expected"


def _gold(proportion: float, least: float, conduct: Columns) -> str | None:  # noqa: ARG001
    return f"gold trials: {proportion:.0%} right, at least {least:.0%} expected" if proportion < least else None


def _attention(missed: float, most: float, conduct: Columns) -> str | None:  # noqa: ARG001
    return f"attention checks: {missed:.0f} missed, at most {most:.0f} expected" if missed > most else None


def _repeat(proportion: float, least: float, conduct: Columns) -> str | None:  # noqa: ARG001
    return (
        f"repeated trials: {proportion:.0%} answered alike, at least {least:.0%} expected"
        if proportion < least
        else None
    )


def _chance(proportion: float, most: float, conduct: Columns) -> str | None:
    chance = conduct["agreement_p"]
    if chance is None or chance <= most or conduct["agreement_typical"]:
        return None
    return f"agreement: {proportion:.0%} with the majority, less than is usual and no better than guessing"


def _correlation(correlation: float, least: float, conduct: Columns) -> str | None:  # noqa: ARG001
    if correlation >= least:
        return None
    return f"agreement: correlation {correlation:.2f} with the others, at least {least:g} expected"


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
"""Each rule under the name of its setting; ``bt500`` looks at all raters together and is applied separately."""
