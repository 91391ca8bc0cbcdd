"""Every metric against every question: the rows of ``correlations`` and ``metric_separations``.

Metrics and raters' opinions are joined item by item: generators (by ratings), images (by labels), or the very
pairs that raters compared (:mod:`beholder.measure.pair_rows`). All metrics of a question share their bootstrap
replicates, so that the difference of two metrics can be tested.
"""

import os
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.images.in_order import in_order
from beholder.measure.joined import (
    TIES,
    AgreementRows,
    AgreementSettings,
    Row,
    SharedItems,
    by_question,
    dense_codes,
    finite_or_none,
    group_by_items,
    metrics_for_question,
    prompt_codes,
    rater_count,
    text_or_none,
)
from beholder.measure.metric_values import oriented
from beholder.measure.pair_rows import rows_within_prompts
from beholder.measure.separations import TESTED, separations
from beholder.stats.correlation.bounds import generator_baseline, panel_ceiling
from beholder.stats.correlation.metric_agreement import STATISTICS, Agreement, Opinions, agreement
from beholder.stats.correlation.paired_values import PAIR_ACCURACY
from beholder.stats.correlation.partial import partial_correlation
from beholder.stats.intervals.bootstrap import rater_weights

WORKERS = min(os.cpu_count() or 1, 8)
"""Metrics that are compared with raters at a time."""

SIMULATED_PANELS = 100
"""Simulated panels of raters, for confidence intervals over raters and for human ceilings."""


def generator_rows(opinions: pl.DataFrame, metrics: pl.DataFrame, settings: AgreementSettings) -> AgreementRows:
    """Correlate metrics of generators with their ratings.

    The confidence interval is over generators. There is no generator-mean baseline.
    """
    rows = AgreementRows([], [])
    for question, question_opinions in by_question(opinions):
        for shared in group_by_items(question_opinions, metrics_for_question(metrics, question)):
            rng = np.random.default_rng(settings.seed)
            count = shared.opinions.height
            weights = rater_weights(np.zeros(count, np.int64), settings.draws, rng)
            noise = rng.standard_normal((SIMULATED_PANELS, count))
            _compare(question | {"level": "generator"}, shared, weights, noise, None, None, settings, rows)
    return rows


def image_rows(opinions: pl.DataFrame, metrics: pl.DataFrame, settings: AgreementSettings) -> AgreementRows:
    """Correlate scores of images with their labels.

    The confidence interval is over prompts, or over images where there are no prompts. ``opinions`` have the
    columns ``prompt`` and ``generator`` as well. Besides the plain statistics there are those within generators,
    to which differences between generators contribute nothing, and pair accuracy within prompts.
    """
    rows = AgreementRows([], [])
    for question, question_opinions in by_question(opinions):
        for shared in group_by_items(question_opinions, metrics_for_question(metrics, question)):
            rng = np.random.default_rng(settings.seed)
            clusters = prompt_codes(shared.opinions)
            count = int(clusters.max()) + 1
            weights = rater_weights(np.zeros(count, np.int64), settings.draws, rng)
            noise = rng.standard_normal((SIMULATED_PANELS, shared.opinions.height))
            halves = _halves(shared.opinions)
            key = question | {"level": "image"}
            _compare(key, shared, weights, noise, clusters, halves, settings, rows)
            rows.correlations.extend(_within_generators(key, shared, settings))
            rows.correlations.extend(rows_within_prompts(key, shared, clusters, settings))
    return rows


def _compare(
    key: Row,
    shared: SharedItems,
    weights: NDArray[np.int32],
    noise: NDArray[np.float64],
    clusters: NDArray[np.int64] | None,
    halves: NDArray[np.bool_] | None,
    settings: AgreementSettings,
    rows: AgreementRows,
) -> None:
    """Append the statistics of every metric to ``rows``, and the test of every two metrics by ``TESTED``."""
    values, errors = shared.opinions["value"].to_numpy(), shared.opinions["error"].to_numpy().astype(np.float64)
    opinions = Opinions(values, errors)
    generators = None if halves is None else dense_codes(shared.opinions["generator"])
    statistics = STATISTICS if clusters is None else tuple(s for s in STATISTICS if s != PAIR_ACCURACY)
    for statistic in statistics:
        ceiling = panel_ceiling(opinions, statistic, noise)
        baseline = (
            np.nan
            if halves is None or generators is None
            else generator_baseline(values, generators, halves, statistic)
        )

        def compared(metric: Row, scores: pl.Series, statistic: str = statistic) -> tuple[Agreement, Agreement]:
            """The agreement of one metric, and that in its better direction where metrics are tested."""
            better = text_or_none(metric["better"])
            directed = oriented(scores, better) if statistic == PAIR_ACCURACY else scores.to_numpy()
            tested_here = statistic == TESTED and better not in ("lower", "zero")
            metric_agreement = agreement(
                directed,
                opinions,
                statistic,
                weights,
                clusters=clusters,
                noise=noise,
                level=settings.level,
                keep_replicates=tested_here,
            )
            if tested_here or statistic != TESTED:
                return metric_agreement, metric_agreement
            return metric_agreement, agreement(
                oriented(scores, better), opinions, statistic, weights, clusters=clusters
            )

        tested: list[tuple[Row, Agreement]] = []
        bounds: Row = {
            "floor": finite_or_none(baseline),
            "ceiling": finite_or_none(ceiling),
            "raters": rater_count(shared.opinions),
        }
        agreements = in_order(lambda item: compared(*item), shared.metrics, WORKERS)
        for (metric, _), (metric_agreement, in_direction) in zip(shared.metrics, agreements, strict=True):
            rows.correlations.append(key | metric | bounds | _row(metric_agreement))
            if statistic == TESTED:
                tested.append((metric, in_direction))
        group = np.arange(len(values)) if clusters is None else clusters
        rows.separations.extend(separations(key, tested, group, settings))


def _row(metric_agreement: Agreement) -> Row:
    return {
        "statistic": metric_agreement.statistic,
        "value": finite_or_none(metric_agreement.value),
        "low": finite_or_none(metric_agreement.low),
        "high": finite_or_none(metric_agreement.high),
        "people_low": finite_or_none(metric_agreement.people_low),
        "people_high": finite_or_none(metric_agreement.people_high),
        "p": finite_or_none(metric_agreement.p_value),
        "items": metric_agreement.items,
        "ties": TIES if metric_agreement.statistic == PAIR_ACCURACY else None,
        "interval": metric_agreement.interval,
    }


def _within_generators(key: Row, shared: SharedItems, settings: AgreementSettings) -> Iterator[Row]:
    """The partial correlation of scores and labels, each generator's mean subtracted from both."""
    generators, values = dense_codes(shared.opinions["generator"]), shared.opinions["value"].to_numpy()
    for metric, scores in shared.metrics:
        for kind in ("pearson", "spearman"):
            partial = partial_correlation(scores.to_numpy(), values, generators, kind=kind, level=settings.level)
            statistic: Row = {
                "statistic": f"{kind}-within-generators",
                "value": finite_or_none(partial.value),
                "low": finite_or_none(partial.low),
                "high": finite_or_none(partial.high),
                "interval": partial.method,
                "p": finite_or_none(partial.p_value),
                "floor": 0.0,
                "items": partial.points,
                "raters": rater_count(shared.opinions),
            }
            yield key | metric | statistic


def _halves(opinions: pl.DataFrame) -> NDArray[np.bool_]:
    """Every other image of each generator, in the order of prompts."""
    order = pl.struct("prompt", "item").rank("ordinal").over("generator")
    return opinions.select(order % 2 == 0).to_series().to_numpy()
