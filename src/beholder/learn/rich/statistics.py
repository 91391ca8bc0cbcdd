"""The statistics of one model's rich feedback, each as a function of the weights of the prompts.

Scores: Pearson's and Spearman's correlation. Heatmaps: the mean squared error over all images and over those that
no rater marked, and CC, KLD, SIM, NSS and AUC-Judd over the others; the pixels that any rater marked are the
fixated ones. Keywords: precision, recall and F1 of misaligned keywords, pooled and by image.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.feedback.heatmap import decode_heatmap
from beholder.feedback.labels import MISSED
from beholder.images.resize import resize_floats
from beholder.learn.figures.figure import EvaluationSettings
from beholder.learn.rich.examples import RichExample, RichLabels
from beholder.stats.correlation.bootstrap import Statistic, correlation_replicates
from beholder.stats.correlation.coefficients import Kind
from beholder.stats.intervals.bootstrap import rater_weights, ratio_of_sums
from beholder.stats.prediction.heatmap_agreement import MEASURES, Rule, heatmap_agreement
from beholder.stats.prediction.keyword_agreement import keyword_agreement

CORRELATIONS: tuple[Kind, ...] = ("pearson", "spearman")
KEYWORDS = "misalignment"
MAX_SIDE = 512
"""Largest side in pixels at which heatmaps are compared; raters' larger ones are reduced to it."""


@dataclass(frozen=True, eq=False)
class RichPrediction:
    """The rich feedback that a model predicts for one image; what it does not predict is missing."""

    scores: Mapping[str, float]
    heatmaps: Mapping[str, NDArray[np.float32]]
    """Aspect -> (height, width), from 0 to 1."""
    misaligned: NDArray[np.floating] | NDArray[np.bool_] | None
    """For each word of the prompt the probability that it is misaligned, or whether; nan counts as aligned."""


@dataclass(frozen=True, eq=False)
class ModelStatistic:
    """A statistic of one model as a function of the weight of each prompt."""

    aspect: str
    statistic: str
    of: Statistic
    prompts: NDArray[np.int64]
    """The prompt of each item that it is computed from."""
    items: int


class Prompts:
    """The prompts of the evaluated images as numbers: the units of resampling."""

    def __init__(self, examples: Sequence[RichExample]) -> None:
        clusters = sorted({_cluster(example) for example in examples})
        self._number_by_cluster = {cluster: number for number, cluster in enumerate(clusters)}

    @property
    def once(self) -> NDArray[np.int32]:
        """Weights (1, prompts) of 1 for every prompt."""
        return np.ones((1, len(self._number_by_cluster)), np.int32)

    def bootstrap_weights(self, settings: EvaluationSettings) -> NDArray[np.int32]:
        """Return how often each prompt is in each bootstrap replicate, (replicates, prompts)."""
        rng = np.random.default_rng(settings.seed)
        return rater_weights(np.zeros(len(self._number_by_cluster), np.int64), settings.replicates, rng)

    def of(self, examples: Sequence[RichExample]) -> NDArray[np.int64]:
        """Return the prompt of each example as a number."""
        return np.array([self._number_by_cluster[_cluster(example)] for example in examples], np.int64)


def model_statistics(
    rich_labels: RichLabels,
    examples: Sequence[RichExample],
    predicted: Mapping[str, RichPrediction],
    prompts: Prompts,
    rule: Rule,
) -> Iterator[ModelStatistic]:
    """Yield all statistics of what a model predicts for these examples."""
    for aspect in rich_labels.aspects:
        yield from _score_statistics(aspect, examples, predicted, prompts)
    for aspect in sorted({aspect for example in examples for aspect in example.mapped}):
        yield from _heatmap_statistics(aspect, examples, predicted, rich_labels, prompts, rule)
    yield from _keyword_statistics(examples, predicted, prompts)


def _score_statistics(
    aspect: str, examples: Sequence[RichExample], predicted: Mapping[str, RichPrediction], prompts: Prompts
) -> Iterator[ModelStatistic]:
    scored = [
        example for example in examples if aspect in example.scores and aspect in predicted[example.image].scores
    ]
    if len(scored) < 3:
        return
    rater_scores = np.array([example.scores[aspect] for example in scored])
    model_scores = np.array([predicted[example.image].scores[aspect] for example in scored])
    prompt_numbers = prompts.of(scored)
    used, index = np.unique(prompt_numbers, return_inverse=True)
    for kind in CORRELATIONS:

        def correlated(weights: NDArray[np.integer], kind: Kind = kind) -> NDArray[np.float64]:
            return correlation_replicates(model_scores, rater_scores, weights[:, used], kind=kind, clusters=index)

        yield ModelStatistic(aspect, kind, correlated, prompt_numbers, len(scored))


