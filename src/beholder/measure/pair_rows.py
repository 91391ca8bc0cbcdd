"""How often a scorer prefers the image that people prefer: rows of ``correlations`` on pairs of images.

Either the very pairs that people were shown, or every two images of a prompt whose labels differ.
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
    by_metric,
    by_question,
    known,
    prompt_numbers,
    rater_count,
    text,
)
from beholder.measure.metric_values import oriented
from beholder.stats.correlation.bounds import generator_pair_baseline, single_rater_ceiling
from beholder.stats.correlation.pair_accuracy import PairAccuracy, pair_accuracy, pairs_within
from beholder.stats.correlation.paired_values import PAIR_ACCURACY
from beholder.stats.intervals.bootstrap import rater_weights

PROMPTS = "expanded BCa bootstrap over prompts"


def pair_rows(votes: pl.DataFrame, metrics: pl.DataFrame, settings: Settings) -> Rows:
    """Scores of images against votes on pairs of them: accuracy over all pairs, and by prompt, averaged."""
    found = Rows([], [])
    whole = metrics.filter(pl.col("slice") == "all")
    for asked, pairs in by_question(votes.with_columns(slice=pl.lit("all"))):
        for metric, values in by_metric(whole):
            joined = _scored(pairs, values)
            if joined.height < 2:
                continue
            groups = prompt_numbers(joined)
            ceiling = single_rater_ceiling(joined["share"].to_numpy(), joined["answers"].to_numpy())
            common = asked | metric | {"level": "pair", "raters": rater_count(joined), "ceiling": known(ceiling)}
            first, second = (oriented(joined[name], text(metric["better"])) for name in ("score", "other_score"))
            lead = joined["share"].to_numpy() - 0.5
            accuracy = pair_accuracy(first, second, lead, groups=groups, ties="half")
            floor = _generator_accuracy(joined, lead, groups)
            found.correlations.extend(_accuracy_rows(common, accuracy, floor, settings))
    return found


def rows_within_prompts(
    given: Row, shared: Shared, clusters: NDArray[np.int64], settings: Settings
) -> Iterator[Row]:
    """Pair accuracy over all two images of one prompt."""
    first, second = pairs_within(clusters)
    if len(first) < 2:
        return
    people = shared.people["value"].to_numpy()
    lead, prompts = people[first] - people[second], clusters[first]
    sides = shared.people["generator"]
    named = pl.DataFrame({"generator": sides[first], "other_generator": sides[second]})
    floor = _generator_accuracy(named, lead, prompts)
    for metric, scores in shared.metrics:
        values = oriented(scores, text(metric["better"]))
        accuracy = pair_accuracy(values[first], values[second], lead, groups=prompts, ties="half")
        common = given | metric | {"raters": rater_count(shared.people)}
        yield from _accuracy_rows(common, accuracy, floor, settings)


def _accuracy_rows(common: Row, accuracy: PairAccuracy, floor: PairAccuracy, settings: Settings) -> Iterator[Row]:
    """Micro and macro accuracy with intervals over prompts."""
    if accuracy.pairs.sum() < 2:
        return
    weights = rater_weights(
        np.zeros(len(accuracy.pairs), np.int64), settings.draws, np.random.default_rng(settings.seed)
    )
    for name, estimate, least in (
        ("micro", accuracy.micro_estimate(weights, level=settings.level), floor.micro),
        ("macro", accuracy.macro_estimate(weights, level=settings.level), floor.macro),
    ):
        yield common | {
            **{"statistic": f"{PAIR_ACCURACY}-{name}", "value": known(estimate.value), "floor": known(least)},
            **{"low": known(estimate.low), "high": known(estimate.high), "interval": PROMPTS},
            **{"items": int(accuracy.pairs.sum()), "ties": TIES},
        }


def _generator_accuracy(pairs: pl.DataFrame, lead: NDArray[np.float64], groups: NDArray[np.int64]) -> PairAccuracy:
    """The accuracy of always preferring the generator that won more often in the pairs of other prompts."""
    names = sorted({*pairs["generator"], *pairs["other_generator"]})
    place = {name: number for number, name in enumerate(names)}
    one, two = (np.array([place[name] for name in pairs[side]]) for side in ("generator", "other_generator"))
    return generator_pair_baseline(one, two, lead, groups)


def _scored(pairs: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """The pairs with the scores of both images; pairs with an image that was not scored are left out."""
    left, right = (values.select(pl.col("item").alias(name), pl.col("value")) for name in ("image", "other"))
    return pairs.join(left.rename({"value": "score"}), on="image", maintain_order="left").join(
        right.rename({"value": "other_score"}), on="other", maintain_order="left"
    )
