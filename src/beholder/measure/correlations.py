"""Every metric against every question: the rows of ``correlations`` and ``metric_separations``.

Metrics and people are joined item by item: generators (by ratings), images (by labels), or the very pairs that
people were shown. All metrics of a question share the draws, so that two of them can be told apart.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.measure.metric_values import oriented
from beholder.stats.bootstrap import person_weights
from beholder.stats.bounds import crowd_ceiling, generator_floor, generator_pair_floor, person_ceiling
from beholder.stats.holm import holm
from beholder.stats.metric_agreement import PAIR_ACCURACY, STATISTICS, Agreement, Opinions, agreement, interval_of
from beholder.stats.pair_accuracy import PairAccuracy, pair_accuracy, pairs_within
from beholder.stats.partial_correlation import partial_correlation

Row = dict[str, object]

METRIC = ("metric", "encoder", "reference", "better")
ASKED = ("question", "aspect", "method", "slice")

TESTED = "spearman"
"""The statistic by which two metrics are told apart: it asks no more of a metric than the right order."""

CROWDS = 100
"""Imagined crowds for intervals over people and for ceilings."""

TIES = "metric half, people dropped"


@dataclass(frozen=True, slots=True)
class Settings:
    """How agreement is computed."""

    level: float = 0.95
    draws: int = 2000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the two tables."""

    correlations: list[Row]
    separations: list[Row]


def generator_rows(opinions: pl.DataFrame, metrics: pl.DataFrame, settings: Settings) -> Rows:
    """Metrics of generators against ratings. The interval resamples generators; there is no floor."""
    found = Rows([], [])
    for asked, people in _by_question(opinions):
        for shared in _on_same_items(people, _counting_for(metrics, asked)):
            rng = np.random.default_rng(settings.seed)
            count = shared.people.height
            weights = person_weights(np.zeros(count, np.int64), settings.draws, rng)
            noise = rng.standard_normal((CROWDS, count))
            _compare(asked | {"level": "generator"}, shared, weights, noise, None, None, settings, found)
    return found


