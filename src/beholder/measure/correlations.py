"""Every metric against every question: the rows of ``correlations`` and ``metric_separations``.

Metrics and people are joined item by item: generators (by ratings), images (by labels), or the very pairs that
people were shown (:mod:`beholder.measure.pair_rows`). All metrics of a question share the draws, so that two of
them can be told apart.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.measure.joined import (
    TIES,
    Row,
    Rows,
    Settings,
    Shared,
    by_question,
    counting_for,
    known,
    numbered,
    on_same_items,
    prompt_numbers,
    rater_count,
    text,
)
from beholder.measure.metric_values import oriented
from beholder.measure.pair_rows import rows_within_prompts
from beholder.measure.separations import TESTED, separations
from beholder.stats.correlation.bounds import generator_baseline, panel_ceiling
from beholder.stats.correlation.metric_agreement import STATISTICS, Agreement, Opinions, agreement
from beholder.stats.correlation.paired_values import PAIR_ACCURACY
from beholder.stats.correlation.partial import partial_correlation
from beholder.stats.intervals.bootstrap import rater_weights

CROWDS = 100
"""Imagined crowds for intervals over people and for ceilings."""


def generator_rows(opinions: pl.DataFrame, metrics: pl.DataFrame, settings: Settings) -> Rows:
    """Metrics of generators against ratings. The interval resamples generators; there is no floor."""
    found = Rows([], [])
    for asked, people in by_question(opinions):
        for shared in on_same_items(people, counting_for(metrics, asked)):
            rng = np.random.default_rng(settings.seed)
            count = shared.people.height
            weights = rater_weights(np.zeros(count, np.int64), settings.draws, rng)
            noise = rng.standard_normal((CROWDS, count))
            _compare(asked | {"level": "generator"}, shared, weights, noise, None, None, settings, found)
    return found


def image_rows(opinions: pl.DataFrame, metrics: pl.DataFrame, settings: Settings) -> Rows:
    """Scores of images against labels. The interval resamples prompts, or images where there are none.

    ``opinions`` have the columns ``prompt`` and ``generator`` as well. Beside the plain statistics stand those
    within generators, which no difference between generators can feed, and pair accuracy within prompts.
    """
    found = Rows([], [])
    for asked, people in by_question(opinions):
        for shared in on_same_items(people, counting_for(metrics, asked)):
            rng = np.random.default_rng(settings.seed)
            clusters = prompt_numbers(shared.people)
            count = int(clusters.max()) + 1
            weights = rater_weights(np.zeros(count, np.int64), settings.draws, rng)
            noise = rng.standard_normal((CROWDS, shared.people.height))
            halves = _halves(shared.people)
            given = asked | {"level": "image"}
            _compare(given, shared, weights, noise, clusters, halves, settings, found)
            found.correlations.extend(_within_generators(given, shared, settings))
            found.correlations.extend(rows_within_prompts(given, shared, clusters, settings))
    return found


def _compare(
    given: Row,
    shared: Shared,
    weights: NDArray[np.int32],
    noise: NDArray[np.float64],
    clusters: NDArray[np.int64] | None,
    halves: NDArray[np.bool_] | None,
    settings: Settings,
    found: Rows,
) -> None:
    """The statistics of every metric, and the test of every two by one of them."""
    values, errors = shared.people["value"].to_numpy(), shared.people["error"].to_numpy().astype(np.float64)
    opinions = Opinions(values, errors)
    generators = None if halves is None else numbered(shared.people["generator"])
    statistics = STATISTICS if clusters is None else tuple(s for s in STATISTICS if s != PAIR_ACCURACY)
    for statistic in statistics:
        ceiling = panel_ceiling(opinions, statistic, noise)
        floor = (
            np.nan
            if halves is None or generators is None
            else generator_baseline(values, generators, halves, statistic)
        )
        tested: list[tuple[Row, Agreement]] = []
        for metric, scores in shared.metrics:
            better = text(metric["better"])
            turned = oriented(scores, better) if statistic == PAIR_ACCURACY else scores.to_numpy()
            tested_here = statistic == TESTED and better not in ("lower", "zero")
            one = agreement(
                turned,
                opinions,
                statistic,
                weights,
                clusters=clusters,
                noise=noise,
                level=settings.level,
                keep_replicates=tested_here,
            )
            bounds: Row = {"floor": known(floor), "ceiling": known(ceiling), "raters": rater_count(shared.people)}
            found.correlations.append(given | metric | bounds | _row(one))
            if statistic == TESTED:
                if not tested_here:
                    one = agreement(oriented(scores, better), opinions, statistic, weights, clusters=clusters)
                tested.append((metric, one))
        group = np.arange(len(values)) if clusters is None else clusters
        found.separations.extend(separations(given, tested, group, settings))


def _row(one: Agreement) -> Row:
    return {
        "statistic": one.statistic,
        "value": known(one.value),
        "low": known(one.low),
        "high": known(one.high),
        "people_low": known(one.people_low),
        "people_high": known(one.people_high),
        "p": known(one.p_value),
        "items": one.items,
        "ties": TIES if one.statistic == PAIR_ACCURACY else None,
        "interval": one.interval,
    }


def _within_generators(given: Row, shared: Shared, settings: Settings) -> Iterator[Row]:
    """What is left of the correlation once each generator's mean is taken out of both."""
    generators, people = numbered(shared.people["generator"]), shared.people["value"].to_numpy()
    for metric, scores in shared.metrics:
        for kind in ("pearson", "spearman"):
            one = partial_correlation(scores.to_numpy(), people, generators, kind=kind, level=settings.level)
            yield (
                given
                | metric
                | {
                    **{
                        "statistic": f"{kind}-within-generators",
                        "value": known(one.value),
                        "p": known(one.p_value),
                    },
                    **{"low": known(one.low), "high": known(one.high), "floor": 0.0},
                    **{"items": one.points, "raters": rater_count(shared.people), "interval": one.method},
                }
            )


def _halves(people: pl.DataFrame) -> NDArray[np.bool_]:
    """Every other image of each generator, in the order of prompts."""
    order = pl.struct("prompt", "item").rank("ordinal").over("generator")
    return people.select(order % 2 == 0).to_series().to_numpy()
