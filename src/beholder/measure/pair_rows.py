"""Pair accuracy: how often a scorer prefers the image that raters prefer, as rows of ``correlations``.

The pairs are either those that raters compared, or every two images of one prompt whose labels differ.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.measure.joined import (
    TIES,
    AgreementRows,
    AgreementSettings,
    Row,
    SharedItems,
    by_metric,
    by_question,
    finite_or_none,
    prompt_codes,
    rater_count,
    text_or_none,
)
from beholder.measure.metric_values import oriented
from beholder.stats.correlation.bounds import generator_pair_baseline, single_rater_ceiling
from beholder.stats.correlation.pair_accuracy import PairAccuracy, pair_accuracy, pairs_within
from beholder.stats.correlation.paired_values import PAIR_ACCURACY
from beholder.stats.intervals.bootstrap import rater_weights

PROMPTS = "expanded BCa bootstrap over prompts"


def pair_rows(votes: pl.DataFrame, metrics: pl.DataFrame, settings: AgreementSettings) -> AgreementRows:
    """Compare scores with votes on pairs of images: accuracy over pairs (micro), and mean over prompts (macro)."""
    rows = AgreementRows([], [])
    all_styles = metrics.filter(pl.col("slice") == "all")
    for question, pairs in by_question(votes.with_columns(slice=pl.lit("all"))):
        for metric, values in by_metric(all_styles):
            joined = _scored(pairs, values)
            if joined.height < 2:
                continue
            groups = prompt_codes(joined)
            ceiling = single_rater_ceiling(joined["share"].to_numpy(), joined["answers"].to_numpy())
            common = (
                question
                | metric
                | {"level": "pair", "raters": rater_count(joined), "ceiling": finite_or_none(ceiling)}
            )
            first, second = (
                oriented(joined[name], text_or_none(metric["better"])) for name in ("score", "other_score")
            )
            lead = joined["share"].to_numpy() - 0.5
            accuracy = pair_accuracy(first, second, lead, groups=groups, ties="half")
            baseline = _generator_accuracy(joined, lead, groups)
            rows.correlations.extend(_accuracy_rows(common, accuracy, baseline, settings))
    return rows


def rows_within_prompts(
    key: Row, shared: SharedItems, clusters: NDArray[np.int64], settings: AgreementSettings
) -> Iterator[Row]:
    """Pair accuracy over every two images of one prompt."""
    first, second = pairs_within(clusters)
    if len(first) < 2:
        return
    values = shared.opinions["value"].to_numpy()
    lead, prompts = values[first] - values[second], clusters[first]
    sides = shared.opinions["generator"]
    named = pl.DataFrame({"generator": sides[first], "other_generator": sides[second]})
    baseline = _generator_accuracy(named, lead, prompts)
    for metric, scores in shared.metrics:
        directed = oriented(scores, text_or_none(metric["better"]))
        accuracy = pair_accuracy(directed[first], directed[second], lead, groups=prompts, ties="half")
        common = key | metric | {"raters": rater_count(shared.opinions)}
        yield from _accuracy_rows(common, accuracy, baseline, settings)


def _accuracy_rows(
    common: Row, accuracy: PairAccuracy, baseline: PairAccuracy, settings: AgreementSettings
) -> Iterator[Row]:
    """Micro and macro accuracy with confidence intervals over prompts."""
    if accuracy.pairs.sum() < 2:
        return
    weights = rater_weights(
        np.zeros(len(accuracy.pairs), np.int64), settings.draws, np.random.default_rng(settings.seed)
    )
    for name, estimate, baseline_value in (
        ("micro", accuracy.micro_estimate(weights, level=settings.level), baseline.micro),
        ("macro", accuracy.macro_estimate(weights, level=settings.level), baseline.macro),
    ):
        yield common | {
            "statistic": f"{PAIR_ACCURACY}-{name}",
            "value": finite_or_none(estimate.value),
            "low": finite_or_none(estimate.low),
            "high": finite_or_none(estimate.high),
            "interval": PROMPTS,
            "floor": finite_or_none(baseline_value),
            "items": int(accuracy.pairs.sum()),
            "ties": TIES,
        }


def _generator_accuracy(pairs: pl.DataFrame, lead: NDArray[np.float64], groups: NDArray[np.int64]) -> PairAccuracy:
    """The accuracy of always preferring the generator that won more often in the pairs of other prompts."""
    names = sorted({*pairs["generator"], *pairs["other_generator"]})
    code = {name: code for code, name in enumerate(names)}
    first, second = (np.array([code[name] for name in pairs[side]]) for side in ("generator", "other_generator"))
    return generator_pair_baseline(first, second, lead, groups)


def _scored(pairs: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """The pairs with the scores of both images; pairs with an image that was not scored are left out."""
    left, right = (values.select(pl.col("item").alias(name), pl.col("value")) for name in ("image", "other"))
    return pairs.join(left.rename({"value": "score"}), on="image", maintain_order="left").join(
        right.rename({"value": "other_score"}), on="other", maintain_order="left"
    )
