"""Inter-rater agreement, before and after screening."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.consolidate.items import JudgedItems
from beholder.errors import StatisticsError
from beholder.stats.agreement.gwet import Credit, ac_of_counts, gwet_ac
from beholder.stats.agreement.intraclass import intraclass
from beholder.stats.agreement.krippendorff import krippendorff_alpha
from beholder.stats.each import Map
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.study.kinds.catalogue import AnyQuestion, kind_of

FEWEST_REPLICATES, MOST_REPLICATES = 200, 1000
RESAMPLED_ANSWERS = 100_000_000
"""Answers resampled in all: a large study gets fewer bootstrap replicates, for thousands of raters need fewer."""

LEVELS = 20
"""Steps into which a continuous scale is cut before α, whose ordinal distances go by ranks."""

CREDITS: dict[str, tuple[str, Credit]] = {
    "nominal": ("gwet-ac1", "identity"),
    "ordinal": ("gwet-ac2-quadratic", "quadratic"),
}
"""Gwet's coefficient for each scale, and the partial credit it gives to two different answers."""

MOST_RESAMPLED = 100_000
"""Beyond so many answers Gwet's AC has no confidence interval: its bootstrap would take longer than the rest."""

Row = dict[str, object]


def agreement_rows(
    question: AnyQuestion,
    judged: JudgedItems,
    used: set[str],
    level: float,
    rng: np.random.Generator,
    *,
    each: Map = map,
) -> list[Row]:
    """Return the ``agreement`` rows of one aspect, of all raters and of those used, empty where undefined.

    ``each`` applies a coefficient to blocks of bootstrap replicates.
    """
    common: Row = {"question": question.name, "aspect": judged.aspect}
    everyone = list(_measures(question, judged, level, rng, each))
    screened = judged.of(used)
    same = screened.frame.height == judged.frame.height
    after = everyone if same else list(_measures(question, screened, level, rng, each))
    by_raters = (("all", everyone), ("used", after))
    return [common | {"people": raters} | row for raters, rows in by_raters for row in rows]


def _measures(
    question: AnyQuestion, judged: JudgedItems, level: float, rng: np.random.Generator, each: Map
) -> Iterator[Row]:
    """Yield α for every kind of question, and the other coefficients that fit the kind and the design."""
    stepped = _stepped(question, judged)
    also = kind_of(question).traits.agreement
    if judged.frame.is_empty():
        yield {"statistic": f"krippendorff-alpha-{judged.scale}"} | _counts(judged)
    else:
        who, what, code, names = stepped.arrays()
        replicates = int(np.clip(RESAMPLED_ANSWERS // len(who), FEWEST_REPLICATES, MOST_REPLICATES))
        weights = rater_weights(np.zeros(len(names), dtype=np.int64), replicates, rng)
        alpha = partial(krippendorff_alpha, who, what, code, weights, scale=judged.scale, level=level, each=each)
        yield _row(f"krippendorff-alpha-{judged.scale}", alpha, judged)
        if judged.scale in CREDITS:
            statistic, credit = CREDITS[judged.scale]
            few = judged.frame.height <= MOST_RESAMPLED
            resampled = partial(gwet_ac, who, what, code, weights, credit=credit, level=level, each=each)
            alone = partial(_ac_alone, what, code, len(names), credit=credit, level=level)
            yield _row(statistic, resampled if few else alone, judged)
        if "intraclass" in also and len(who) == len(names) * (what.max() + 1):
            scores = judged.frame["value"].to_numpy()
            yield _row("icc-2-single", lambda: intraclass(who, what, scores, level=level).random, judged)
            yield _row("icc-2-mean", lambda: intraclass(who, what, scores, level=level).random_mean, judged)
    if "max-diff" in also:
        yield from _max_diffs(question, judged)


def _row(statistic: str, measure: Callable[[], Estimate], judged: JudgedItems) -> Row:
    """Return a coefficient with its confidence interval; its value stays empty where it is not defined."""
    row: Row = {"statistic": statistic}
    try:
        estimate = measure()
    except StatisticsError:
        return row | _counts(judged)
    numbers = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    defined = {name: None if np.isnan(number) else number for name, number in numbers.items()}
    return row | defined | {"answers": estimate.answers, "items": estimate.items, "raters": estimate.raters}


def _ac_alone(
    what: NDArray[np.int64], code: NDArray[np.float64], raters: int, *, credit: Credit, level: float
) -> Estimate:
    """Return Gwet's AC without a confidence interval, from how often each item got each value."""
    values = np.unique(code)
    places = what * len(values) + np.searchsorted(values, code)
    counts = np.bincount(places, minlength=(int(what.max()) + 1) * len(values)).reshape(-1, len(values))
    return Estimate(
        value=ac_of_counts(counts, values, credit=credit),
        low=np.nan,
        high=np.nan,
        level=level,
        method="none",
        raters=raters,
        items=len(counts),
        answers=len(what),
        replicates=0,
    )


def _max_diffs(question: AnyQuestion, judged: JudgedItems) -> Iterator[Row]:
    """Yield the cumulative histogram of max_diff: the proportion of images up to each difference.

    max_diff is the highest less the lowest score of an image on a scale from 0 to 1 (Liang et al., 2024: about a
    quarter of the images have 0, and 85 % at most .25).
    """
    low, high = _ends(question)
    differences = (
        judged.frame.group_by("item")
        .agg(difference=(pl.col("value").max() - pl.col("value").min()) / (high - low), raters=pl.len())
        .filter(pl.col("raters") >= 2)["difference"]
    )
    for edge in (0.0, 0.25, 0.5, 0.75, 1.0):
        proportion = float((differences <= edge + 1e-9).to_numpy().mean()) if len(differences) else None
        yield {"statistic": f"max-diff-at-most-{edge:g}", "value": proportion} | _counts(judged)


def _counts(judged: JudgedItems) -> Row:
    return {
        "answers": judged.frame.height,
        "items": judged.frame.group_by("item").len().filter(pl.col("len") >= 2).height,
        "raters": judged.frame["rater"].n_unique(),
    }


def _stepped(question: AnyQuestion, judged: JudgedItems) -> JudgedItems:
    """Round the values of a scale with very many points to steps."""
    scale = kind_of(question).scale(question)
    few_points = scale is not None and 0 < scale.points <= LEVELS + 1
    if few_points or (scale is None and judged.scale != "interval"):
        return judged
    low, high = _ends(question)
    step = (high - low) / LEVELS
    value = low + ((pl.col("value") - low) / step).round() * step
    return replace(judged, frame=judged.frame.with_columns(value=value))


def _ends(question: AnyQuestion) -> tuple[float, float]:
    """Return the lowest and highest value; 0 and 1 where a question has no scale."""
    scale = kind_of(question).scale(question)
    return (0.0, 1.0) if scale is None else scale.ends
