"""How well a model agrees with raters on images it was not trained on, with confidence intervals.

Every figure comes with two bounds: the *generator-mean baseline*, which knows only which generator made an image,
and the *human ceiling*, how well other raters agree. The 95 % confidence intervals resample prompts; a second
interval, over raters, says how far the figure would vary with other raters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.learn.examples import LabelledImages
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

PLAIN_TIES = "raters dropped, scores half"
SIMULATED_PANELS = 50
"""Simulated panels of raters for confidence intervals over raters and for human ceilings."""

OVER_PROMPTS = "expanded BCa bootstrap over prompts"

Predictions = Mapping[str, Mapping[str, float]]
"""Aspect -> image -> score."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One statistic of one aspect with its confidence intervals and bounds; what is not known is nan."""

    aspect: str
    statistic: str
    value: float
    low: float = np.nan
    high: float = np.nan
    """Ends of the confidence interval over prompts."""
    people_low: float = np.nan
    people_high: float = np.nan
    """Ends of the confidence interval over raters, images as they are."""
    floor: float = np.nan
    """Generator-mean baseline: the value of knowing the generator alone."""
    ceiling: float = np.nan
    """Human ceiling: the value that other raters reach."""
    items: int = 0
    prompts: int = 0
    ties: str = ""
    """How ties were counted."""
    interval: str = ""
    """Method of the confidence interval."""


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """Level of the confidence intervals, number of bootstrap replicates and their seed."""

    level: float = 0.95
    replicates: int = 500
    seed: int = 0


def evaluate(
    labelled: LabelledImages,
    data: Data,
    predictions: Predictions,
    votes: pl.DataFrame,
    settings: EvaluationSettings,
    *,
    threshold: float = 0.0,
) -> list[Figure]:
    """Return all figures of the predicted images.

    ``votes`` are single answers on pairs (:func:`beholder.learn.examples.read_votes`); ``threshold`` is
    PickScore's tie threshold, tuned on other images (:func:`tune_tie_threshold`).
    """
    figures: list[Figure] = []
    for aspect in labelled.aspects:
        scores = scores_for(predictions, aspect)
        aspect_labels = labelled.labels.filter(pl.col("aspect") == aspect)
        if data.labels == "pairs":
            figures += _pair_figures(_scored_pairs(aspect_labels, labelled, scores), aspect, threshold, settings)
            figures += _vote_figures(_scored_pairs(votes, labelled, scores), aspect, settings)
        else:
            images = _scored_images(aspect_labels, labelled, scores)
            figures += _rating_figures(images, aspect, data, settings)
            figures += _soft_label_figures(images, aspect, settings) if data.labels == "shares" else ()
    return figures


def scores_for(predictions: Predictions, aspect: str) -> Mapping[str, float]:
    """Return the scores of an aspect: those under its name, or the only ones there are."""
    return (
        predictions[aspect] if aspect in predictions or len(predictions) > 1 else next(iter(predictions.values()))
    )


def tune_tie_threshold(labelled: LabelledImages, predictions: Predictions) -> float:
    """Return PickScore's tie threshold, tuned on the pairs both of whose images were predicted."""
    aspect = labelled.aspects[0]
    pairs = _scored_pairs(
        labelled.labels.filter(pl.col("aspect") == aspect), labelled, scores_for(predictions, aspect)
    )
    if pairs.is_empty():
        return 0.0
    return tune_threshold(pairs["score"].to_numpy(), pairs["other_score"].to_numpy(), pairs["lead"].to_numpy())


def _scored_pairs(labels: pl.DataFrame, labelled: LabelledImages, scores: Mapping[str, float]) -> pl.DataFrame:
    """Return pairs within a prompt with both scores, the raters' lead, and prompt and generators as numbers."""
    images = _predicted_images(labelled, scores)
    others = images.select(other="image", other_score="score", other_generator="generator", other_prompt="prompt")
    lead = pl.col("value") - 0.5 if "value" in labels.columns else pl.col("lead")
    joined = labels.join(images, on="image", maintain_order="left").join(others, on="other", maintain_order="left")
    return joined.filter(pl.col("prompt") == pl.col("other_prompt")).with_columns(
        lead=lead, prompt=pl.col("prompt").rank("dense").cast(pl.Int64) - 1
    )


def _scored_images(labels: pl.DataFrame, labelled: LabelledImages, scores: Mapping[str, float]) -> pl.DataFrame:
    """Return rated images with their scores, and prompt and generator as numbers."""
    joined = labels.join(_predicted_images(labelled, scores), on="image", maintain_order="left")
    return joined.with_columns(pl.col("prompt", "generator").rank("dense").cast(pl.Int64) - 1)


def _predicted_images(labelled: LabelledImages, scores: Mapping[str, float]) -> pl.DataFrame:
    """Return score, generator and prompt of the predicted images; an image without a prompt is its own cluster."""
    numbers = {name: number for number, name in enumerate(sorted({item.generator for item in labelled.items}))}
    return pl.DataFrame(
        [
            (item.image, scores[item.image], numbers[item.generator], item.prompt or f"\n{item.image}")
            for item in labelled.items
            if item.image in scores
        ],
        schema={"image": pl.String, "score": pl.Float64, "generator": pl.Int64, "prompt": pl.String},
        orient="row",
    )


