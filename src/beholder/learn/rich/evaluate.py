"""How far predicted rich feedback agrees with people: the figures of the paper's four tables, with intervals.

Scores: Pearson's and Spearman's correlation. Heatmaps: the mean squared error over all images and over those where
nobody marked anything, and CC, KLD, SIM, NSS and AUC-Judd over the others, pixels that anybody marked being the
fixated ones. Keywords: precision, recall and F1 of misaligned words, pooled and by image. All intervals resample
prompts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beholder.learn.evaluate import OVER_PROMPTS, Figure, Settings
from beholder.learn.rich.examples import RichExample, RichJudged
from beholder.models.resize import resize_floats
from beholder.stats.bootstrap import clustered_ratio, person_weights
from beholder.stats.correlation import Kind
from beholder.stats.correlation_bootstrap import bootstrap_correlation
from beholder.stats.heatmap_agreement import MEASURES, Rule, heatmap_agreement
from beholder.stats.keyword_agreement import keyword_agreement
from beholder.tables.heatmap import decode_heatmap

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
    misaligned: NDArray[np.bool_] | None
    """For each word of the prompt."""


def rich_figures(
    judged: RichJudged, predicted: Mapping[str, Predicted], settings: Settings, *, rule: Rule = "any"
) -> list[Figure]:
    """All figures of the predicted images."""
    shown = [judged.examples[image] for image in predicted if image in judged.examples]
    weights = _weights(shown, settings)
    figures: list[Figure] = []
    for aspect in judged.aspects:
        figures += _of_scores(aspect, shown, predicted, weights, settings)
    for aspect in sorted({aspect for one in shown for aspect in one.mapped}):
        figures += _of_heatmaps(aspect, shown, predicted, judged, weights, settings, rule)
    return [*figures, *_of_keywords(shown, predicted, weights, settings)]


def _of_scores(
    aspect: str,
    shown: Sequence[RichExample],
    predicted: Mapping[str, Predicted],
    weights: "_Weights",
    settings: Settings,
) -> Iterator[Figure]:
    both = [one for one in shown if aspect in one.scores and aspect in predicted[one.image].scores]
    if len(both) < 3:
        return
    people = np.array([one.scores[aspect] for one in both])
    model = np.array([predicted[one.image].scores[aspect] for one in both])
    groups = weights.groups(both)
    drawn = weights.drawn[:, np.unique(groups)]
    place = np.unique(groups, return_inverse=True)[1]
    for kind in CORRELATIONS:
        found = bootstrap_correlation(model, people, drawn, kind=kind, clusters=place, level=settings.level)
        yield Figure(
            aspect,
            kind,
            found.value,
            found.low,
            found.high,
            items=len(both),
            prompts=drawn.shape[1],
            interval=OVER_PROMPTS,
        )


def _of_heatmaps(
    aspect: str,
    shown: Sequence[RichExample],
    predicted: Mapping[str, Predicted],
    judged: RichJudged,
    weights: "_Weights",
    settings: Settings,
    rule: Rule,
) -> Iterator[Figure]:
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
    groups = weights.groups(both)
    for column, name in enumerate(MEASURES):
        yield replace(
            _mean(values[:, column], groups, weights, settings), aspect=aspect, statistic=f"heatmap-{name}"
        )
        if name == "mse" and empty.any():
            alone = np.where(empty, values[:, column], np.nan)
            yield replace(_mean(alone, groups, weights, settings), aspect=aspect, statistic="heatmap-mse-empty")


def _of_keywords(
    shown: Sequence[RichExample], predicted: Mapping[str, Predicted], weights: "_Weights", settings: Settings
) -> Iterator[Figure]:
    both = [
        (one, said)
        for one in shown
        if one.misaligned is not None and (said := predicted[one.image].misaligned) is not None
    ]
    if not both:
        return
    counts = [len(one.misaligned or ()) for one, _ in both]
    agreed = keyword_agreement(
        np.concatenate([said for _, said in both]),
        np.concatenate([np.array(one.misaligned, np.bool_) for one, _ in both]),
        np.repeat(np.arange(len(both)), counts),
    )
    groups = weights.groups([one for one, _ in both])
    plain = Figure(KEYWORDS, "", np.nan, items=sum(counts), interval=OVER_PROMPTS)
    for pooling, estimates in (
        ("pooled", agreed.pooled_estimates(weights.drawn, clusters=groups, level=settings.level)),
        ("by-image", agreed.by_image_estimates(weights.drawn, clusters=groups, level=settings.level)),
    ):
        for name, one in estimates.items():
            yield replace(
                plain, statistic=f"keyword-{name}-{pooling}", value=one.value, low=one.low, high=one.high
            )


def _mean(
    column: NDArray[np.float64], groups: NDArray[np.int64], weights: "_Weights", settings: Settings
) -> Figure:
    """The mean over images on which a measure is defined."""
    known = ~np.isnan(column)
    if not known.any():
        return Figure("", "", np.nan)
    size = weights.drawn.shape[1]
    above = np.bincount(groups[known], column[known], size)
    below = np.bincount(groups[known], minlength=size).astype(np.float64)
    one = clustered_ratio(above[:, None], below[:, None], weights.drawn, level=settings.level)[0]
    prompts = int((below > 0).sum())
    return Figure(
        "", "", one.value, one.low, one.high, items=int(known.sum()), prompts=prompts, interval=OVER_PROMPTS
    )


@dataclass(frozen=True, eq=False)
class _Weights:
    """How often each prompt is drawn in each draw."""

    drawn: NDArray[np.int32]  # (draws, prompts)
    place: Mapping[str, int]

    def groups(self, examples: Sequence[RichExample]) -> NDArray[np.int64]:
        """The prompt of each example as a number."""
        return np.array([self.place[_unit(one)] for one in examples], np.int64)


def _weights(shown: Sequence[RichExample], settings: Settings) -> _Weights:
    place = {unit: number for number, unit in enumerate(sorted({_unit(one) for one in shown}))}
    rng = np.random.default_rng(settings.seed)
    return _Weights(person_weights(np.zeros(len(place), np.int64), settings.draws, rng), place)


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
