"""How far a model agrees with people on images it has not seen, with intervals, and what that is worth.

Beside every figure stand what it lies between: the *floor* of knowing only which generator made an image, and the
*ceiling* of other people. Intervals resample prompts; a second one, over people, tells whether other people would
have given another figure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.learn.examples import Judged
from beholder.learn.recipe import Data
from beholder.stats.correlation.bounds import (
    generator_baseline,
    generator_pair_rates,
    panel_ceiling,
    single_rater_ceiling,
)
from beholder.stats.correlation.metric_agreement import Opinions, agreement
from beholder.stats.correlation.pair_accuracy import PairAccuracy, pair_accuracy, pairs_within
from beholder.stats.correlation.paper_accuracy import AVERAGED, TIES, paper_accuracy, tune_threshold
from beholder.stats.correlation.partial import partial_correlation
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.bootstrap_intervals import percentile_interval
from beholder.stats.intervals.standard_error import error_of_interval
from beholder.stats.intervals.two_way_bootstrap import two_way_ratio
from beholder.stats.prediction.calibration_error import calibration_error
from beholder.stats.prediction.soft_label_likelihood import soft_label_likelihood

PLAIN_TIES = "people dropped, scores half"
CROWDS = 50
"""Imagined crowds for intervals over people and for ceilings."""

OVER_PROMPTS = "expanded BCa bootstrap over prompts"

Predictions = Mapping[str, Mapping[str, float]]
"""aspect -> image -> score"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure; what is not known is nan."""

    aspect: str
    statistic: str
    value: float
    low: float = np.nan
    high: float = np.nan
    people_low: float = np.nan
    people_high: float = np.nan
    floor: float = np.nan
    ceiling: float = np.nan
    items: int = 0
    prompts: int = 0
    ties: str = ""
    interval: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """How figures are computed."""

    level: float = 0.95
    draws: int = 500
    seed: int = 0


def evaluate(
    found: Judged,
    data: Data,
    predictions: Predictions,
    votes: pl.DataFrame,
    settings: Settings,
    *,
    threshold: float = 0.0,
) -> list[Figure]:
    """All figures of the predicted images. ``votes`` are single answers on pairs, see :mod:`beholder.learn.votes`;
    ``threshold`` is PickScore's, tuned on other images (:func:`tuned_threshold`).
    """
    figures: list[Figure] = []
    for aspect in found.aspects:
        scores = scores_of(predictions, aspect)
        mine = found.labels.filter(pl.col("aspect") == aspect)
        if data.labels == "pairs":
            figures += _of_pairs(_scored_pairs(mine, found, scores), aspect, threshold, settings)
            figures += _of_votes(_scored_pairs(votes, found, scores), aspect, settings)
        else:
            images = _scored_images(mine, found, scores)
            figures += _of_ratings(images, aspect, data, settings)
            figures += _of_shares(images, aspect, settings) if data.labels == "shares" else ()
    return figures


def scores_of(predictions: Predictions, aspect: str) -> Mapping[str, float]:
    """The scores for an aspect: under its name, or the only ones that there are."""
    return (
        predictions[aspect] if aspect in predictions or len(predictions) > 1 else next(iter(predictions.values()))
    )


def tuned_threshold(found: Judged, predictions: Predictions) -> float:
    """PickScore's threshold from the pairs both of whose images were predicted."""
    aspect = found.aspects[0]
    pairs = _scored_pairs(found.labels.filter(pl.col("aspect") == aspect), found, scores_of(predictions, aspect))
    if pairs.is_empty():
        return 0.0
    return tune_threshold(pairs["score"].to_numpy(), pairs["other_score"].to_numpy(), pairs["lead"].to_numpy())


def _scored_pairs(labels: pl.DataFrame, found: Judged, scores: Mapping[str, float]) -> pl.DataFrame:
    """Pairs of one prompt with both scores, people's lead, the prompt and both generators as numbers."""
    known = _known(found, scores)
    others = known.select(other="image", other_score="score", other_generator="generator", other_prompt="prompt")
    lead = pl.col("value") - 0.5 if "value" in labels.columns else pl.col("lead")
    joined = labels.join(known, on="image", maintain_order="left").join(others, on="other", maintain_order="left")
    return joined.filter(pl.col("prompt") == pl.col("other_prompt")).with_columns(
        lead=lead, prompt=pl.col("prompt").rank("dense").cast(pl.Int64) - 1
    )


def _scored_images(labels: pl.DataFrame, found: Judged, scores: Mapping[str, float]) -> pl.DataFrame:
    """Rated images with their scores, prompt and generator as numbers."""
    joined = labels.join(_known(found, scores), on="image", maintain_order="left")
    return joined.with_columns(pl.col("prompt", "generator").rank("dense").cast(pl.Int64) - 1)


