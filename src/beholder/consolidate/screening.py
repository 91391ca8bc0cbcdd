"""Which raters' answers are used: the rules of the study applied to each rater's conduct."""

import polars as pl

from beholder.consolidate.conduct import with_agreement
from beholder.consolidate.items import JudgedItems
from beholder.judgements.rules import judge
from beholder.stats.truth.bt500 import bt500
from beholder.study.kinds.catalogue import AnyQuestion


def screen(question: AnyQuestion, counted: pl.DataFrame, judged: list[JudgedItems]) -> pl.DataFrame:
    """Return the ``raters`` rows of a question: conduct, the reasons to exclude a rater, and who is used.

    ``counted`` are rows of :func:`~beholder.consolidate.conduct.conduct_rows`. ``notes`` name the rules of the
    study that could not be applied to a rater: that is not a pass.
    """
    conduct = with_agreement(counted, judged)
    rated = [aspect for aspect in judged if aspect.scale != "nominal"]
    outliers = _bt500_outliers(rated) if question.screening.bt500 else set()
    reasons, notes = [], []
    for row in conduct.iter_rows(named=True):
        verdict = judge(row, question.screening)
        if row["rater"] in outliers:
            verdict.reasons.append("bt500: scores far from the others' in both directions")
        if question.screening.bt500 and not rated:
            verdict.notes.append("bt500: not applicable: it is for ratings, and these are choices")
        if row["answers"] == 0 and not verdict.reasons:
            verdict.reasons.append("no answers: left before the first test trial")
        reasons.append(verdict.reasons)
        notes.append(verdict.notes)
    return conduct.drop("agreement_p", "agreement_typical").with_columns(
        question=pl.lit(question.name),
        reasons=pl.Series(reasons, dtype=pl.List(pl.String)),
        notes=pl.Series(notes, dtype=pl.List(pl.String)),
        used=pl.Series([not against for against in reasons], dtype=pl.Boolean),
    )


def include_everyone(raters: pl.DataFrame) -> pl.DataFrame:
    """Return the same rows with every rater used who answered at all; the reasons against them stay."""
    return raters.with_columns(used=pl.col("answers") > 0)


def _bt500_outliers(judged: list[JudgedItems]) -> set[str]:
    """Return the raters whom BT.500 rejects on any aspect."""
    rejected: set[str] = set()
    for aspect in judged:
        if aspect.frame.is_empty():
            continue
        who, what, scores, names = aspect.arrays()
        rejected |= {name for name, out in zip(names, bt500(who, what, scores).rejected, strict=True) if out}
    return rejected
