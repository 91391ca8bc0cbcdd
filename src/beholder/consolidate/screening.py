"""Whose answers are used: rules that each give a reason in words, and what the reasons rest on."""

from collections.abc import Callable, Mapping

import polars as pl

from beholder.consolidate.coding import Coded
from beholder.consolidate.conduct import conduct_of
from beholder.stats.bt500 import bt500
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.question import Screening

Conduct = Mapping[str, float | None]
"""A row of :func:`conduct_of`, by column."""

Rule = Callable[[Conduct, Screening], str | None]
"""The reason against a person, or nothing."""


def screen(question: AnyQuestion, answered: pl.DataFrame, coded: list[Coded]) -> pl.DataFrame:
    """The ``raters`` rows of a question: conduct, the reasons against each person, and who is used."""
    conduct = conduct_of(answered, coded)
    outliers = _bt500_outliers(coded) if question.screening.bt500 else set()
    reasons = []
    for row in conduct.iter_rows(named=True):
        found = [rule(row, question.screening) for rule in RULES.values()]
        against = [reason for reason in found if reason]
        if row["rater"] in outliers:
            against.append("bt500: scores far from the others' in both directions")
        if row["answers"] == 0 and not against:
            against.append("no answers: left before the first test trial")
        reasons.append(against)
    return conduct.drop("agreement_p", "agreement_typical").with_columns(
        question=pl.lit(question.name),
        reasons=pl.Series(reasons, dtype=pl.List(pl.String)),
        used=pl.Series([not against for against in reasons], dtype=pl.Boolean),
    )


def _fast(conduct: Conduct, screening: Screening) -> str | None:
    seconds, least = conduct["median_seconds"], screening.min_seconds
    if seconds is None or least is None or seconds >= least:
        return None
    return f"fast: median {seconds:.2f} s, at least {least:g} s expected"


def _same(conduct: Conduct, screening: Screening) -> str | None:
    share, most = conduct["same_share"], screening.max_same_share
    if share is None or most is None or share <= most:
        return None
    return f"same answer: {share:.0%} of the time, at most {most:.0%} expected"


def _qualification(conduct: Conduct, screening: Screening) -> str | None:
    share, least = conduct["qualification_share"], screening.min_qualification
    if share is None or least is None or share >= least:
        return None
    return f"qualification: {share:.0%} right on the harder class, at least {least:.0%} expected"


def _gold(conduct: Conduct, screening: Screening) -> str | None:
    share, least = conduct["gold_share"], screening.min_gold
    if share is None or least is None or share >= least:
        return None
    return f"gold trials: {share:.0%} right, at least {least:.0%} expected"


def _attention(conduct: Conduct, screening: Screening) -> str | None:
    missed, most = conduct["attention_failures"], screening.max_attention_failures
    if missed is None or most is None or missed <= most:
        return None
    return f"attention checks: {missed:.0f} missed, at most {most} expected"


def _repeat(conduct: Conduct, screening: Screening) -> str | None:
    share, least = conduct["repeat_share"], screening.min_repeat
    if share is None or least is None or share >= least:
        return None
    return f"repeated trials: {share:.0%} answered alike, at least {least:.0%} expected"


def _chance(conduct: Conduct, screening: Screening) -> str | None:
    share, chance, most = conduct["agreement"], conduct["agreement_p"], screening.above_chance
    if share is None or chance is None or most is None or chance <= most or conduct["agreement_typical"]:
        return None
    return f"agreement: {share:.0%} with the majority, less than is usual and no better than guessing"


def _correlation(conduct: Conduct, screening: Screening) -> str | None:
    found, least = conduct["agreement"], screening.min_correlation
    of_choices = conduct["agreement_p"] is not None  # a share, not a correlation
    if found is None or least is None or of_choices or found >= least:
        return None
    return f"agreement: correlation {found:.2f} with the others, at least {least:g} expected"


RULES: dict[str, Rule] = {
    "min_seconds": _fast,
    "max_same_share": _same,
    "min_qualification": _qualification,
    "min_gold": _gold,
    "max_attention_failures": _attention,
    "min_repeat": _repeat,
    "above_chance": _chance,
    "min_correlation": _correlation,
}
"""Each rule under the name of its setting; ``bt500`` looks at all people together and stands apart."""


def _bt500_outliers(coded: list[Coded]) -> set[str]:
    """People whom BT.500 rejects on any aspect."""
    rejected: set[str] = set()
    for aspect in coded:
        if aspect.scale == "nominal":
            continue
        who, what, scores, names = aspect.arrays()
        rejected |= {name for name, out in zip(names, bt500(who, what, scores).rejected, strict=True) if out}
    return rejected
