"""Imported data that came without answers: people from their totals, labels and agreement as published."""

import numpy as np
import polars as pl
from scipy import stats

from beholder.errors import StatisticsError
from beholder.judgements.rules import judge
from beholder.stats.agreement.krippendorff import alpha_of_counts
from beholder.stats.intervals.proportions import wilson
from beholder.study.question import Screening

SHARE = "share"


def screen_totals(totals: pl.DataFrame, screening: Screening) -> pl.DataFrame:
    """The ``raters`` rows of a question; of the rules, those that totals can tell: sameness and speed.

    Totals have no median of the times, so ``min_seconds`` goes by the mean, and the reason says so.
    """
    said = pl.when("real").then("wrong").otherwise(pl.col("answers") - pl.col("wrong"))  # who said *generated*
    people = (
        totals.with_columns(generated=said)
        .group_by("question", "rater")
        .agg(
            pl.col("answers").sum(),
            share=pl.col("generated").sum() / pl.col("answers").sum(),
            mean=pl.when(pl.col("seconds").is_not_null().all()).then(
                pl.col("seconds").sum() / pl.col("answers").sum()
            ),
        )
        .with_columns(same_share=pl.max_horizontal("share", 1 - pl.col("share")))
        .sort("rater")
    )
    reasons = [_reasons(mean, same, screening) for mean, same in people.select("mean", "same_share").iter_rows()]
    return people.select("question", "rater", "answers", "same_share").with_columns(
        reasons=pl.Series(reasons, dtype=pl.List(pl.String)),
        used=pl.Series([not against for against in reasons], dtype=pl.Boolean),
    )


def published_labels(published: pl.DataFrame, level: float) -> pl.DataFrame:
    """The ``labels`` rows: shares pooled over the generators an image was shown with, the rest as it stands."""
    shares, rest = published.filter(pl.col("method") == SHARE), published.filter(pl.col("method") != SHARE)
    return pl.concat([_shares(shares, level), _means(rest, level)], how="diagonal")


def published_agreement(published: pl.DataFrame, raters: pl.DataFrame) -> list[dict[str, object]]:
    """Krippendorff's α from the counts of each label; without an interval, as counts do not say who answered.

    An image that was shown with several generators is an item with each. After screening α is not known, unless
    nobody was set aside.
    """
    rows: list[dict[str, object]] = []
    everyone_used = bool(raters["used"].all())
    shares = published.filter(pl.col("method") == SHARE)
    for (question, aspect), part in sorted(shares.partition_by("question", "aspect", as_dict=True).items()):
        answers = part["raters"].to_numpy()
        said = np.rint(part["value"].to_numpy() * answers)
        try:
            alpha = alpha_of_counts(np.stack([answers - said, said], axis=1), scale="nominal")
        except StatisticsError:
            alpha = None
        common = {"question": question, "aspect": aspect, "statistic": "krippendorff-alpha-nominal"}
        counts = {"answers": int(answers.sum()), "items": int((answers >= 2).sum()), "raters": raters.height}
        rows += [
            common | {"people": people, "value": alpha if people == "all" or everyone_used else None} | counts
            for people in ("all", "used")
        ]
    return rows


def _reasons(mean: float | None, same: float, screening: Screening) -> list[str]:
    reasons = []
    if mean is not None and screening.min_seconds is not None and mean < screening.min_seconds:
        reasons.append(f"fast: mean {mean:.2f} s, at least {screening.min_seconds:g} s expected")
    return reasons + judge({"same_share": same}, screening).reasons


def _shares(published: pl.DataFrame, level: float) -> pl.DataFrame:
    rows = (
        published.group_by("question", "aspect", "method", "image", maintain_order=True)
        .agg(said=(pl.col("value") * pl.col("raters")).round().sum(), raters=pl.col("raters").sum())
        .with_columns(value=pl.col("said") / pl.col("raters"), answers="raters")
    )
    low, high = wilson(rows["said"].to_numpy(), rows["raters"].to_numpy(), level)
    majority = (
        pl.when(pl.col("value") > 0.5).then(pl.lit("generated")).when(pl.col("value") < 0.5).then(pl.lit("real"))
    )
    return rows.drop("said").with_columns(low=pl.Series(low), high=pl.Series(high), choice=majority)


def _means(published: pl.DataFrame, level: float) -> pl.DataFrame:
    """A t interval from the published spread, where there is one."""
    count = published["raters"].to_numpy()
    reach = stats.t.ppf((1 + level) / 2, np.maximum(count - 1, 1)) / np.sqrt(count)
    half = pl.when(pl.col("raters") > 1).then(pl.col("spread") * pl.Series(reach, dtype=pl.Float64))
    columns = ("question", "aspect", "method", "image", "word", "value", "raters")
    return published.select(*columns, answers="raters", low=pl.col("value") - half, high=pl.col("value") + half)
