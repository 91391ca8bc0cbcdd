"""What a model says about images, side by side with what raters said: cards for a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.images.thumbnail import data_uri, shrunk
from beholder.report.site.overlay import Layer, build_layer, ramp_of
from beholder.report.text.prompt_words import PromptWord, mark_words
from beholder.report.text.words import count_raters, percent
from beholder.stats.prediction.heatmap_summary import HeatmapSummary, heatmap_summary

FAINT = 0.25
"""A model's probability that a word is misaligned is never quite 0: below this it is not shown."""

MODEL = "model"


@dataclass(frozen=True, slots=True)
class Side:
    """What one side says: the model, or the raters."""

    who: str
    layers: Mapping[str, tuple[Layer, str]]
    """Aspect -> the heatmap and a few words on it."""
    words: tuple[PromptWord, ...]


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The scores of one aspect by both sides."""

    aspect: str
    model: AspectScore | None
    raters: AspectScore | None


@dataclass(frozen=True, slots=True)
class Card:
    """One image with the feedback of both sides."""

    name: str
    prompt: str
    source: str | None
    alt: str
    sides: tuple[Side, ...]
    aspects: tuple[str, ...]
    """Aspects that have heatmaps, in order."""
    scores: tuple[ScoreRow, ...]
    note: str

    @property
    def ramps(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The colours of the heatmaps."""
        return tuple((aspect, ramp_of(aspect)) for aspect in self.aspects)


def build_card(
    name: str,
    prompt: str,
    picture: Image.Image | None,
    model: ImageFeedback,
    human: ImageFeedback | None,
    *,
    note: str = "",
    side: int,
) -> Card:
    """The card of an image; the longest side of its pictures is ``side`` pixels."""
    feedback = {MODEL: model} | ({count_raters(human.people): human} if human else {})
    aspects = tuple(dict.fromkeys(aspect for own in feedback.values() for aspect in own.heatmaps))
    scored = dict.fromkeys(aspect for own in feedback.values() for aspect in own.scores)
    alt = f"{name}: {prompt}" if prompt else name
    small = None
    if picture is not None:
        small = shrunk(picture, side)
    return Card(
        name=name,
        prompt=prompt,
        source=data_uri(small) if small else None,
        alt=alt,
        sides=tuple(_side(who, own, prompt, small, alt, side) for who, own in feedback.items()),
        aspects=aspects,
        scores=tuple(
            ScoreRow(aspect, model.scores.get(aspect), human.scores.get(aspect) if human else None)
            for aspect in scored
        ),
        note=note,
    )


def collect_ramps(cards: Sequence[Card]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The colours of all heatmaps on the cards."""
    return tuple(dict(ramp for card in cards for ramp in card.ramps).items())


def _side(
    who: str, feedback: ImageFeedback, prompt: str, picture: Image.Image | None, alt: str, side: int
) -> Side:
    layers, by_model = {}, who == MODEL
    for aspect, heatmap in feedback.heatmaps.items():
        extent = _extent(heatmap_summary(heatmap), by_model=by_model)
        layers[aspect] = (
            build_layer(heatmap, picture, aspect, f"{alt}; {aspect}, {who}: {extent}", side=side),
            extent,
        )
    words: tuple[PromptWord, ...] = ()
    if feedback.missed is not None:
        proportions = np.nan_to_num(feedback.missed).tolist()  # nan: the word was not read
        note, faint = ("probability {}", FAINT) if by_model else (f"{{}} of {who}", 0.0)
        words = mark_words(prompt, proportions, note, faint)
    return Side(who, layers, words)


def _extent(summary: HeatmapSummary, *, by_model: bool) -> str:
    if summary.above_half:
        return f"{percent(summary.above_half)} of the area, {summary.where}"
    if by_model:
        return f"nowhere likely; at most {percent(summary.peak)}, {summary.where}"
    return f"by up to {percent(summary.peak)}, {summary.where}" if summary.peak else "nothing marked"