def image_rows(opinions: pl.DataFrame, metrics: pl.DataFrame, settings: Settings) -> Rows:
    """Scores of images against labels. The interval resamples prompts, or images where there are none.

    ``opinions`` have the columns ``prompt`` and ``generator`` as well. Beside the plain statistics stand those
    within generators, which no difference between generators can feed, and pair accuracy within prompts.
    """
    found = Rows([], [])
    for asked, people in _by_question(opinions):
        for shared in _on_same_items(people, _counting_for(metrics, asked)):
            rng = np.random.default_rng(settings.seed)
            clusters = _clusters(shared.people)
            count = int(clusters.max()) + 1
            weights = person_weights(np.zeros(count, np.int64), min(settings.draws, 500), rng)
            noise = rng.standard_normal((CROWDS // 2, shared.people.height))
            halves = _halves(shared.people)
            given = asked | {"level": "image"}
            _compare(given, shared, weights, noise, clusters, halves, settings, found)
            found.correlations.extend(_within_generators(given, shared, settings))
            found.correlations.extend(_within_prompts(given, shared, clusters, settings))
    return found


def pair_rows(votes: pl.DataFrame, metrics: pl.DataFrame, settings: Settings) -> Rows:
    """Scores of images against votes on pairs of them: accuracy over all pairs, and by prompt, averaged."""
    found = Rows([], [])
    whole = metrics.filter(pl.col("slice") == "all")
    for asked, pairs in _by_question(votes.with_columns(slice=pl.lit("all"))):
        for metric, values in _by_metric(whole):
            joined = _scored(pairs, values)
            if joined.height < 2:
                continue
            groups = _clusters(joined)
            ceiling = person_ceiling(joined["share"].to_numpy(), joined["answers"].to_numpy())
            common = asked | metric | {"level": "pair", "raters": _raters(joined), "ceiling": _known(ceiling)}
            first, second = (oriented(joined[name], _text(metric["better"])) for name in ("score", "other_score"))
            lead = joined["share"].to_numpy() - 0.5
            accuracy = pair_accuracy(first, second, lead, groups=groups, ties="half")
            floor = _generator_accuracy(joined, lead, groups)
            found.correlations.extend(_accuracy_rows(common, accuracy, floor, settings))
    return found


@dataclass(frozen=True, eq=False)
class _Shared:
    """People and the metrics that know the same items."""

    people: pl.DataFrame
    metrics: list[tuple[Row, pl.Series]]  # who it is, and its values in the order of people


def _by_question(opinions: pl.DataFrame) -> Iterator[tuple[Row, pl.DataFrame]]:
    for key, part in opinions.partition_by(ASKED, as_dict=True, maintain_order=True).items():
        yield dict(zip(ASKED, key, strict=True)), part


def _by_metric(metrics: pl.DataFrame) -> Iterator[tuple[Row, pl.DataFrame]]:
    for key, part in metrics.partition_by(METRIC, as_dict=True, maintain_order=True).items():
        yield dict(zip(METRIC, key, strict=True)), part


def _counting_for(metrics: pl.DataFrame, asked: Row) -> pl.DataFrame:
    here = pl.col("question").is_null() | (pl.col("question") == asked["question"])
    return metrics.filter(here & (pl.col("slice") == asked["slice"]))


def _on_same_items(people: pl.DataFrame, metrics: pl.DataFrame) -> Iterable[_Shared]:
    """Metrics grouped by the items they know: only those of one group can be compared with each other."""
    groups: dict[tuple[str, ...], _Shared] = {}
    for metric, values in _by_metric(metrics):
        joined = people.join(values.select("item", metric_value="value"), on="item", maintain_order="left")
        if joined.height < 2:
            continue
        shared = groups.setdefault(tuple(joined["item"]), _Shared(joined.drop("metric_value"), []))
        shared.metrics.append((metric, joined["metric_value"]))
    return groups.values()


def _compare(
    given: Row,
    shared: _Shared,
    weights: NDArray[np.int32],
    noise: NDArray[np.float64],
    clusters: NDArray[np.int64] | None,
    halves: NDArray[np.bool_] | None,
    settings: Settings,
    found: Rows,
) -> None:
    """The four statistics of every metric, and the test of every two by one of them."""
    values, errors = shared.people["value"].to_numpy(), shared.people["error"].to_numpy().astype(np.float64)
    opinions = Opinions(values, errors)
    generators = None if halves is None else _numbered(shared.people["generator"])
    statistics = STATISTICS if clusters is None else tuple(s for s in STATISTICS if s != PAIR_ACCURACY)
    for statistic in statistics:
        ceiling = crowd_ceiling(opinions, statistic, noise)
        floor = (
            np.nan
            if halves is None or generators is None
            else generator_floor(values, generators, halves, statistic)
        )
        tested: list[tuple[Row, Agreement]] = []
        for metric, scores in shared.metrics:
            better = _text(metric["better"])
            turned = oriented(scores, better) if statistic == PAIR_ACCURACY else scores.to_numpy()
            one = agreement(
                turned, opinions, statistic, weights, clusters=clusters, noise=noise, level=settings.level
            )
            bounds: Row = {"floor": _known(floor), "ceiling": _known(ceiling), "raters": _raters(shared.people)}
            found.correlations.append(given | metric | bounds | _row(one))
            if statistic == TESTED:
                if better in ("lower", "zero"):
                    one = agreement(oriented(scores, better), opinions, statistic, weights, clusters=clusters)
                tested.append((metric, one))
        group = np.arange(len(values)) if clusters is None else clusters
        found.separations.extend(_separations(given, tested, group, settings))


def _row(one: Agreement) -> Row:
    return {
        "statistic": one.statistic,
        "value": _known(one.value),
        "low": _known(one.low),
        "high": _known(one.high),
        "people_low": _known(one.people_low),
        "people_high": _known(one.people_high),
        "p": _known(one.p_value),
        "items": one.items,
        "ties": TIES if one.statistic == PAIR_ACCURACY else None,
        "interval": one.interval,
    }


def _separations(
    given: Row, tested: list[tuple[Row, Agreement]], group: NDArray[np.int64], settings: Settings
) -> list[Row]:
    """Every two metrics that have an interval: the difference of their agreement, over the same draws."""
    rows: list[Row] = []
    ready = [(metric, one) for metric, one in tested if len(one.draws)]
    for (first, one), (second, two) in combinations(ready, 2):
        ahead, behind, better, worse = (
            (first, second, one, two) if one.value >= two.value else (second, first, two, one)
        )
        draws = better.draws - worse.draws
        known = draws[np.isfinite(draws)]
        value = better.value - worse.value
        low, high = interval_of(np.array([value]), draws, better.left_out - worse.left_out, group, settings.level)
        rows.append(
            given
            | {
                **{"metric": ahead["metric"], "encoder": ahead["encoder"], "reference": ahead["reference"]},
                **{f"other{tail}": behind[name] for name, tail in zip(METRIC, TAILS, strict=False)},
                **{"statistic": TESTED, "difference": value, "low": _known(low), "high": _known(high)},
                **{"p": _two_sided(known), "items": one.items},
            }
        )
    p_values = np.array([row["p"] for row in rows], np.float64)
    for row, adjusted in zip(rows, holm(p_values) if rows else [], strict=True):
        row |= {"p_adjusted": _known(float(adjusted)), "separated": bool(adjusted < 1 - settings.level)}
    return rows


TAILS = ("", "_encoder", "_reference")
"""What the columns of the other metric end in."""


def _two_sided(draws: NDArray[np.float64]) -> float | None:
    """Twice the smaller share of draws on either side of 0, ties half; at least one draw."""
    if not len(draws):
        return None
    above = float(np.mean(draws > 0) + np.mean(draws == 0) / 2)
    return min(max(2 * min(above, 1 - above), 1 / len(draws)), 1.0)


def _within_generators(given: Row, shared: _Shared, settings: Settings) -> Iterator[Row]:
    """What is left of the correlation once each generator's mean is taken out of both."""
    generators, people = _numbered(shared.people["generator"]), shared.people["value"].to_numpy()
    for metric, scores in shared.metrics:
        for kind in ("pearson", "spearman"):
            one = partial_correlation(scores.to_numpy(), people, generators, kind=kind, level=settings.level)
            yield (
                given
                | metric
                | {
                    **{
                        "statistic": f"{kind}-within-generators",
                        "value": _known(one.value),
                        "p": _known(one.p_value),
                    },
                    **{"low": _known(one.low), "high": _known(one.high), "floor": 0.0},
                    **{"items": one.points, "raters": _raters(shared.people), "interval": one.method},
                }
            )


def _within_prompts(given: Row, shared: _Shared, clusters: NDArray[np.int64], settings: Settings) -> Iterator[Row]:
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
        values = oriented(scores, _text(metric["better"]))
        accuracy = pair_accuracy(values[first], values[second], lead, groups=prompts, ties="half")
        common = given | metric | {"raters": _raters(shared.people)}
        yield from _accuracy_rows(common, accuracy, floor, settings)


def _accuracy_rows(common: Row, accuracy: PairAccuracy, floor: PairAccuracy, settings: Settings) -> Iterator[Row]:
    """Micro and macro accuracy with intervals over prompts."""
    if accuracy.pairs.sum() < 2:
        return
    weights = person_weights(
        np.zeros(len(accuracy.pairs), np.int64), min(settings.draws, 500), np.random.default_rng(settings.seed)
    )
    for name, estimate, least in (
        ("micro", accuracy.micro_estimate(weights, level=settings.level), floor.micro),
        ("macro", accuracy.macro_estimate(weights, level=settings.level), floor.macro),
    ):
        yield common | {
            **{"statistic": f"{PAIR_ACCURACY}-{name}", "value": _known(estimate.value), "floor": _known(least)},
            **{"low": _known(estimate.low), "high": _known(estimate.high), "interval": PROMPTS},
            **{"items": int(accuracy.pairs.sum()), "ties": TIES},
        }


PROMPTS = "expanded BCa bootstrap over prompts"


def _generator_accuracy(pairs: pl.DataFrame, lead: NDArray[np.float64], groups: NDArray[np.int64]) -> PairAccuracy:
    """The accuracy of always preferring the generator that won more often in the pairs of other prompts."""
    names = sorted({*pairs["generator"], *pairs["other_generator"]})
    place = {name: number for number, name in enumerate(names)}
    one, two = (np.array([place[name] for name in pairs[side]]) for side in ("generator", "other_generator"))
    return generator_pair_floor(one, two, lead, groups)


def _scored(pairs: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """The pairs with the scores of both images; pairs with an image that was not scored are left out."""
    left, right = (values.select(pl.col("item").alias(name), pl.col("value")) for name in ("image", "other"))
    return pairs.join(left.rename({"value": "score"}), on="image", maintain_order="left").join(
        right.rename({"value": "other_score"}), on="other", maintain_order="left"
    )


def _clusters(people: pl.DataFrame) -> NDArray[np.int64]:
    """The prompt of each row as a number; a row without one stands alone."""
    alone = pl.concat_str(pl.lit("\n"), pl.int_range(pl.len()).cast(pl.String))
    return _numbered(people.select(pl.coalesce("prompt", alone)).to_series())


def _halves(people: pl.DataFrame) -> NDArray[np.bool_]:
    """Every other image of each generator, in the order of prompts."""
    order = pl.struct("prompt", "item").rank("ordinal").over("generator")
    return people.select(order % 2 == 0).to_series().to_numpy()


def _numbered(names: pl.Series) -> NDArray[np.int64]:
    """Numbers from 0 in the order of the names."""
    return names.to_frame("n").select(pl.col("n").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def _raters(people: pl.DataFrame) -> int | None:
    found = people["raters"].max()
    return int(found) if isinstance(found, int) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
