"""Prediction-powered ratings of generators: the rows of ``powered_ratings``."""

from collections.abc import Iterator

import polars as pl

from beholder.judgements.generator_values import UNIT, GeneratorValues, generator_values
from beholder.measure.joined import Row, by_metric
from beholder.measure.metric_values import oriented
from beholder.measure.opinions import ALL_STYLES
from beholder.measure.powered.scored_values import ScoredValues, scored_values
from beholder.stats.intervals.clustered_t import FEWEST_RATERS
from beholder.stats.prediction.prediction_powered import PoweredEstimate, powered_mean, shared_tuning
from beholder.study.kinds.catalogue import AnyQuestion


def powered_rows(
    question: AnyQuestion,
    judgements: pl.DataFrame,
    images: pl.DataFrame,
    metrics: pl.DataFrame,
    *,
    level: float,
) -> Iterator[Row]:
    """Yield one row per aspect, metric and generator: the rating from raters and scores, and from raters alone.

    Raters and images (of comparisons: prompts) are both samples, so both confidence intervals generalise over
    both; with fewer than five raters there are none. The weight λ of the scores for a generator is the one that is
    best for all the others: it is not fitted to the labels that it is applied to. A single generator has its own.

    Args:
        question: The question that raters answered.
        judgements: Its judgements that are used.
        images: The table ``images``.
        metrics: Metric values by image, as :func:`beholder.measure.metric_values.of_scores` returns them.
        level: Level of the confidence intervals.
    """
    unsliced = metrics.filter(pl.col("slice") == ALL_STYLES)
    for values in generator_values(question, judgements, images):
        for metric, rows in by_metric(unsliced):
            better = metric["better"]
            direction = better if isinstance(better, str) else None
            scores = rows.select(image="item").with_columns(score=pl.Series(oriented(rows["value"], direction)))
            samples = scored_values(values, scores, images, directed=direction is not None)
            for scored in samples:
                others = [other.sample for other in samples if other is not scored]
                tuning = shared_tuning(*others) if others else None
                estimate = powered_mean(scored.sample, tuning=tuning, level=level)
                yield {"question": question.name, "metric": metric["metric"]} | _row(values, scored, estimate)


def _row(values: GeneratorValues, scored: ScoredValues, estimate: PoweredEstimate) -> Row:
    tested = scored.raters >= FEWEST_RATERS and estimate.classical_high > estimate.classical_low
    ends = {
        "low": estimate.low,
        "high": estimate.high,
        "people_low": estimate.classical_low,
        "people_high": estimate.classical_high,
    }
    row: dict[str, float] = {"rating": estimate.value, "people_rating": estimate.classical} | ends
    if values.bounds == UNIT:  # proportions
        row = {name: min(max(number, 0.0), 1.0) for name, number in row.items()}
    return {
        "aspect": values.aspect,
        "method": values.method,
        "generator": scored.generator,
        **{name: number if tested or name not in ends else None for name, number in row.items()},
        "se": estimate.standard_error if tested else None,
        "width_ratio": (estimate.high - estimate.low) / (estimate.classical_high - estimate.classical_low)
        if tested
        else None,
        "tuning": estimate.tuning,
        "level": estimate.level,
        "answers": estimate.labels,
        "raters": scored.raters,
        "judged": scored.units,
        "unjudged": estimate.unlabelled,
    }
