"""How each person went about a question: speed, sameness, checks passed, agreement with the others."""

import numpy as np
import polars as pl

from beholder.consolidate.coding import EVEN, Coded
from beholder.stats.leave_one_out import leave_one_out_agreement, leave_one_out_correlation

FLIPPED = {"left": "right", "right": "left"}
"""What the same answer reads when the sides are exchanged."""


def conduct_of(answered: pl.DataFrame, coded: list[Coded]) -> pl.DataFrame:
    """One row a person with the columns of ``raters`` that describe conduct, with ``agreement_p`` and
    ``agreement_typical``."""
    tests = answered.filter(pl.col("role") == "test")
    frame = answered.select("rater").unique().sort("rater")
    parts = [
        tests.group_by("rater").agg(answers=pl.len(), median_seconds=pl.col("seconds").median()),
        _same_share(tests),
        _share_right(answered, "gold").rename({"right": "gold_share"}),
        _attention(answered),
        _qualification(answered),
        _repeats(answered),
        _agreement(coded),
    ]
    for part in parts:
        frame = frame.join(part, on="rater", how="left", maintain_order="left")
    return frame.with_columns(pl.col("answers").fill_null(0).cast(pl.Int64))


def _same_share(tests: pl.DataFrame) -> pl.DataFrame:
    """Share of the most frequent answer; of several aspects, where it is least."""
    counts = tests.group_by("rater", "aspect", "said").len()
    shares = counts.group_by("rater", "aspect").agg(share=pl.col("len").max() / pl.col("len").sum())
    return shares.group_by("rater").agg(same_share=pl.col("share").min())


def _share_right(answered: pl.DataFrame, role: str) -> pl.DataFrame:
    checks = answered.filter(pl.col("role") == role)
    return checks.group_by("rater").agg(right=(pl.col("said") == pl.col("expected")).mean())


def _attention(answered: pl.DataFrame) -> pl.DataFrame:
    """Attention trials on which any aspect was not answered as asked."""
    checks = answered.filter(pl.col("role") == "attention")
    missed = checks.group_by("rater", "trial").agg(missed=(pl.col("said") != pl.col("expected")).any())
    return missed.group_by("rater").agg(attention_failures=pl.col("missed").sum().cast(pl.Int64))


def _qualification(answered: pl.DataFrame) -> pl.DataFrame:
    """Share right of the class (real, generated) on which the person did worst."""
    checks = answered.filter(pl.col("role") == "qualification")
    shares = checks.group_by("rater", "expected").agg(right=(pl.col("said") == pl.col("expected")).mean())
    return shares.group_by("rater").agg(qualification_share=pl.col("right").min())


def _repeats(answered: pl.DataFrame) -> pl.DataFrame:
    """Share of repeated trials answered as the first time, sides exchanged; a rating may differ by one point."""
    first = answered.select("rater", "aspect", repeats="trial", before="said", value_before="value")
    again = answered.filter(pl.col("role") == "repeat").join(first, on=["rater", "aspect", "repeats"])
    pair = pl.col("images").list.len() == 2
    meant = pl.when(pair).then(pl.col("said").replace(FLIPPED)).otherwise(pl.col("said"))
    near = (pl.col("value") - pl.col("value_before")).abs() <= 1
    alike = pl.when(pl.col("value").is_not_null()).then(near).otherwise(meant == pl.col("before"))
    return again.group_by("rater").agg(repeat_share=alike.mean())


def _agreement(coded: list[Coded]) -> pl.DataFrame:
    """Agreement with the others: of choices the share with their majority, of ratings the correlation.

    Of several aspects the best counts: someone who follows one scale well is paying attention.
    ``agreement_p`` is the chance that someone who guesses agrees as often; ``agreement_typical`` says whether the
    share may be as high as the median person's (95 % Wilson interval); only choices have them.
    """
    rows: list[dict[str, object]] = []
    for aspect in coded:
        decided = Coded(aspect.aspect, aspect.scale, aspect.frame.filter(pl.col("code") != EVEN))
        if aspect.scale != "nominal":
            decided = aspect
        if decided.frame.is_empty():
            continue
        who, what, code, names = decided.arrays()
        if aspect.scale == "nominal":
            found = leave_one_out_agreement(who, what, code)
            values, chances = found.share, found.p_value
            typical = found.high >= np.nanmedian(found.share) if np.isfinite(found.share).any() else found.high > 1
        else:
            values = leave_one_out_correlation(who, what, code).correlation
            chances, typical = np.full(len(values), np.nan), np.ones(len(values), dtype=np.bool_)
        rows += [
            {
                "rater": name,
                "agreement": _known(value),
                "agreement_p": _known(chance),
                "agreement_typical": float(usual),
            }
            for name, value, chance, usual in zip(names, values, chances, typical, strict=True)
        ]
    numbers = ("agreement", "agreement_p", "agreement_typical")
    frame = pl.DataFrame(rows, schema={"rater": pl.String} | dict.fromkeys(numbers, pl.Float64))
    return frame.group_by("rater").agg(
        pl.col("agreement").max(), pl.col("agreement_p").min(), pl.col("agreement_typical").max()
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