def _pair_figures(
    pairs: pl.DataFrame, aspect: str, threshold: float, settings: EvaluationSettings
) -> Iterator[Figure]:
    """Yield accuracies on the pairs that raters compared, by our tie rule and by those of the papers."""
    if pairs.height < 2:
        return
    first, second, lead = (pairs[name].to_numpy() for name in ("score", "other_score", "lead"))
    prompts, generators = pairs["prompt"].to_numpy(), pairs["generator"].to_numpy()
    others = pairs["other_generator"].to_numpy()
    rates = generator_pair_rates(generators, others, lead, prompts)
    ceiling = single_rater_ceiling(pairs["value"].to_numpy(), pairs["answers"].to_numpy())
    model = pair_accuracy(first, second, lead, groups=prompts, ties="half")
    baseline = pair_accuracy(rates[0], rates[1], lead, groups=prompts, ties="half")
    for average in ("micro", "macro"):
        yield replace(
            _accuracy_figure(model, baseline, average, settings),
            aspect=aspect,
            statistic=f"pair-accuracy-{average}",
            ceiling=ceiling,
        )
    for paper, average in AVERAGED.items():
        tie = tune_threshold(rates[0], rates[1], lead) if paper == "pickscore" else 0.0
        model = paper_accuracy(paper, first, second, lead, groups=prompts, threshold=threshold)
        baseline = paper_accuracy(paper, rates[0], rates[1], lead, groups=prompts, threshold=tie)
        figure = _accuracy_figure(model, baseline, average, settings)
        yield replace(figure, aspect=aspect, statistic=f"pair-accuracy-{paper}", ties=TIES[paper])
    same = generators == others
    if same.sum() >= 2 and (lead[same] != 0).any():
        groups = np.unique(prompts[same], return_inverse=True)[1]
        within = pair_accuracy(first[same], second[same], lead[same], groups=groups, ties="half")
        figure = _accuracy_figure(within, None, "micro", settings)
        yield replace(figure, aspect=aspect, statistic="pair-accuracy-within-generators", floor=0.5)


def _vote_figures(votes: pl.DataFrame, aspect: str, settings: EvaluationSettings) -> Iterator[Figure]:
    """Yield how often the model picks what a single rater picked; raters and prompts are resampled jointly."""
    decided_votes = votes.filter(pl.col("lead") != 0)
    if decided_votes["rater"].n_unique() < 2 or decided_votes["prompt"].n_unique() < 2:
        return
    prompts, raters = (
        np.unique(decided_votes[name].to_numpy(), return_inverse=True)[1] for name in ("prompt", "rater")
    )
    first, second, lead = (decided_votes[name].to_numpy() for name in ("score", "other_score", "lead"))
    correct = np.where(first == second, 0.5, np.sign(first - second) == np.sign(lead)).astype(np.float64)
    rates = generator_pair_rates(
        decided_votes["generator"].to_numpy(), decided_votes["other_generator"].to_numpy(), lead, prompts
    )
    rng = np.random.default_rng(settings.seed)
    weights = [
        rater_weights(np.zeros(int(unit.max()) + 1, np.int64), settings.replicates, rng)
        for unit in (raters, prompts)
    ]
    estimate = two_way_ratio(
        raters,
        prompts,
        correct,
        np.ones(len(correct)),
        np.zeros(len(correct), np.int64),
        *weights,
        level=settings.level,
    )[0]
    yield Figure(
        aspect=aspect,
        statistic="answer-accuracy",
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        floor=pair_accuracy(rates[0], rates[1], lead, ties="half").micro,
        items=len(correct),
        prompts=int(prompts.max()) + 1,
        ties=PLAIN_TIES,
        interval=estimate.method.replace("images", "prompts"),
    )


def _accuracy_figure(
    model: PairAccuracy, baseline: PairAccuracy | None, average: str, settings: EvaluationSettings
) -> Figure:
    rng = np.random.default_rng(settings.seed)
    weights = rater_weights(np.zeros(len(model.pairs), np.int64), settings.replicates, rng)
    estimate: Estimate = (model.micro_estimate if average == "micro" else model.macro_estimate)(
        weights, level=settings.level
    )
    baseline_value = np.nan if baseline is None else baseline.micro if average == "micro" else baseline.macro
    return Figure(
        aspect="",
        statistic="",
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        floor=baseline_value,
        items=int(model.pairs.sum()),
        prompts=int((model.pairs > 0).sum()),
        ties=PLAIN_TIES,
        interval=OVER_PROMPTS,
    )


