"""Answers as judgements of images: the one place where answers become numbers.

A question kind declares by its :data:`~beholder.study.kinds.coding.Coding` what its answers mean; here each of the
four shapes is applied to a whole column of answers.
"""

from typing import TYPE_CHECKING

import polars as pl

from beholder.judgements.credits import credits_of_sweeps
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.coding import ChoiceCoding, Coding, CreditCoding, NumberCoding, RankCoding

if TYPE_CHECKING:  # its module imports scipy, which a report does without
    from beholder.stats.agreement.krippendorff import Scale

PAIRED = ("vote", "graded-vote")
"""Kinds of values that compare two images."""

CATEGORY = "category"
"""Values that are places of named options."""

CLASSES: dict[str, tuple[float, ...]] = {"detection": (0.0, 1.0), "vote": (1.0, -1.0, 0.0)}
"""Values that are names rather than numbers, in the order in which statistics number them: real and generated; the
first image, the second, a tie."""

SCALES: "dict[str, Scale]" = {
    "detection": "nominal",
    "vote": "nominal",
    "graded-vote": "ordinal",
    "rating": "ordinal",
    "rank": "ordinal",
    "credit": "interval",
    "category": "nominal",
}
"""What distances between values of each kind mean."""

ANSWER = ("rater", "session", "trial", "attempt", "aspect")
"""Where a judgement comes from."""

COLUMNS = (*ANSWER, "place", "image", "other", "value", "value_kind", "expected", "exposure_ms")
"""Of the table ``judgements``, all but the question, and whether the judgement is used."""


EXPOSURE = pl.coalesce("intended_ms", "exposure_ms")
"""How long the image was to be shown: a staircase has its steps; the actual exposure is in whole frames."""

NONE_BEFORE = pl.lit(0, dtype=pl.Int64)
"""Position of the first image of a trial."""


def judgements_of(question: AnyQuestion, answered: pl.DataFrame, marks: pl.DataFrame) -> pl.DataFrame:
    """Return the judgements in the answers to a question, in the order of the answers and of the images shown.

    ``answered`` are rows of :func:`~beholder.judgements.joined.answered_trials`; ``marks`` has the key presses of
    sweeps, whose answers they are.
    """
    coding = KINDS[question.kind].coding(question)
    columns = ("images", "choice", "value", "ranking", "expected")
    rows = answered.select(*ANSWER, *columns, exposure_ms=EXPOSURE)
    return _coded(coding, rows, marks).with_columns(value_kind=pl.lit(coding.value_kind)).select(COLUMNS)


def _coded(coding: Coding, rows: pl.DataFrame, marks: pl.DataFrame) -> pl.DataFrame:
    match coding:
        case ChoiceCoding():
            return _choices(coding, rows)
        case NumberCoding():
            return _single(rows, pl.col("value"), pl.col("expected").cast(pl.Float64, strict=False))
        case RankCoding():
            return _ranks(coding, rows)
        case CreditCoding():
            return _each_image(credits_of_sweeps(rows.drop("value"), marks, coding))


def _choices(coding: ChoiceCoding, rows: pl.DataFrame) -> pl.DataFrame:
    value = pl.col("choice").replace_strict(coding.values, return_dtype=pl.Float64)
    expected = pl.col("expected").replace_strict(coding.values, default=None, return_dtype=pl.Float64)
    return _single(rows, value, expected, paired=coding.value_kind in PAIRED)


def _single(rows: pl.DataFrame, value: pl.Expr, expected: pl.Expr, *, paired: bool = False) -> pl.DataFrame:
    """One judgement for each answer: of its image, or of the first against the second."""
    images = pl.col("images")
    other = images.list.get(1) if paired else pl.lit(None, dtype=pl.String)
    return rows.select(
        *ANSWER,
        "exposure_ms",
        place=NONE_BEFORE,
        image=images.list.get(0),
        other=other,
        value=value,
        expected=expected,
    )


def _ranks(coding: RankCoding, rows: pl.DataFrame) -> pl.DataFrame:
    if coding.choices is not None:
        names, ranks = list(coding.choices), [list(ranks) for ranks in coding.choices.values()]
        implied = pl.DataFrame(
            {"choice": names, "ranking": ranks}, schema_overrides={"ranking": pl.List(pl.Int64)}
        )
        rows = rows.drop("ranking").join(implied, on="choice", how="left", maintain_order="left")
    places = rows.with_columns(place=pl.int_ranges(pl.col("images").list.len(), dtype=pl.Int64))
    return _each_image(
        places.drop("value")
        .explode("images", "ranking", "place")
        .rename({"images": "image"})
        .with_columns(value=pl.col("ranking").cast(pl.Float64))
    )


def _each_image(placed: pl.DataFrame) -> pl.DataFrame:
    """One judgement for each image of an answer; none of them has an expected value."""
    return placed.with_columns(other=pl.lit(None, dtype=pl.String), expected=pl.lit(None, dtype=pl.Float64))
