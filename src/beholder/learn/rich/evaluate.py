"""How far predicted rich feedback agrees with people: the figures of the paper's four tables, with intervals.

Scores: Pearson's and Spearman's correlation. Heatmaps: the mean squared error over all images and over those where
nobody marked anything, and CC, KLD, SIM, NSS and AUC-Judd over the others, pixels that anybody marked being the
fixated ones. Keywords: precision, recall and F1 of misaligned words, pooled and by image. All intervals resample
prompts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.feedback.heatmap import decode_heatmap
from beholder.feedback.labels import MISSED
from beholder.images.resize import resize_floats
from beholder.learn.evaluate import OVER_PROMPTS, Figure, Settings
from beholder.learn.rich.examples import RichExample, RichJudged
from beholder.stats.correlation.bootstrap import (
    Statistic,
    correlation_replicates,
    leave_one_out,
    resampled_interval,
)
from beholder.stats.correlation.coefficients import Kind
from beholder.stats.intervals.bootstrap import rater_weights, ratio_of_sums
from beholder.stats.prediction.heatmap_agreement import MEASURES, Rule, heatmap_agreement
from beholder.stats.prediction.keyword_agreement import keyword_agreement

CORRELATIONS: tuple[Kind, ...] = ("pearson", "spearman")
KEYWORDS = "misalignment"
SIDE = 512
"""Largest side on which maps are compared; larger ones of people are made smaller."""


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a model says of one image; what it does not predict is missing."""

    scores: Mapping[str, float]
    heatmaps: Mapping[str, NDArray[np.float32]]
    """Aspect -> (height, width), from 0 to 1."""
    misaligned: NDArray[np.floating] | NDArray[np.bool_] | None
    """For each word of the prompt the chance that it was missed, or whether it was; nan counts as not missed."""


@dataclass(frozen=True, slots=True)
class Together:
    """A figure that is the mean of several models, and those of each."""

    figure: Figure
    each: tuple[float, ...]


def rich_figures(
    judged: RichJudged, predicted: Mapping[str, Predicted], settings: Settings, *, rule: Rule = "any"
) -> list[Figure]:
    """All figures of the predicted images."""
    return [one.figure for one in figures_together(judged, [predicted], settings, rule=rule)]


def rich_values(
    judged: RichJudged, predicted: Mapping[str, Predicted], *, rule: Rule = "any"
) -> dict[tuple[str, str], float]:
    """(aspect, statistic) -> the figure alone, without its interval."""
    shown = _shown(judged, [predicted])
    prompts = _Prompts(shown)
    return {
        (one.aspect, one.statistic): float(one.of(prompts.once)[0])
        for one in _measured(judged, shown, predicted, prompts, rule)
    }


def figures_together(
    judged: RichJudged, several: Sequence[Mapping[str, Predicted]], settings: Settings, *, rule: Rule = "any"
) -> list[Together]:
    """Figures of the images that all of several models predict: the means over models.

    Intervals resample prompts, the same ones for all models; models are taken as they are.
    """
    shown = _shown(judged, several)
    if not shown:
        return []
    prompts = _Prompts(shown)
    weights = prompts.drawn(settings)
    by_model = [
        {(one.aspect, one.statistic): one for one in _measured(judged, shown, predicted, prompts, rule)}
        for predicted in several
    ]
    return [
        _together([found[key] for found in by_model], weights, settings)
        for key in by_model[0]
        if all(key in found for found in by_model)
    ]


@dataclass(frozen=True, eq=False)
class _Measured:
    """A figure of one model as a function of how often each prompt counts."""

    aspect: str
    statistic: str
    of: Statistic
    prompts: NDArray[np.int64]
    """The prompt of each item that it rests on."""
    items: int


class _Prompts:
    """The prompts of the images shown, as numbers: what is resampled."""

    def __init__(self, shown: Sequence[RichExample]) -> None:
        units = sorted({_unit(one) for one in shown})
        self._place = {unit: number for number, unit in enumerate(units)}

    @property
    def once(self) -> NDArray[np.int32]:
        """Weights (1, prompts) under which each counts once."""
        return np.ones((1, len(self._place)), np.int32)

    def drawn(self, settings: Settings) -> NDArray[np.int32]:
        """How often each prompt is drawn in each draw, (draws, prompts)."""
        rng = np.random.default_rng(settings.seed)
        return rater_weights(np.zeros(len(self._place), np.int64), settings.draws, rng)

    def of(self, examples: Sequence[RichExample]) -> NDArray[np.int64]:
        """The prompt of each example as a number."""
        return np.array([self._place[_unit(one)] for one in examples], np.int64)


def _shown(judged: RichJudged, several: Sequence[Mapping[str, Predicted]]) -> list[RichExample]:
    """What people said of the images that every model predicts."""
    return [
        judged.examples[image]
        for image in several[0]
        if image in judged.examples and all(image in predicted for predicted in several)
    ]


def _together(models: Sequence[_Measured], weights: NDArray[np.int32], settings: Settings) -> Together:
    """The mean of one figure over models; only prompts that it rests on count as resampled."""
    prompts, place = np.unique(np.concatenate([one.prompts for one in models]), return_inverse=True)

    def mean(part: NDArray[np.integer]) -> NDArray[np.float64]:
        whole = np.zeros((len(part), weights.shape[1]), np.int32)
        whole[:, prompts] = part
        return np.asarray(np.mean([one.of(whole) for one in models], axis=0), np.float64)

    value = mean(np.ones((1, len(prompts)), np.int32))
    low, high = resampled_interval(
        value, mean(weights[:, prompts]), leave_one_out(mean, place), place, level=settings.level, rule="bca"
    )
    first = models[0]
    figure = Figure(
        first.aspect,
        first.statistic,
        float(value[0]),
        low,
        high,
        items=first.items,
        prompts=len(prompts),
        interval=OVER_PROMPTS,
    )
    once = np.ones((1, weights.shape[1]), np.int32)
    return Together(figure, tuple(float(one.of(once)[0]) for one in models))