def _heatmap_statistics(
    aspect: str,
    examples: Sequence[RichExample],
    predicted: Mapping[str, RichPrediction],
    rich_labels: RichLabels,
    prompts: Prompts,
    rule: Rule,
) -> Iterator[ModelStatistic]:
    mapped = [
        example for example in examples if aspect in example.mapped and aspect in predicted[example.image].heatmaps
    ]
    if not mapped:
        return
    values = np.empty((len(mapped), len(MEASURES)))
    empty = np.empty(len(mapped), np.bool_)
    for index, example in enumerate(mapped):  # one at a time, as heatmaps differ in size
        rater_map = _reduce_heatmap(decode_heatmap(rich_labels.maps[example.image, aspect]).astype(np.float32))
        model_map = _resize_heatmap(predicted[example.image].heatmaps[aspect], *rater_map.shape)
        agreement = heatmap_agreement(model_map[None], rater_map[None], rule=rule, threads=1)
        values[index] = [agreement.values[name][0] for name in MEASURES]
        empty[index] = agreement.empty[0]
    prompt_numbers = prompts.of(mapped)
    for column, name in enumerate(MEASURES):
        defined = ~np.isnan(values[:, column])
        if defined.any():
            yield _ratio_statistic(
                aspect, f"heatmap-{name}", values[defined, column], np.ones(defined.sum()), prompt_numbers[defined]
            )
        if name == "mse" and empty.any():
            unmarked = values[empty, column]
            yield _ratio_statistic(
                aspect, "heatmap-mse-empty", unmarked, np.ones(len(unmarked)), prompt_numbers[empty]
            )


def _keyword_statistics(
    examples: Sequence[RichExample], predicted: Mapping[str, RichPrediction], prompts: Prompts
) -> Iterator[ModelStatistic]:
    examples_and_predictions = [
        (example, misaligned)
        for example in examples
        if example.misaligned is not None and (misaligned := predicted[example.image].misaligned) is not None
    ]
    if not examples_and_predictions:
        return
    counts = [len(example.misaligned or ()) for example, _ in examples_and_predictions]
    agreed = keyword_agreement(
        np.concatenate([misaligned > MISSED for _, misaligned in examples_and_predictions]),
        np.concatenate([np.array(example.misaligned, np.bool_) for example, _ in examples_and_predictions]),
        np.repeat(np.arange(len(examples_and_predictions)), counts),
    )
    prompt_numbers = prompts.of([example for example, _ in examples_and_predictions])
    for pooling, sums in (("pooled", agreed.pooled_sums()), ("by-image", agreed.by_image_sums())):
        for name, (numerator, denominator) in sums.items():
            yield _ratio_statistic(KEYWORDS, f"keyword-{name}-{pooling}", numerator, denominator, prompt_numbers)


def _ratio_statistic(
    aspect: str,
    statistic: str,
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64],
    prompt_numbers: NDArray[np.int64],
) -> ModelStatistic:
    """Return Σ numerator / Σ denominator over images as a statistic of the prompts' weights."""

    def ratio(weights: NDArray[np.integer]) -> NDArray[np.float64]:
        sums = [
            np.bincount(prompt_numbers, column, weights.shape[1])[:, None] for column in (numerator, denominator)
        ]
        return ratio_of_sums(sums[0], sums[1], weights)[:, 0]

    return ModelStatistic(aspect, statistic, ratio, prompt_numbers, len(prompt_numbers))


def _cluster(example: RichExample) -> str:
    """Return the cluster of an image: its prompt, or itself if it has none."""
    return example.prompt or f"\n{example.image}"


def _reduce_heatmap(heatmap: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the raters' heatmap at its own size, or reduced so that its longest side is ``MAX_SIDE``."""
    factor = MAX_SIDE / max(heatmap.shape)
    if factor >= 1:
        return heatmap
    height, width = (max(round(side * factor), 1) for side in heatmap.shape)
    return _resize_heatmap(heatmap, height, width)


def _resize_heatmap(heatmap: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    if heatmap.shape == (height, width):
        return heatmap
    return np.clip(resize_floats(heatmap[..., None], height, width, "bilinear")[..., 0], 0, 1)
