"""Rich feedback on an image: where people saw something wrong, and which words of the prompt they missed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from beholder.formats.imported import UNKNOWN
from beholder.report.leaderboard import Record
from beholder.report.thumbnail import SIDE, data_uri, opened, thumbnail
from beholder.report.words import count, percent
from beholder.study.kinds.rich_feedback import MARKED, RichFeedbackQuestion
from beholder.study.words import split_words
from beholder.tables.heatmap import decode_heatmap

MOST = 6
"""Images shown, to keep the file small."""

MEANS = ("mean", "published-mean")
"""Labels by which an image counts as badly rated."""

CANDIDATES = 8
"""Of each generator's worst rated images, the one with the most marked is shown."""

RAMPS: Mapping[str, tuple[str, ...]] = {
    "implausibility": ("#ffe08a", "#f4801f", "#c1121f", "#6a040f"),
    "misalignment": ("#b9f2ff", "#3ea6e0", "#1d4ed8", "#1e1b6b"),
}
"""Colours from a few people to all of them."""

GROUND = 0.55
"""Share of the image's own light that stays under a map, so that colours show and shapes are still seen."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A map over its image."""

    aspect: str
    source: str
    alt: str
    peak: float
    """Share of people at the most marked place."""
    marked: float
    """Share of the image that anyone marked."""


@dataclass(frozen=True, slots=True)
class PromptWord:
    """A word of the prompt, and the share of people who say that the image misses it."""

    before: str
    """What stands between it and the word before it."""
    text: str
    missed: float
    struck: bool
    """Whether the majority says so."""
    people: int


@dataclass(frozen=True, slots=True)
class Marked:
    """One image with its maps and its prompt."""

    generator: str
    rated: str
    source: str | None
    alt: str
    layers: tuple[Layer, ...]
    words: tuple[PromptWord, ...]
    people: int


@dataclass(frozen=True, slots=True)
class Heatmaps:
    """The images of one question that are shown, and the colours of the maps."""

    shown: tuple[Marked, ...]
    ramps: tuple[tuple[str, tuple[str, ...]], ...]


def heatmaps(
    question: RichFeedbackQuestion,
    order: Sequence[str],
    labels: pl.DataFrame,
    images: pl.DataFrame,
    prompts: Mapping[str, str],
    regions: Path,
    folder: Path,
) -> Heatmaps | None:
    """For each generator the badly rated image with the most marked; nothing where no places were marked.

    Generators stand in the given ``order``; where there is only one, or none is known, several images are shown.
    """
    if not regions.is_file():
        return None
    mine = labels.filter(pl.col("question") == question.name)
    candidates = _candidates(question.aspects[0].name, order, mine, images)
    maps = _maps(regions, question.name, [image for own in candidates.values() for image in own])
    chosen = list(_chosen(candidates, maps))[:MOST]
    about = {row["image"]: row for row in images.filter(pl.col("image").is_in(chosen)).to_dicts()}
    shown = tuple(_marked(question, about[image], mine, prompts, maps, folder) for image in chosen)
    aspects = [aspect for aspect in MARKED if any(layer.aspect == aspect for m in shown for layer in m.layers)]
    return Heatmaps(shown, tuple((aspect, RAMPS[aspect]) for aspect in aspects)) if shown else None


def overlay(heatmap: NDArray[np.float64], image: NDArray[np.float64] | None, ramp: Sequence[str]) -> Image.Image:
    """The map in colours over the image in grey: both (height, width), from 0 to 1; no image is an even ground."""
    under = np.full(heatmap.shape, 0.8) if image is None else image
    grey = 255 * (1 - GROUND + GROUND * under)[..., None]  # (height, width, 1), paler than the image
    stops = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in ramp], dtype=np.float64)
    places = np.linspace(0, 1, len(stops))
    colours = np.stack([np.interp(heatmap, places, stops[:, channel]) for channel in range(3)], axis=-1)
    cover = np.where(heatmap > 0, 0.55 + 0.3 * heatmap, 0.0)[..., None]
    return Image.fromarray(np.rint(cover * colours + (1 - cover) * grey).astype(np.uint8))


def _candidates(
    aspect: str, order: Sequence[str], labels: pl.DataFrame, images: pl.DataFrame
) -> dict[str, list[str]]:
    """The images rated worst by one aspect, by generator."""
    rated = labels.filter((pl.col("aspect") == aspect) & pl.col("method").is_in(MEANS)).select("image", "value")
    known = rated.join(images.select("image", "generator"), on="image").sort("value", "image")
    found = known.group_by("generator", maintain_order=True).agg(pl.col("image").head(CANDIDATES))
    by_generator = dict(found.iter_rows())
    return {name: by_generator[name] for name in order or sorted(by_generator) if name in by_generator}


