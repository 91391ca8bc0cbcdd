"""Figures on pairs of images: how often a model prefers the image that raters prefer."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.learn.figures.figure import OVER_PROMPTS, EvaluationSettings, Figure
from beholder.stats.correlation.bounds import generator_pair_rates, single_rater_ceiling
from beholder.stats.correlation.pair_accuracy import PairAccuracy, pair_accuracy, pairs_within
from beholder.stats.correlation.paper_accuracy import AVERAGED, TIES, paper_accuracy, tune_threshold
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.two_way_bootstrap import two_way_ratio

PLAIN_TIES = "raters dropped, scores half"


def pair_figures(
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


def vote_figures(votes: pl.DataFrame, aspect: str, settings: EvaluationSettings) -> Iterator[Figure]:
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


def within_prompt_figures(
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


def _accuracy_figure(
    model: PairAccuracy, baseline: PairAccuracy | None, average: str, settings: EvaluationSettings
) -> Figure:
    """Return an accuracy with its confidence interval over prompts; callers set aspect and statistic."""
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
