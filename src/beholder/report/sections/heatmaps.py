"""Rich feedback on images: heatmaps of what raters marked, and misaligned keywords of the prompt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from PIL import Image

from beholder.feedback.heatmap import decode_heatmap
from beholder.feedback.labels import SCORED_BY
from beholder.formats.imported import UNKNOWN
from beholder.images.thumbnail import SIDE, data_uri, open_or_none, shrunk
from beholder.report.site.overlay import Layer, build_layer, ramp_of
from beholder.report.tables.leaderboard import Record
from beholder.report.text.prompt_words import PromptWord, mark_words
from beholder.report.text.words import count, count_raters, percent
from beholder.study.kinds.rich_feedback import MARKED
from beholder.study.kinds.traits import MarkedQuestion
from beholder.study.words import split_words

MOST = 6
"""Images shown, to keep the file small."""

CANDIDATES = 8
"""Of this many worst rated images of a generator, the one with the most marks is shown."""


@dataclass(frozen=True, slots=True)
class MarkedImage:
    """One image with its heatmaps and its prompt."""

    generator: str
    rated: str
    source: str | None
    alt: str
    layers: tuple[Layer, ...]
    words: tuple[PromptWord, ...]
    raters: int


@dataclass(frozen=True, slots=True)
class Heatmaps:
    """Images of one question with their heatmaps, and the colours of the heatmaps."""

    images: tuple[MarkedImage, ...]
    ramps: tuple[tuple[str, tuple[str, ...]], ...]


def build_heatmaps(
    question: MarkedQuestion,
    order: Sequence[str],
    labels: pl.DataFrame,
    images: pl.DataFrame,
    prompts: Mapping[str, str],
    regions: Path,
    folder: Path,
    background: str,
) -> Heatmaps | None:
    """For each generator the badly rated image with the most marks; ``None`` where nothing was marked.

    Generators are in the given ``order``; where there is only one, or none is known, several images are shown.
    """
    if not regions.is_file():
        return None
    own_labels = labels.filter(pl.col("question") == question.name)
    candidates = _candidates(question.aspects[0].name, order, own_labels, images)
    maps = _maps(regions, question.name, [image for own in candidates.values() for image in own])
    chosen = list(_chosen(candidates, maps))[:MOST]
    about = {row["image"]: row for row in images.filter(pl.col("image").is_in(chosen)).to_dicts()}
    marked = tuple(
        _marked(question, about[image], own_labels, prompts, maps, folder, background) for image in chosen
    )
    aspects = [aspect for aspect in MARKED if any(layer.aspect == aspect for m in marked for layer in m.layers)]
    return Heatmaps(marked, tuple((aspect, ramp_of(aspect)) for aspect in aspects)) if marked else None


def _candidates(
    aspect: str, order: Sequence[str], labels: pl.DataFrame, images: pl.DataFrame
) -> dict[str, list[str]]:
    """The images rated worst by one aspect, by generator."""
    by = pl.col("method").is_in(list(SCORED_BY))
    rated = labels.filter(by & (pl.col("aspect") == aspect)).select("image", "value")
    by_rating = rated.join(images.select("image", "generator"), on="image").sort("value", "image")
    worst = by_rating.group_by("generator", maintain_order=True).agg(pl.col("image").head(CANDIDATES))
    by_generator = dict(worst.iter_rows())
    return {name: by_generator[name] for name in order or sorted(by_generator) if name in by_generator}


def _maps(regions: Path, question: str, images: Sequence[str]) -> dict[tuple[str, str], Record]:
    """The rows of ``regions`` of some images, by image and aspect."""
    rows = (
        pl.scan_parquet(regions)
        .filter((pl.col("question") == question) & pl.col("image").is_in(list(images)))
        .collect()
    )
    return {(row["image"], row["aspect"]): row for row in rows.to_dicts()}


def _chosen(candidates: Mapping[str, Sequence[str]], maps: Mapping[tuple[str, str], Record]) -> Iterator[str]:
    each = 1 if len(candidates) > 1 else MOST
    for own in candidates.values():
        mapped = [image for image in own if any((image, aspect) in maps for aspect in MARKED)]
        yield from sorted(mapped, key=lambda image: (-_marks(image, maps), image))[:each]


def _marks(image: str, maps: Mapping[tuple[str, str], Record]) -> float:
    heatmaps = [maps[image, aspect]["heatmap"] for aspect in MARKED if (image, aspect) in maps]
    return sum(float(decode_heatmap(png).mean()) for png in heatmaps)


def _marked(
    question: MarkedQuestion,
    image: Record,
    labels: pl.DataFrame,
    prompts: Mapping[str, str],
    maps: Mapping[tuple[str, str], Record],
    folder: Path,
    background: str,
) -> MarkedImage:
    name, prompt = image["image"], prompts.get(image["prompt"] or "", "")
    path = folder / image["path"] if image["sha256"] != UNKNOWN else None
    picture = open_or_none(path, background) if path else None
    own_labels = labels.filter(pl.col("image") == name)
    regions = [maps[name, aspect] for aspect in MARKED if (name, aspect) in maps]
    alt = f"{image['generator']}: {prompt}" if prompt else f"an image of {image['generator']}"
    return MarkedImage(
        generator=image["generator"],
        rated=_rated(question, own_labels),
        source=data_uri(shrunk(picture, SIDE)) if picture else None,
        alt=alt,
        layers=tuple(_layer(row, picture, alt) for row in regions),
        words=_words(own_labels, prompt),
        raters=max(row["raters"] for row in regions),
    )


def _rated(question: MarkedQuestion, labels: pl.DataFrame) -> str:
    """The image's mean by the first aspect; its confidence interval ends with the scale."""
    aspect, (lowest, highest) = question.aspects[0].name, question.scale()
    scores = labels.filter((pl.col("aspect") == aspect) & pl.col("method").is_in(list(SCORED_BY))).to_dicts()
    if not scores:
        return ""
    row = scores[0]
    has_interval = row["low"] is not None and row["high"] is not None
    interval = f" ({max(row['low'], lowest):.1f} to {min(row['high'], highest):.1f})" if has_interval else ""
    return f"{aspect} {row['value']:.2f}{interval}, {count(row['answers'], 'answer')}"


def _layer(region: Record, picture: Image.Image | None, alt: str) -> Layer:
    heatmap, aspect = decode_heatmap(region["heatmap"]), region["aspect"]
    peak, marked = float(heatmap.max()), float((heatmap > 0).mean())
    extent = (
        f"marked on {percent(marked)} of the area, by up to {percent(peak)} of {count_raters(region['raters'])}"
    )
    return build_layer(heatmap, picture, aspect, f"{alt}; {aspect} {extent}")


def _words(labels: pl.DataFrame, prompt: str) -> tuple[PromptWord, ...]:
    rows = {row["word"]: row for row in labels.filter(pl.col("word").is_not_null()).to_dicts()}
    proportions = [rows[place]["value"] if place in rows else 0.0 for place in range(len(split_words(prompt)))]
    raters = max((row["raters"] for row in rows.values()), default=0)
    return mark_words(prompt, proportions, f"{{}} of {count_raters(raters)}")
