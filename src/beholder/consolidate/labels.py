"""Labels of images and pairs, each with a confidence interval and the number of raters behind it."""

from collections.abc import Callable

import numpy as np
import polars as pl
from scipy import stats

from beholder.consolidate.doubt import with_doubt
from beholder.consolidate.items import JudgedItems
from beholder.consolidate.option_labels import plurality
from beholder.errors import StatisticsError
from beholder.stats.intervals.proportions import wilson
from beholder.stats.truth.p910 import p910
from beholder.study.kinds.catalogue import AnyQuestion, kind_of

RATERS = pl.len().cast(pl.Int64)
"""Raters behind a label: everyone judges an item once, so there are as many as answers."""


def label(question: AnyQuestion, judged: JudgedItems, level: float) -> tuple[pl.DataFrame, list[str]]:
    """Return the ``labels`` rows of one aspect, by every method that its kind declares, and notes on the others.

    A note says why there are no labels by a method.
    """
    rows, notes = [], []
    for name in kind_of(question).traits.labelled_by:
        labelled = LABELLERS[name](judged, level)
        if isinstance(labelled, str):
            notes.append(f"{name}: no labels of {judged.aspect}: {labelled}; take the mean")
        else:
            rows.append(labelled)
    labels = with_doubt(pl.concat(rows, how="diagonal"), judged)
    ids = [pl.col(name).cast(pl.String) for name in ("image", "other") if name in labels.columns]
    return labels.with_columns(*ids, question=pl.lit(question.name), aspect=pl.lit(judged.aspect)), notes


def _proportions(judged: JudgedItems, level: float) -> pl.DataFrame:
    """Proportion of raters who called the image generated (Layer 6's soft label), with Wilson's interval."""
    rows = judged.frame.group_by("image").agg(
        value=pl.col("value").mean(),
        answers=pl.len().cast(pl.Int64),
        raters=RATERS,
    )
    majority = (
        pl.when(pl.col("value") > 0.5).then(pl.lit("generated")).when(pl.col("value") < 0.5).then(pl.lit("real"))
    )
    return _with_wilson(rows.sort("image"), level).with_columns(choice=majority, method=pl.lit("share"))


def _preferences(judged: JudgedItems, level: float) -> pl.DataFrame:
    """Proportion of votes for ``image`` over ``other``, a tie counting half; the hard label is the majority.

    Of five answers, much better and better count the same.
    """
    first, tie = (pl.col("value") > 0).cast(pl.Float64), (pl.col("value") == 0).cast(pl.Float64)
    rows = judged.frame.group_by("image", "other").agg(
        value=(first + tie / 2).mean(),
        ties=tie.mean(),
        answers=pl.len().cast(pl.Int64),
        raters=RATERS,
    )
    winner = (
        pl.when(pl.col("value") > 0.5)
        .then(pl.lit("image"))
        .when(pl.col("value") < 0.5)
        .then(pl.lit("other"))
        .otherwise(pl.lit("tie"))
    )
    return _with_wilson(rows.sort("image", "other"), level).with_columns(
        choice=winner, method=pl.lit("preference")
    )


def _means(judged: JudgedItems, level: float) -> pl.DataFrame:
    """Mean opinion with a t confidence interval over raters; one answer alone has none."""
    return _mean_of(judged.frame, "mean", level)


def _mean_preferences(judged: JudgedItems, level: float) -> pl.DataFrame:
    """Mean preference for ``image`` over ``other``, from −2 to 2."""
    return _mean_of(judged.frame, "mean-preference", level)


def _credits(judged: JudgedItems, level: float) -> pl.DataFrame:
    """Mean credit from the presses: the higher, the more raters pressed for the image."""
    return _mean_of(judged.frame, "credit", level)


def _z_means(judged: JudgedItems, level: float) -> pl.DataFrame:
    """Mean of the ratings, those of each rater first standardised to mean 0 and standard deviation 1.

    A rater who gave the same value throughout, or one value only, does not discriminate between images: 0.
    """
    own = pl.col("value")
    spread = own.std().over("rater")
    z = pl.when(spread > 0).then((own - own.mean().over("rater")) / spread).otherwise(0.0)
    return _mean_of(judged.frame.with_columns(value=z), "z-mean", level)


def _p910(judged: JudgedItems, level: float) -> pl.DataFrame | str:
    """Opinions by ITU-T P.910: raters differ in bias and inconsistency, and careless ones weigh little.

    Where the model does not hold, why not.
    """
    who, what, scores, names = judged.arrays()
    try:
        fit = p910(who, what, scores, level=level)
    except StatisticsError as error:
        return str(error)
    if fit.collapsed:
        lone_rater = names[int(np.nanargmin(fit.inconsistency))]
        return f"with {len(names)} raters the model collapsed onto {lone_rater}, whose opinions it would repeat"
    if not fit.converged:
        return f"the fit did not converge in {fit.iterations:,} iterations"
    rows = judged.frame.group_by("image").agg(answers=pl.len().cast(pl.Int64), raters=RATERS)
    return rows.sort("image").with_columns(
        value=pl.Series(fit.opinion),
        low=pl.Series(fit.low).fill_nan(None),
        high=pl.Series(fit.high).fill_nan(None),
        method=pl.lit("p910"),
    )


def _mean_of(frame: pl.DataFrame, method: str, level: float) -> pl.DataFrame:
    what = [name for name in ("image", "other") if name in frame.columns]
    rows = (
        frame.group_by(what)
        .agg(
            value=pl.col("value").mean(),
            spread=pl.col("value").std(),
            answers=pl.len().cast(pl.Int64),
            raters=RATERS,
        )
        .sort(what)
    )
    count = rows["answers"].to_numpy()
    reach = stats.t.ppf((1 + level) / 2, np.maximum(count - 1, 1)) / np.sqrt(count)
    half = pl.col("spread") * pl.Series(reach)
    ends = {"low": pl.col("value") - half, "high": pl.col("value") + half}
    return rows.with_columns(**ends, method=pl.lit(method)).drop("spread")


def _with_wilson(rows: pl.DataFrame, level: float) -> pl.DataFrame:
    count = rows["answers"].to_numpy()
    low, high = wilson(rows["value"].to_numpy() * count, count, level)
    return rows.with_columns(low=pl.Series(low), high=pl.Series(high))


Labeller = Callable[[JudgedItems, float], pl.DataFrame | str]
"""From judgements and a level to labels, or to the reason why there are none."""

LABELLERS: dict[str, Labeller] = {
    "share": _proportions,
    "preference": _preferences,
    "mean-preference": _mean_preferences,
    "mean": _means,
    "z-mean": _z_means,
    "p910": _p910,
    "credit": _credits,
    "plurality": plurality,
}
"""The labelling methods by name; a question kind declares which apply to its judgements."""
