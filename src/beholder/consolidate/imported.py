"""Imported data that came without answers: raters from their totals, labels and agreement as published."""

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
    """Return the ``raters`` rows of a question, screened by the rules that totals allow: sameness and speed.

    Totals have no median of the times, so ``min_seconds`` is compared with the mean, and the reason says so.
    """
    generated = pl.when("real").then("wrong").otherwise(pl.col("answers") - pl.col("wrong"))
    raters = (
        totals.with_columns(generated=generated)
        .group_by("question", "rater")
        .agg(
            pl.col("answers").sum(),
            generated_rate=pl.col("generated").sum() / pl.col("answers").sum(),
            mean=pl.when(pl.col("seconds").is_not_null().all()).then(
                pl.col("seconds").sum() / pl.col("answers").sum()
            ),
        )
        .with_columns(same_share=pl.max_horizontal("generated_rate", 1 - pl.col("generated_rate")))
        .sort("rater")
    )
    reasons = [_reasons(mean, same, screening) for mean, same in raters.select("mean", "same_share").iter_rows()]
    return raters.select("question", "rater", "answers", "same_share").with_columns(
        reasons=pl.Series(reasons, dtype=pl.List(pl.String)),
        used=pl.Series([not against for against in reasons], dtype=pl.Boolean),
    )


def published_labels(published: pl.DataFrame, level: float) -> pl.DataFrame:
    """Return the ``labels`` rows: proportions pooled over the generators shown with an image, means unchanged."""
    proportions, rest = published.filter(pl.col("method") == SHARE), published.filter(pl.col("method") != SHARE)
    return pl.concat([_proportions(proportions, level), _means(rest, level)], how="diagonal")


def published_agreement(published: pl.DataFrame, raters: pl.DataFrame) -> list[dict[str, object]]:
    """Return Krippendorff's α from the counts of each label, without a confidence interval: raters are unknown.

    An image that was shown with several generators is one item with each. After screening α is not known, unless
    no rater was excluded.
    """
    rows: list[dict[str, object]] = []
    everyone_used = bool(raters["used"].all())
    proportions = published.filter(pl.col("method") == SHARE)
    for (question, aspect), part in sorted(proportions.partition_by("question", "aspect", as_dict=True).items()):
        answers = part["raters"].to_numpy()
        generated = np.rint(part["value"].to_numpy() * answers)
        try:
            alpha = alpha_of_counts(np.stack([answers - generated, generated], axis=1), scale="nominal")
        except StatisticsError:
            alpha = None
        common = {"question": question, "aspect": aspect, "statistic": "krippendorff-alpha-nominal"}
        counts = {"answers": int(answers.sum()), "items": int((answers >= 2).sum()), "raters": raters.height}
        rows += [
            common | {"people": subset, "value": alpha if subset == "all" or everyone_used else None} | counts
            for subset in ("all", "used")
        ]
    return rows


def _reasons(mean: float | None, same: float, screening: Screening) -> list[str]:
    reasons = []
    if mean is not None and screening.min_seconds is not None and mean < screening.min_seconds:
        reasons.append(f"fast: mean {mean:.2f} s, at least {screening.min_seconds:g} s expected")
    return reasons + judge({"same_share": same}, screening).reasons


def _proportions(published: pl.DataFrame, level: float) -> pl.DataFrame:
    rows = (
        published.group_by("question", "aspect", "method", "image", maintain_order=True)
        .agg(generated=(pl.col("value") * pl.col("raters")).round().sum(), raters=pl.col("raters").sum())
        .with_columns(value=pl.col("generated") / pl.col("raters"), answers="raters")
    )
    low, high = wilson(rows["generated"].to_numpy(), rows["raters"].to_numpy(), level)
    majority = (
        pl.when(pl.col("value") > 0.5).then(pl.lit("generated")).when(pl.col("value") < 0.5).then(pl.lit("real"))
    )
    return rows.drop("generated").with_columns(low=pl.Series(low), high=pl.Series(high), choice=majority)


def _means(published: pl.DataFrame, level: float) -> pl.DataFrame:
    """Return means with a t confidence interval from the published standard deviation, where there is one."""
    count = published["raters"].to_numpy()
    reach = stats.t.ppf((1 + level) / 2, np.maximum(count - 1, 1)) / np.sqrt(count)
    half = pl.when(pl.col("raters") > 1).then(pl.col("spread") * pl.Series(reach, dtype=pl.Float64))
    columns = ("question", "aspect", "method", "image", "word", "value", "raters")
    return published.select(*columns, answers="raters", low=pl.col("value") - half, high=pl.col("value") + half)
