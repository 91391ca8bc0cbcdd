"""How each person went about a question: speed, sameness, checks passed, agreement with the others."""

import numpy as np
import polars as pl

from beholder.consolidate.coding import EVEN, LEANINGS, Coded
from beholder.stats.agreement.leave_one_out import leave_one_out_agreement, leave_one_out_correlation
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.rating import ScaleQuestion
from beholder.tables.ranked_pairs import pairs_of_rankings

FLIPPED = {"left": "right", "right": "left"}
"""What the same answer reads when the sides are exchanged."""

NEAR = 0.1
"""Share of the scale by which a repeated rating may differ, if that is more than one point."""

SHARE, CORRELATION = "majority-share", "correlation"
"""What ``agreement`` is: of choices and of numbers."""


def conduct_of(
    question: AnyQuestion, answered: pl.DataFrame, skipped: pl.DataFrame, coded: list[Coded]
) -> pl.DataFrame:
    """One row a person with the columns of ``raters`` that describe conduct, with ``agreement_p`` and
    ``agreement_typical``.

    ``skipped`` has a row per trial that was left unanswered, with ``rater``, ``role`` and ``expected``.
    """
    tests = answered.filter(pl.col("role") == "test")
    frame = pl.concat([answered.select("rater"), skipped.select("rater")]).unique().sort("rater")
    parts = [
        tests.group_by("rater").agg(answers=pl.len(), median_seconds=pl.col("seconds").median()),
        _same_share(tests),
        _share_right(answered, "gold").rename({"right": "gold_share"}),
        _skipped(tests, skipped),
        _attention(answered, skipped),
        _qualification(answered, skipped),
        _repeats(question, answered),
        _agreement(coded),
    ]
    for part in parts:
        frame = frame.join(part, on="rater", how="left", maintain_order="left")
    return frame.with_columns(pl.col("answers").fill_null(0).cast(pl.Int64))


def _same_share(tests: pl.DataFrame) -> pl.DataFrame:
    """Share of the most frequent answer; of several aspects, where it is least. One answer alone tells nothing."""
    counts = tests.group_by("rater", "aspect", "said").len()
    shares = counts.group_by("rater", "aspect").agg(
        share=pl.col("len").max() / pl.col("len").sum(), total=pl.col("len").sum()
    )
    return shares.filter(pl.col("total") > 1).group_by("rater").agg(same_share=pl.col("share").min())


def _share_right(answered: pl.DataFrame, role: str) -> pl.DataFrame:
    checks = answered.filter(pl.col("role") == role)
    return checks.group_by("rater").agg(right=(pl.col("said") == pl.col("expected")).mean())


def _skipped(tests: pl.DataFrame, skipped: pl.DataFrame) -> pl.DataFrame:
    """Proportion of the test trials that were skipped, of those that were answered or skipped."""
    passed = pl.concat(
        [
            tests.select("rater", "trial").unique().with_columns(skipped=pl.lit(value=False)),
            skipped.filter(pl.col("role") == "test")
            .select("rater", "trial")
            .with_columns(skipped=pl.lit(value=True)),
        ]
    )
    return passed.group_by("rater").agg(pl.col("skipped").mean())


def _attention(answered: pl.DataFrame, skipped: pl.DataFrame) -> pl.DataFrame:
    """Attention trials on which any aspect was not answered as asked, or which were skipped."""
    checks = answered.filter(pl.col("role") == "attention")
    answers = checks.group_by("rater", "trial").agg(missed=(pl.col("said") != pl.col("expected")).any())
    skips = _not_passed(skipped, "attention", "missed", value=True)
    missed = pl.concat([answers.select("rater", "missed"), skips])
    return missed.group_by("rater").agg(attention_failures=pl.col("missed").sum().cast(pl.Int64))


def _qualification(answered: pl.DataFrame, skipped: pl.DataFrame) -> pl.DataFrame:
    """Share right of the class (real, generated) on which the person did worst; a skipped trial is not right."""
    checks = answered.filter(pl.col("role") == "qualification")
    answers = checks.select("rater", "expected", right=pl.col("said") == pl.col("expected"))
    skips = _not_passed(skipped, "qualification", "right", value=False, more=("expected",))
    shares = pl.concat([answers, skips]).group_by("rater", "expected").agg(pl.col("right").mean())
    return shares.group_by("rater").agg(qualification_share=pl.col("right").min())


