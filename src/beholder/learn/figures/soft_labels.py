"""Figures on soft labels: calibration and likelihood of predicted proportions."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from beholder.learn.figures.figure import OVER_PROMPTS, EvaluationSettings, Figure
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.prediction.calibration_error import calibration_error
from beholder.stats.prediction.soft_label_likelihood import soft_label_likelihood


def soft_label_figures(images: pl.DataFrame, aspect: str, settings: EvaluationSettings) -> Iterator[Figure]:
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