def _known(found: Judged, scores: Mapping[str, float]) -> pl.DataFrame:
    """What is known of the predicted images; one without a prompt stands alone."""
    numbers = {name: place for place, name in enumerate(sorted({one.generator for one in found.items}))}
    return pl.DataFrame(
        [
            (one.image, scores[one.image], numbers[one.generator], one.prompt or f"\n{one.image}")
            for one in found.items
            if one.image in scores
        ],
        schema={"image": pl.String, "score": pl.Float64, "generator": pl.Int64, "prompt": pl.String},
        orient="row",
    )


def _of_pairs(pairs: pl.DataFrame, aspect: str, threshold: float, settings: Settings) -> Iterator[Figure]:
    """Accuracy on the pairs that people were shown, by our rule and by those of the papers."""
    if pairs.height < 2:
        return
    first, second, lead = (pairs[name].to_numpy() for name in ("score", "other_score", "lead"))
    prompts, generators = pairs["prompt"].to_numpy(), pairs["generator"].to_numpy()
    others = pairs["other_generator"].to_numpy()
    rates = generator_pair_rates(generators, others, lead, prompts)
    ceiling = single_rater_ceiling(pairs["value"].to_numpy(), pairs["answers"].to_numpy())
    plain = pair_accuracy(first, second, lead, groups=prompts, ties="half")
    floor = pair_accuracy(rates[0], rates[1], lead, groups=prompts, ties="half")
    for average in ("micro", "macro"):
        yield replace(
            _accuracy(plain, floor, average, settings),
            aspect=aspect,
            statistic=f"pair-accuracy-{average}",
            ceiling=ceiling,
        )
    for paper, average in AVERAGED.items():
        tie = tune_threshold(rates[0], rates[1], lead) if paper == "pickscore" else 0.0
        mine = paper_accuracy(paper, first, second, lead, groups=prompts, threshold=threshold)
        least = paper_accuracy(paper, rates[0], rates[1], lead, groups=prompts, threshold=tie)
        figure = _accuracy(mine, least, average, settings)
        yield replace(figure, aspect=aspect, statistic=f"pair-accuracy-{paper}", ties=TIES[paper])
    same = generators == others
    if same.sum() >= 2 and (lead[same] != 0).any():
        groups = np.unique(prompts[same], return_inverse=True)[1]
        within = pair_accuracy(first[same], second[same], lead[same], groups=groups, ties="half")
        figure = _accuracy(within, None, "micro", settings)
        yield replace(figure, aspect=aspect, statistic="pair-accuracy-within-generators", floor=0.5)


def _of_votes(votes: pl.DataFrame, aspect: str, settings: Settings) -> Iterator[Figure]:
    """How often the model picks what a single person picked; people and prompts are resampled together."""
    decided = votes.filter(pl.col("lead") != 0)
    if decided["rater"].n_unique() < 2 or decided["prompt"].n_unique() < 2:
        return
    prompts, people = (np.unique(decided[name].to_numpy(), return_inverse=True)[1] for name in ("prompt", "rater"))
    first, second, lead = (decided[name].to_numpy() for name in ("score", "other_score", "lead"))
    right = np.where(first == second, 0.5, np.sign(first - second) == np.sign(lead)).astype(np.float64)
    rates = generator_pair_rates(
        decided["generator"].to_numpy(), decided["other_generator"].to_numpy(), lead, prompts
    )
    rng = np.random.default_rng(settings.seed)
    weights = [
        rater_weights(np.zeros(int(unit.max()) + 1, np.int64), settings.draws, rng) for unit in (people, prompts)
    ]
    both = two_way_ratio(
        people, prompts, right, np.ones(len(right)), np.zeros(len(right), np.int64), *weights, level=settings.level
    )[0]
    yield Figure(
        aspect=aspect,
        statistic="answer-accuracy",
        value=both.value,
        low=both.low,
        high=both.high,
        floor=pair_accuracy(rates[0], rates[1], lead, ties="half").micro,
        items=len(right),
        prompts=int(prompts.max()) + 1,
        ties=PLAIN_TIES,
        interval=both.method.replace("images", "prompts"),
    )


def _accuracy(found: PairAccuracy, floor: PairAccuracy | None, average: str, settings: Settings) -> Figure:
    rng = np.random.default_rng(settings.seed)
    weights = rater_weights(np.zeros(len(found.pairs), np.int64), settings.draws, rng)
    estimate: Estimate = (found.micro_estimate if average == "micro" else found.macro_estimate)(
        weights, level=settings.level
    )
    least = np.nan if floor is None else floor.micro if average == "micro" else floor.macro
    return Figure(
        aspect="",
        statistic="",
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        floor=least,
        items=int(found.pairs.sum()),
        prompts=int((found.pairs > 0).sum()),
        ties=PLAIN_TIES,
        interval=OVER_PROMPTS,
    )


