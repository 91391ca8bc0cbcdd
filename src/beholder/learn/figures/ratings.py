"""Figures on rated images: correlations with raters' means, and error on their scale."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.figures.pairs import within_prompt_figures
from beholder.learn.recipe import Data
from beholder.stats.correlation.bounds import generator_baseline, panel_ceiling
from beholder.stats.correlation.metric_agreement import Opinions, agreement
from beholder.stats.correlation.partial import partial_correlation
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.bootstrap_intervals import percentile_interval
from beholder.stats.intervals.standard_error import error_of_interval

SIMULATED_PANELS = 50
"""Simulated panels of raters for confidence intervals over raters and for human ceilings."""


def rating_figures(
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
    yield from within_prompt_figures(score, ratings, prompts, generators, aspect, settings)


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