def _maps(regions: Path, question: str, wanted: Sequence[str]) -> dict[tuple[str, str], Record]:
    """The rows of ``regions`` of some images, by image and aspect."""
    rows = (
        pl.scan_parquet(regions)
        .filter((pl.col("question") == question) & pl.col("image").is_in(list(wanted)))
        .collect()
    )
    return {(row["image"], row["aspect"]): row for row in rows.to_dicts()}


def _chosen(candidates: Mapping[str, Sequence[str]], maps: Mapping[tuple[str, str], Record]) -> Iterator[str]:
    each = 1 if len(candidates) > 1 else MOST
    for own in candidates.values():
        mapped = [image for image in own if any((image, aspect) in maps for aspect in MARKED)]
        yield from sorted(mapped, key=lambda image: (-_marks(image, maps), image))[:each]


def _marks(image: str, maps: Mapping[tuple[str, str], Record]) -> float:
    found = [maps[image, aspect]["heatmap"] for aspect in MARKED if (image, aspect) in maps]
    return sum(float(decode_heatmap(png).mean()) for png in found)


def _marked(
    question: RichFeedbackQuestion,
    image: Record,
    labels: pl.DataFrame,
    prompts: Mapping[str, str],
    maps: Mapping[tuple[str, str], Record],
    folder: Path,
) -> Marked:
    name, prompt = image["image"], prompts.get(image["prompt"] or "", "")
    path = folder / image["path"] if image["sha256"] != UNKNOWN else None
    mine = labels.filter(pl.col("image") == name)
    regions = [maps[name, aspect] for aspect in MARKED if (name, aspect) in maps]
    alt = f"{image['generator']}: {prompt}" if prompt else f"an image of {image['generator']}"
    return Marked(
        generator=image["generator"],
        rated=_rated(question, mine),
        source=thumbnail(path) if path else None,
        alt=alt,
        layers=tuple(_layer(row, path, alt) for row in regions),
        words=_words(mine, prompt),
        people=max(row["raters"] for row in regions),
    )


def _rated(question: RichFeedbackQuestion, labels: pl.DataFrame) -> str:
    """The image's mean by the first aspect; its interval ends with the scale."""
    aspect, (lowest, highest) = question.aspects[0].name, question.scale()
    found = labels.filter((pl.col("aspect") == aspect) & pl.col("method").is_in(MEANS)).to_dicts()
    if not found:
        return ""
    row = found[0]
    known = row["low"] is not None and row["high"] is not None
    interval = f" ({max(row['low'], lowest):.1f} to {min(row['high'], highest):.1f})" if known else ""
    return f"{aspect} {row['value']:.2f}{interval}, {count(row['answers'], 'answer')}"


def _layer(region: Record, path: Path | None, alt: str) -> Layer:
    heatmap = decode_heatmap(region["heatmap"])
    peak, marked = float(heatmap.max()), float((heatmap > 0).mean())
    small = Image.fromarray(np.rint(255 * heatmap).astype(np.uint8))
    grey = None
    picture = opened(path) if path else None
    if picture is not None:
        picture.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
        small = small.resize(picture.size, Image.Resampling.BILINEAR)
        grey = np.asarray(picture.convert("L"), dtype=np.float64) / 255
    else:
        small.thumbnail((SIDE, SIDE), Image.Resampling.BILINEAR)
    aspect = region["aspect"]
    drawn = overlay(np.asarray(small, dtype=np.float64) / 255, grey, RAMPS[aspect])
    said = (
        f"{aspect} marked on {percent(marked)} of the area, by up to {percent(peak)} of {region['raters']} people"
    )
    return Layer(aspect, data_uri(drawn), f"{alt}; {said}", peak, marked)


def _words(labels: pl.DataFrame, prompt: str) -> tuple[PromptWord, ...]:
    rows = {row["word"]: row for row in labels.filter(pl.col("word").is_not_null()).to_dicts()}
    found = []
    end = 0
    for place, text in enumerate(split_words(prompt)):
        start = prompt.index(text, end)
        row = rows.get(place)
        share = row["value"] if row else 0.0
        found.append(PromptWord(prompt[end:start], text, share, share > 0.5, row["raters"] if row else 0))
        end = start + len(text)
    return tuple(found)
