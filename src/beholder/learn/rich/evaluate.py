"""How well predicted rich feedback agrees with raters: the figures of the paper's four tables.

Each figure is a statistic of :mod:`beholder.learn.rich.statistics`: of one model, the mean over several, or the
difference between two groups of models. All 95 % confidence intervals resample prompts, jointly for all models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.learn.figures.figure import OVER_PROMPTS, EvaluationSettings, Figure
from beholder.learn.rich.examples import RichExample, RichLabels
from beholder.learn.rich.statistics import ModelStatistic, Prompts, RichPrediction, model_statistics
from beholder.stats.correlation.bootstrap import leave_one_out, resampled_interval
from beholder.stats.prediction.heatmap_agreement import Rule

PAIRED = f"{OVER_PROMPTS}, paired"


@dataclass(frozen=True, slots=True)
class MeanFigure:
    """The mean of a figure over several models, and the value of each model."""

    figure: Figure
    values: tuple[float, ...]


class Comparison:
    """Several models on the images that all of them predict; each statistic is computed once."""

    def __init__(
        self,
        rich_labels: RichLabels,
        predictions_by_model: Mapping[str, Mapping[str, RichPrediction]],
        settings: EvaluationSettings,
        *,
        rule: Rule = "any",
    ) -> None:
        examples = _predicted_by_all(rich_labels, list(predictions_by_model.values()))
        prompts = Prompts(examples)
        self._settings = settings
        self._weights = prompts.bootstrap_weights(settings)
        self._by_model = {
            name: {
                (statistic.aspect, statistic.statistic): statistic
                for statistic in model_statistics(rich_labels, examples, predictions, prompts, rule)
            }
            for name, predictions in predictions_by_model.items()
        }

    def means(self, names: Sequence[str]) -> list[MeanFigure]:
        """Return the means over these models of all figures that each of them has; models are not resampled."""
        ones = np.ones((1, self._weights.shape[1]), np.int32)
        figures = []
        for statistics in self._shared(names):
            coefficients = np.full(len(statistics), 1 / len(statistics))
            values = tuple(float(statistic.of(ones)[0]) for statistic in statistics)
            figures.append(MeanFigure(self._figure(statistics, coefficients, OVER_PROMPTS), values))
        return figures

    def differences(self, names: Sequence[str], others: Sequence[str]) -> list[Figure]:
        """Return the mean over some models minus the mean over others, of all figures that each of them has."""
        signs = [1 / len(names)] * len(names) + [-1 / len(others)] * len(others)
        return [
            self._figure(statistics, np.array(signs), PAIRED) for statistics in self._shared([*names, *others])
        ]

    def _shared(self, names: Sequence[str]) -> list[list[ModelStatistic]]:
        """Return each statistic that all of these models have, model by model."""
        by_model = [self._by_model[name] for name in names]
        return [
            [statistics[key] for statistics in by_model]
            for key in by_model[0]
            if all(key in statistics for statistics in by_model)
        ]

    def _figure(
        self, statistics: Sequence[ModelStatistic], coefficients: NDArray[np.float64], interval: str
    ) -> Figure:
        """Return a weighted sum of one statistic; only prompts that it depends on count as resampled."""
        prompts, index = np.unique(
            np.concatenate([statistic.prompts for statistic in statistics]), return_inverse=True
        )

        def combined(weights_of_prompts: NDArray[np.integer]) -> NDArray[np.float64]:
            weights_of_all = np.zeros((len(weights_of_prompts), self._weights.shape[1]), np.int32)
            weights_of_all[:, prompts] = weights_of_prompts
            by_model = np.stack([statistic.of(weights_of_all) for statistic in statistics])
            return np.asarray(coefficients @ by_model, np.float64)

        value = combined(np.ones((1, len(prompts)), np.int32))
        low, high = resampled_interval(
            value,
            combined(self._weights[:, prompts]),
            leave_one_out(combined, index),
            index,
            level=self._settings.level,
            rule="bca",
        )
        first = statistics[0]
        return Figure(
            first.aspect,
            first.statistic,
            float(value[0]),
            low,
            high,
            items=first.items,
            prompts=len(prompts),
            interval=interval,
        )


def rich_figures(
    rich_labels: RichLabels,
    predicted: Mapping[str, RichPrediction],
    settings: EvaluationSettings,
    *,
    rule: Rule = "any",
) -> list[Figure]:
    """Return all figures of the predicted images of one model."""
    return [mean.figure for mean in mean_figures(rich_labels, [predicted], settings, rule=rule)]


def rich_statistics(
    rich_labels: RichLabels, predicted: Mapping[str, RichPrediction], *, rule: Rule = "any"
) -> dict[tuple[str, str], float]:
    """Return (aspect, statistic) -> value, without confidence intervals."""
    examples = _predicted_by_all(rich_labels, [predicted])
    prompts = Prompts(examples)
    return {
        (statistic.aspect, statistic.statistic): float(statistic.of(prompts.once)[0])
        for statistic in model_statistics(rich_labels, examples, predicted, prompts, rule)
    }


def mean_figures(
    rich_labels: RichLabels,
    predictions_by_model: Sequence[Mapping[str, RichPrediction]],
    settings: EvaluationSettings,
    *,
    rule: Rule = "any",
) -> list[MeanFigure]:
    """Return the means over models of all figures, over the images that all of them predict."""
    by_name = {str(number): predictions for number, predictions in enumerate(predictions_by_model)}
    if not _predicted_by_all(rich_labels, predictions_by_model):
        return []
    return Comparison(rich_labels, by_name, settings, rule=rule).means(list(by_name))


def _predicted_by_all(
    rich_labels: RichLabels, predictions_by_model: Sequence[Mapping[str, RichPrediction]]
) -> list[RichExample]:
    """Return the labels of the images that every model predicts."""
    return [
        rich_labels.examples[image]
        for image in predictions_by_model[0]
        if image in rich_labels.examples and all(image in predictions for predictions in predictions_by_model)
    ]