def _of_ratings(images: pl.DataFrame, aspect: str, data: Data, settings: Settings) -> Iterator[Figure]:
    """Correlations and error on single images, within generators, and pairs within prompts."""
    if images.height < 2:
        return
    score, people = images["score"].to_numpy(), images["value"].to_numpy()
    prompts, generators = images["prompt"].to_numpy(), images["generator"].to_numpy()
    rng = np.random.default_rng(settings.seed)
    weights = rater_weights(np.zeros(int(prompts.max()) + 1, np.int64), settings.draws, rng)
    noise = rng.standard_normal((CROWDS, len(score)))
    opinions = Opinions(people, _errors(images, data, settings.level))
    halves = prompts % 2 == 0
    plain = Figure(aspect, "", np.nan, items=len(score), prompts=int(prompts.max()) + 1)
    for statistic in ("pearson", "spearman", "kendall"):
        one = agreement(score, opinions, statistic, weights, clusters=prompts, noise=noise, level=settings.level)
        yield replace(
            plain,
            statistic=statistic,
            value=one.value,
            low=one.low,
            high=one.high,
            people_low=one.people_low,
            people_high=one.people_high,
            floor=generator_baseline(people, generators, halves, statistic),
            ceiling=panel_ceiling(opinions, statistic, noise),
            interval=one.interval,
        )
    yield replace(_error(score, people, prompts, weights, settings.level), aspect=aspect)
    for kind in ("pearson", "spearman"):
        within = partial_correlation(score, people, generators, kind=kind, level=settings.level)
        yield replace(
            plain,
            statistic=f"{kind}-within-generators",
            value=within.value,
            low=within.low,
            high=within.high,
            floor=0.0,
            interval=within.method,
        )
    yield from _within_prompts(score, people, prompts, generators, aspect, settings)


def _of_shares(images: pl.DataFrame, aspect: str, settings: Settings) -> Iterator[Figure]:
    """Whether predicted shares are true, and how likely they make the answers, beside the generators' shares."""
    if images.height < 2:
        return
    predicted, shares, asked = (images[name].to_numpy() for name in ("score", "value", "answers"))
    prompts, generators = images["prompt"].to_numpy(), images["generator"].to_numpy()
    weights = rater_weights(
        np.zeros(int(prompts.max()) + 1, np.int64), settings.draws, np.random.default_rng(settings.seed)
    )
    plain = Figure(aspect, "", np.nan, items=len(shares), prompts=int(prompts.max()) + 1)
    error = calibration_error(predicted, shares, asked, weights, clusters=prompts, level=settings.level)
    yield replace(
        plain,
        statistic="calibration-error",
        value=error.value,
        low=error.low,
        high=error.high,
        ceiling=error.by_chance,
        interval=error.method,
    )
    said = np.rint(shares * asked)
    likelihood = soft_label_likelihood(
        predicted, said, asked, generators, weights, clusters=prompts, level=settings.level
    )
    for name, one, floor in (
        ("log-likelihood", likelihood.predictions, likelihood.generators.value),
        ("log-likelihood-gain", likelihood.gain, 0.0),
    ):
        yield replace(
            plain,
            statistic=name,
            value=one.value,
            low=one.low,
            high=one.high,
            floor=floor,
            interval=OVER_PROMPTS,
        )


def _within_prompts(
    score: NDArray[np.float64],
    people: NDArray[np.float64],
    prompts: NDArray[np.int64],
    generators: NDArray[np.int64],
    aspect: str,
    settings: Settings,
) -> Iterator[Figure]:
    """Every two images of one prompt: does the one that people rate higher score higher?"""
    first, second = pairs_within(prompts)
    if len(first) < 2:
        return
    lead, groups = people[first] - people[second], prompts[first]
    mine = pair_accuracy(score[first], score[second], lead, groups=groups, ties="half")
    rates = generator_pair_rates(generators[first], generators[second], lead, groups)
    floor = pair_accuracy(rates[0], rates[1], lead, groups=groups, ties="half")
    for average in ("micro", "macro"):
        figure = _accuracy(mine, floor, average, settings)
        yield replace(figure, aspect=aspect, statistic=f"pair-accuracy-{average}")


def _error(
    score: NDArray[np.float64],
    people: NDArray[np.float64],
    prompts: NDArray[np.int64],
    weights: NDArray[np.integer],
    level: float,
) -> Figure:
    """The root of the mean squared error, on the scale of the labels."""
    squares, counts = np.bincount(prompts, (score - people) ** 2), np.bincount(prompts).astype(np.float64)
    draws = np.sqrt((weights @ squares) / (weights @ counts))
    low, high = percentile_interval(draws[:, None], len(counts), level=level)
    return Figure(
        aspect="",
        statistic="rmse",
        value=float(np.sqrt(squares.sum() / counts.sum())),
        low=float(low[0]),
        high=float(high[0]),
        items=len(score),
        prompts=len(counts),
        interval="expanded percentile bootstrap over prompts",
    )


def _errors(images: pl.DataFrame, data: Data, level: float) -> NDArray[np.float64]:
    """Standard errors of the labels over people; nan where they are not known."""
    low, high = (images[end].to_numpy().astype(np.float64) for end in ("low", "high"))
    shares = np.full(images.height, data.labels == "shares" or data.method == "share")
    return error_of_interval(low, high, images["answers"].to_numpy(), level=level, proportions=shares)