def _measured(
    judged: RichJudged,
    shown: Sequence[RichExample],
    predicted: Mapping[str, Predicted],
    prompts: _Prompts,
    rule: Rule,
) -> Iterator[_Measured]:
    for aspect in judged.aspects:
        yield from _of_scores(aspect, shown, predicted, prompts)
    for aspect in sorted({aspect for one in shown for aspect in one.mapped}):
        yield from _of_heatmaps(aspect, shown, predicted, judged, prompts, rule)
    yield from _of_keywords(shown, predicted, prompts)


def _of_scores(
    aspect: str, shown: Sequence[RichExample], predicted: Mapping[str, Predicted], prompts: _Prompts
) -> Iterator[_Measured]:
    both = [one for one in shown if aspect in one.scores and aspect in predicted[one.image].scores]
    if len(both) < 3:
        return
    people = np.array([one.scores[aspect] for one in both])
    model = np.array([predicted[one.image].scores[aspect] for one in both])
    numbers = prompts.of(both)
    used, place = np.unique(numbers, return_inverse=True)
    for kind in CORRELATIONS:

        def correlated(weights: NDArray[np.integer], kind: Kind = kind) -> NDArray[np.float64]:
            return correlation_replicates(model, people, weights[:, used], kind=kind, clusters=place)

        yield _Measured(aspect, kind, correlated, numbers, len(both))


def _of_heatmaps(
    aspect: str,
    shown: Sequence[RichExample],
    predicted: Mapping[str, Predicted],
    judged: RichJudged,
    prompts: _Prompts,
    rule: Rule,
) -> Iterator[_Measured]:
    both = [one for one in shown if aspect in one.mapped and aspect in predicted[one.image].heatmaps]
    if not both:
        return
    values = np.empty((len(both), len(MEASURES)))
    empty = np.empty(len(both), np.bool_)
    for place, one in enumerate(both):  # one by one, as maps differ in size
        people = _within(decode_heatmap(judged.maps[one.image, aspect]).astype(np.float32))
        model = _sized(predicted[one.image].heatmaps[aspect], *people.shape)
        found = heatmap_agreement(model[None], people[None], rule=rule, threads=1)
        values[place] = [found.values[name][0] for name in MEASURES]
        empty[place] = found.empty[0]
    numbers = prompts.of(both)
    for column, name in enumerate(MEASURES):
        known = ~np.isnan(values[:, column])
        if known.any():
            yield _ratio(aspect, f"heatmap-{name}", values[known, column], np.ones(known.sum()), numbers[known])
        if name == "mse" and empty.any():
            alone = values[empty, column]
            yield _ratio(aspect, "heatmap-mse-empty", alone, np.ones(len(alone)), numbers[empty])


def _of_keywords(
    shown: Sequence[RichExample], predicted: Mapping[str, Predicted], prompts: _Prompts
) -> Iterator[_Measured]:
    both = [
        (one, said)
        for one in shown
        if one.misaligned is not None and (said := predicted[one.image].misaligned) is not None
    ]
    if not both:
        return
    counts = [len(one.misaligned or ()) for one, _ in both]
    agreed = keyword_agreement(
        np.concatenate([said > MISSED for _, said in both]),
        np.concatenate([np.array(one.misaligned, np.bool_) for one, _ in both]),
        np.repeat(np.arange(len(both)), counts),
    )
    numbers = prompts.of([one for one, _ in both])
    for pooling, sums in (("pooled", agreed.pooled_sums()), ("by-image", agreed.by_image_sums())):
        for name, (above, below) in sums.items():
            yield _ratio(KEYWORDS, f"keyword-{name}-{pooling}", above, below, numbers)


def _ratio(
    aspect: str,
    statistic: str,
    above: NDArray[np.float64],
    below: NDArray[np.float64],
    numbers: NDArray[np.int64],
) -> _Measured:
    """Σ above / Σ below over images, those of a prompt together."""

    def ratio(weights: NDArray[np.integer]) -> NDArray[np.float64]:
        sums = [np.bincount(numbers, column, weights.shape[1])[:, None] for column in (above, below)]
        return ratio_of_sums(sums[0], sums[1], weights)[:, 0]

    return _Measured(aspect, statistic, ratio, numbers, len(numbers))


def _unit(one: RichExample) -> str:
    """What is drawn together: images of one prompt; an image without one stands alone."""
    return one.prompt or f"\n{one.image}"


def _within(people: NDArray[np.float32]) -> NDArray[np.float32]:
    """People's map at its own size, or in proportion with the longest side at its limit."""
    shrink = SIDE / max(people.shape)
    if shrink >= 1:
        return people
    height, width = (max(round(side * shrink), 1) for side in people.shape)
    return _sized(people, height, width)


def _sized(heatmap: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    if heatmap.shape == (height, width):
        return heatmap
    return np.clip(resize_floats(heatmap[..., None], height, width, "bilinear")[..., 0], 0, 1)
