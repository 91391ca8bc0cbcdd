"""What a model says of images, drawn, and beside it what people said: cards for a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.images.thumbnail import data_uri, shrunk
from beholder.report.site.overlay import Layer, layer, ramp_of
from beholder.report.text.prompt_words import PromptWord, prompt_words
from beholder.report.text.words import people as number_of_people
from beholder.report.text.words import percent
from beholder.stats.prediction.heatmap_summary import HeatmapSummary, heatmap_summary

FAINT = 0.25
"""A model's chance that a word was missed is never quite 0: below this it is not told."""

MODEL = "model"


@dataclass(frozen=True, slots=True)
class Side:
    """What one side says: the model, or people."""

    who: str
    layers: Mapping[str, tuple[Layer, str]]
    """Aspect -> the map and a few words on it."""
    words: tuple[PromptWord, ...]


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One aspect, as far as each side scores it."""

    aspect: str
    model: AspectScore | None
    people: AspectScore | None


@dataclass(frozen=True, slots=True)
class Card:
    """One image with all that is said of it."""

    name: str
    prompt: str
    source: str | None
    alt: str
    sides: tuple[Side, ...]
    aspects: tuple[str, ...]
    """Those of the maps, in order."""
    scores: tuple[ScoreRow, ...]
    note: str

    @property
    def ramps(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The colours of the maps."""
        return tuple((aspect, ramp_of(aspect)) for aspect in self.aspects)


def card(
    name: str,
    prompt: str,
    picture: Image.Image | None,
    model: ImageFeedback,
    people: ImageFeedback | None,
    *,
    note: str = "",
    side: int,
) -> Card:
    """The card of an image; its pictures are ``side`` pixels long."""
    given = {MODEL: model} | ({number_of_people(people.people): people} if people else {})
    aspects = tuple(dict.fromkeys(aspect for said in given.values() for aspect in said.heatmaps))
    scored = dict.fromkeys(aspect for said in given.values() for aspect in said.scores)
    alt = f"{name}: {prompt}" if prompt else name
    small = None
    if picture is not None:
        small = shrunk(picture, side)
    return Card(
        name=name,
        prompt=prompt,
        source=data_uri(small) if small else None,
        alt=alt,
        sides=tuple(_side(who, said, prompt, small, alt, side) for who, said in given.items()),
        aspects=aspects,
        scores=tuple(
            ScoreRow(aspect, model.scores.get(aspect), people.scores.get(aspect) if people else None)
            for aspect in scored
        ),
        note=note,
    )


def legend(cards: Sequence[Card]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The colours of all maps that are shown."""
    return tuple(dict(ramp for one in cards for ramp in one.ramps).items())


def _side(who: str, said: ImageFeedback, prompt: str, picture: Image.Image | None, alt: str, side: int) -> Side:
    layers, by_model = {}, who == MODEL
    for aspect, heatmap in said.heatmaps.items():
        told = _told(heatmap_summary(heatmap), by_model=by_model)
        layers[aspect] = (layer(heatmap, picture, aspect, f"{alt}; {aspect}, {who}: {told}", side=side), told)
    words: tuple[PromptWord, ...] = ()
    if said.missed is not None:
        shares = np.nan_to_num(said.missed).tolist()  # nan: the word was not read
        told, faint = ("chance {}", FAINT) if by_model else (f"{{}} of {who}", 0.0)
        words = prompt_words(prompt, shares, told, faint)
    return Side(who, layers, words)


def _told(found: HeatmapSummary, *, by_model: bool) -> str:
    if found.above_half:
        return f"{percent(found.above_half)} of the area, {found.where}"
    if by_model:
        return f"nowhere likely; at most {percent(found.peak)}, {found.where}"
    return f"by up to {percent(found.peak)}, {found.where}" if found.peak else "nobody marked a place"