def _rating_figures(
    images: pl.DataFrame, aspect: str, data: Data, settings: EvaluationSettings
) -> Iterator[Figure]:
    """Yield correlations and error on images, correlations within generators, and pair accuracy within prompts."""
    if images.height < 2:
        return
    score, ratings = images["score"].to_numpy(), images["value"].to_numpy()
    prompts, generators = images["prompt"].to_numpy(), images["generator"].to_numpy()
    rng = np.random.default_rng(settings.seed)
    weights = rater_weights(np.zeros(int(prompts.max()) + 1, np.int64), settings.replicates, rng)
    noise = rng.standard_normal((SIMULATED_PANELS, len(score)))
    opinions = Opinions(ratings, _standard_errors(images, data, settings.level))
    even_prompts = prompts % 2 == 0
    template = Figure(aspect, "", np.nan, items=len(score), prompts=int(prompts.max()) + 1)
    for statistic in ("pearson", "spearman", "kendall"):
        agreed = agreement(
            score, opinions, statistic, weights, clusters=prompts, noise=noise, level=settings.level
        )
        yield replace(
            template,
            statistic=statistic,
            value=agreed.value,
            low=agreed.low,
            high=agreed.high,
            people_low=agreed.people_low,
            people_high=agreed.people_high,
            floor=generator_baseline(ratings, generators, even_prompts, statistic),
            ceiling=panel_ceiling(opinions, statistic, noise),
            interval=agreed.interval,
        )
    yield replace(_rmse_figure(score, ratings, prompts, weights, settings.level), aspect=aspect)
    for kind in ("pearson", "spearman"):
        within = partial_correlation(score, ratings, generators, kind=kind, level=settings.level)
        yield replace(
            template,
            statistic=f"{kind}-within-generators",
            value=within.value,
            low=within.low,
            high=within.high,
            floor=0.0,
            interval=within.method,
        )
    yield from _within_prompt_figures(score, ratings, prompts, generators, aspect, settings)


def _soft_label_figures(images: pl.DataFrame, aspect: str, settings: EvaluationSettings) -> Iterator[Figure]:
    """Yield calibration error and log-likelihood of predicted soft labels, against the generator-mean baseline."""
    if images.height < 2:
        return
    predicted, proportions, answers = (images[name].to_numpy() for name in ("score", "value", "answers"))
    prompts, generators = images["prompt"].to_numpy(), images["generator"].to_numpy()
    weights = rater_weights(
        np.zeros(int(prompts.max()) + 1, np.int64), settings.replicates, np.random.default_rng(settings.seed)
    )
    template = Figure(aspect, "", np.nan, items=len(proportions), prompts=int(prompts.max()) + 1)
    error = calibration_error(predicted, proportions, answers, weights, clusters=prompts, level=settings.level)
    yield replace(
        template,
        statistic="calibration-error",
        value=error.value,
        low=error.low,
        high=error.high,
        ceiling=error.by_chance,
        interval=error.method,
    )
    generated_answers = np.rint(proportions * answers)
    likelihood = soft_label_likelihood(
        predicted, generated_answers, answers, generators, weights, clusters=prompts, level=settings.level
    )
    for name, estimate, baseline in (
        ("log-likelihood", likelihood.predictions, likelihood.generators.value),
        ("log-likelihood-gain", likelihood.gain, 0.0),
    ):
        yield replace(
            template,
            statistic=name,
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            floor=baseline,
            interval=OVER_PROMPTS,
        )


def _within_prompt_figures(
    score: NDArray[np.float64],
    ratings: NDArray[np.float64],
    prompts: NDArray[np.int64],
    generators: NDArray[np.int64],
    aspect: str,
    settings: EvaluationSettings,
) -> Iterator[Figure]:
    """Yield pair accuracy over all two images of a prompt: does the one that raters rate higher score higher?"""
    first, second = pairs_within(prompts)
    if len(first) < 2:
        return
    lead, groups = ratings[first] - ratings[second], prompts[first]
    model = pair_accuracy(score[first], score[second], lead, groups=groups, ties="half")
    rates = generator_pair_rates(generators[first], generators[second], lead, groups)
    baseline = pair_accuracy(rates[0], rates[1], lead, groups=groups, ties="half")
    for average in ("micro", "macro"):
        figure = _accuracy_figure(model, baseline, average, settings)
        yield replace(figure, aspect=aspect, statistic=f"pair-accuracy-{average}")


def _rmse_figure(
    score: NDArray[np.float64],
    ratings: NDArray[np.float64],
    prompts: NDArray[np.int64],
    weights: NDArray[np.integer],
    level: float,
) -> Figure:
    """Return the root mean squared error, on the scale of the labels."""
    squares, counts = np.bincount(prompts, (score - ratings) ** 2), np.bincount(prompts).astype(np.float64)
    replicates = np.sqrt((weights @ squares) / (weights @ counts))
    low, high = percentile_interval(replicates[:, None], len(counts), level=level)
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


def _standard_errors(images: pl.DataFrame, data: Data, level: float) -> NDArray[np.float64]:
    """Return standard errors of the labels over raters; nan where they are not known."""
    low, high = (images[end].to_numpy().astype(np.float64) for end in ("low", "high"))
    proportions = np.full(images.height, data.labels == "shares" or data.method == "share")
    return error_of_interval(low, high, images["answers"].to_numpy(), level=level, proportions=proportions)
