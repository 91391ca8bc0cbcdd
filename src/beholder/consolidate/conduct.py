"""Each rater's conduct on a question, as rows: what the answers show, and the agreement with the other raters."""

import numpy as np
import polars as pl

from beholder.consolidate.items import JudgedItems
from beholder.judgements.conduct import conduct_of
from beholder.judgements.rules import CORRELATION, SHARE
from beholder.judgements.tallies import tallies
from beholder.stats.agreement.leave_one_out import (
    leave_one_out_agreement,
    leave_one_out_correlation,
    leave_one_out_plurality,
)
from beholder.study.kinds.catalogue import AnyQuestion

SCHEMA: dict[str, type[pl.DataType]] = {
    "answers": pl.Int64,
    "median_seconds": pl.Float64,
    "same_share": pl.Float64,
    "gold_share": pl.Float64,
    "skipped": pl.Float64,
    "attention_failures": pl.Int64,
    "qualification_share": pl.Float64,
    "repeat_share": pl.Float64,
}


def conduct_rows(question: AnyQuestion, answered: pl.DataFrame, skipped: pl.DataFrame) -> pl.DataFrame:
    """Return one row per rater with the columns of ``raters`` that describe conduct.

    ``skipped`` has one row per trial that was left unanswered, with ``rater``, ``role`` and ``expected``. The rows
    of some raters need the answers and skipped trials of these raters alone.
    """
    counted = tallies(question, answered, skipped)
    conduct = [conduct_of(counts) for counts in counted.values()]
    columns = {name: [getattr(row, name) for row in conduct] for name in SCHEMA}
    return pl.DataFrame({"rater": list(counted), **columns}, schema={"rater": pl.String, **SCHEMA})


def with_agreement(conduct: pl.DataFrame, judged: list[JudgedItems]) -> pl.DataFrame:
    """Add each rater's agreement with the others, and for screening ``agreement_p`` and ``agreement_typical``."""
    return conduct.join(_agreement(judged), on="rater", how="left", maintain_order="left")


def _agreement(judged: list[JudgedItems]) -> pl.DataFrame:
    """Return agreement with the other raters: how often choices follow the majority, or the correlation of values.

    Of several aspects the best counts: a rater who follows one scale well is paying attention.
    ``agreement_p`` is the probability that a rater who guesses agrees as often; ``agreement_typical`` says whether
    the 95 % confidence interval (Wilson) of the rate reaches the median rater's; only choices have them.
    """
    parts = [_agreement_on(aspect) for aspect in judged if not aspect.decided().frame.is_empty()]
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


def _agreement_on(aspect: JudgedItems) -> pl.DataFrame:
    who, what, code, names = aspect.decided().arrays()
    if aspect.scale != "nominal":
        values = leave_one_out_correlation(who, what, code).correlation
        return pl.DataFrame({"rater": names, "agreement": values, "agreement_kind": CORRELATION})
    if aspect.names:
        agreement = leave_one_out_plurality(who, what, code, classes=len(aspect.names))
    else:
        agreement = leave_one_out_agreement(who, what, code)
    typical = (
        agreement.high >= np.nanmedian(agreement.rate) if np.isfinite(agreement.rate).any() else agreement.high > 1
    )
    return pl.DataFrame(
        {
            "rater": names,
            "agreement": agreement.rate,
            "agreement_kind": SHARE,
            "agreement_p": agreement.p_value,
            "agreement_typical": typical.astype(np.float64),
        }
    )
