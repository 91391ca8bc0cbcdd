"""Labels of images and pairs, each with a confidence interval and the number of raters behind it."""

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from scipy import stats

from beholder.consolidate.doubt import SIDES, with_doubt
from beholder.consolidate.items import JudgedItems
from beholder.consolidate.option_labels import plurality
from beholder.errors import StatisticsError
from beholder.stats.intervals.proportions import wilson
from beholder.stats.truth.p910 import ITERATIONS, p910
from beholder.study.kinds.catalogue import AnyQuestion, kind_of

RATERS = pl.len().cast(pl.Int64)
"""Raters behind a label: everyone judges an item once, so there are as many as answers."""


def label(question: AnyQuestion, judged: JudgedItems, level: float) -> tuple[pl.DataFrame, list[str]]:
    """Return the ``labels`` of one aspect, by every method that its kind declares, and notes on the others.

    A note says why there are no labels by a method. :func:`label_rows` makes rows of the table of the labels.
    """
    rows, notes = [], []
    for name in kind_of(question).traits.labelled_by:
        labelled = LABELLERS[name](judged, level)
        if isinstance(labelled, str):
            notes.append(f"{name}: no labels of {judged.aspect}: {labelled}; take the mean")
        else:
            rows.append(labelled.with_columns(pl.col("method").cast(pl.Enum(list(LABELLERS)))))
    return with_doubt(pl.concat(rows, how="diagonal"), judged), notes


def label_rows(labels: pl.DataFrame, question: str, aspect: str, size: int) -> Iterator[pl.DataFrame]:
    """Yield the ``labels`` rows of one aspect, ``size`` at a time: ids as text take many times the memory."""
    for part in labels.iter_slices(size):
        yield part.with_columns(pl.col(pl.Enum).cast(pl.String), question=pl.lit(question), aspect=pl.lit(aspect))


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
    first, tied = (pl.col("value") > 0).cast(pl.Float64), (pl.col("value") == 0).cast(pl.Float64)
    rows = judged.frame.group_by("image", "other").agg(
        value=(first + tied / 2).mean(),
        ties=tied.mean(),
        answers=pl.len().cast(pl.Int64),
        raters=RATERS,
    )
    image, other, tie = (pl.lit(name, dtype=SIDES) for name in SIDES.categories)
    winner = pl.when(pl.col("value") > 0.5).then(image).when(pl.col("value") < 0.5).then(other).otherwise(tie)
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
        fit = p910(who, what, scores, level=level, give_up=True)
    except StatisticsError as error:
        return str(error)
    if fit.collapsed:
        lone_rater = names[int(np.nanargmin(fit.inconsistency))]
        return f"with {len(names)} raters the model collapsed onto {lone_rater}, whose opinions it would repeat"
    if not fit.converged:
        return f"the fit does not converge in {ITERATIONS:,} iterations"
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