def _not_passed(
    skipped: pl.DataFrame, role: str, column: str, *, value: bool, more: tuple[str, ...] = ()
) -> pl.DataFrame:
    """The skipped trials of a role, with what that comes to in ``column``."""
    checks = skipped.filter(pl.col("role") == role)
    return checks.select("rater", *more, pl.lit(value, dtype=pl.Boolean).alias(column))


def _repeats(question: AnyQuestion, answered: pl.DataFrame) -> pl.DataFrame:
    """Share of repeated trials answered as the first time, sides exchanged.

    A rating may differ by one point or a tenth of the scale, whichever is more; one of five answers by one step.
    Of a ranking the share of its pairs counts that stand in the same order. Sweeps cannot be compared.
    """
    again = answered.filter(pl.col("role") == "repeat")
    if again.is_empty() or question.kind == "sweep":
        return pl.DataFrame(schema={"rater": pl.String, "repeat_share": pl.Float64})
    first = answered.join(again.select("rater", trial="repeats").unique(), on=["rater", "trial"], how="semi")
    if question.kind == "ranking":
        again, first = pairs_of_rankings(again), pairs_of_rankings(first)
        on, alike = ["rater", "repeats", "images"], pl.col("choice") == pl.col("choice_before")
    else:
        on, alike = ["rater", "aspect", "repeats"], _alike(question)
    before = first.drop("repeats").rename({"trial": "repeats", "choice": "choice_before"})
    columns = [*on, "choice_before", *(["value_before"] if question.kind != "ranking" else [])]
    both = again.join(before.rename({"value": "value_before"}, strict=False).select(columns), on=on)
    return both.group_by("rater").agg(repeat_share=alike.cast(pl.Float64).mean())


def _alike(question: AnyQuestion) -> pl.Expr:
    """Whether ``choice`` or ``value`` says the same as ``choice_before`` or ``value_before``."""
    if isinstance(question, ScaleQuestion):
        low, high = question.scale()
        return (pl.col("value") - pl.col("value_before")).abs() <= max(1.0, NEAR * (high - low))
    if question.kind == "side-by-side-5":
        now, then = (
            pl.col(name).replace_strict(LEANINGS, return_dtype=pl.Float64) for name in ("choice", "choice_before")
        )
        return (now + then).abs() <= 1
    pair = pl.col("images").list.len() == 2
    meant = pl.when(pair).then(pl.col("choice").replace(FLIPPED)).otherwise(pl.col("choice"))
    return meant == pl.col("choice_before")


def _agreement(coded: list[Coded]) -> pl.DataFrame:
    """Agreement with the others: of choices the share with their majority, of numbers the correlation.

    Of several aspects the best counts: someone who follows one scale well is paying attention.
    ``agreement_p`` is the chance that someone who guesses agrees as often; ``agreement_typical`` says whether the
    share may be as high as the median person's (95 % Wilson interval); only choices have them.
    """
    parts = [_agreement_on(aspect) for aspect in coded if not _decided(aspect).frame.is_empty()]
    schema = {"rater": pl.String, "agreement": pl.Float64, "agreement_kind": pl.String}
    empty = pl.DataFrame(schema=schema | dict.fromkeys(("agreement_p", "agreement_typical"), pl.Float64))
    frame = pl.concat([empty, *parts], how="diagonal").with_columns(
        pl.col("agreement", "agreement_p", "agreement_typical").fill_nan(None)
    )
    return frame.group_by("rater").agg(
        pl.col("agreement").max(),
        pl.col("agreement_kind").first(),
        pl.col("agreement_p").min(),
        pl.col("agreement_typical").max(),
    )


def _agreement_on(aspect: Coded) -> pl.DataFrame:
    who, what, code, names = _decided(aspect).arrays()
    if aspect.scale != "nominal":
        values = leave_one_out_correlation(who, what, code).correlation
        return pl.DataFrame({"rater": names, "agreement": values, "agreement_kind": CORRELATION})
    found = leave_one_out_agreement(who, what, code)
    typical = found.high >= np.nanmedian(found.share) if np.isfinite(found.share).any() else found.high > 1
    return pl.DataFrame(
        {
            "rater": names,
            "agreement": found.share,
            "agreement_kind": SHARE,
            "agreement_p": found.p_value,
            "agreement_typical": typical.astype(np.float64),
        }
    )


def _decided(aspect: Coded) -> Coded:
    """Of choices those that are no tie; of numbers all."""
    if aspect.scale != "nominal":
        return aspect
    return Coded(aspect.aspect, aspect.scale, aspect.frame.filter(pl.col("code") != EVEN))
