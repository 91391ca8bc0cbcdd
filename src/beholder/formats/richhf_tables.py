"""RichHF-18K's records as our tables: ``prompts``, ``images``, and labels and maps as published."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from beholder.formats.imported import UNKNOWN, prompt_rows
from beholder.formats.richhf import MAPS, SCORES, RichRecord
from beholder.study.words import split_words
from beholder.tables.catalogue import TABLES
from beholder.tables.prompt_id import prompt_id

QUESTION = "richhf"
RATERS = 3
"""How many raters judged each image of the release."""


@dataclass(frozen=True, eq=False, slots=True)
class RichTables:
    """The tables, and the images whose words and labels do not match in number (uid, words, labels)."""

    tables: Mapping[str, pl.DataFrame]
    mismatched: tuple[tuple[str, int, int], ...]


def tables_of(records: Sequence[RichRecord], captions: Mapping[str, str]) -> RichTables:
    """Labels and maps; ``captions`` (uid → prompt) is Pick-a-Pic's, and an image without one has no prompt."""
    images, labels, regions = [], [], list[dict[str, object]]()
    mismatched: list[tuple[str, int, int]] = []
    for record in records:
        text = captions.get(record.uid)
        images.append(_image(record, text))
        for name, aspect in SCORES.items():
            labels.append(_label(record, aspect, "published-mean", record.scores[name]))
        words = split_words(text) if text is not None else ()
        if text is not None and len(words) != len(record.words):
            mismatched.append((record.uid, len(words), len(record.words)))
        for place, label in enumerate(record.words):
            labels.append(_label(record, "misalignment", "published-majority", 1.0 - label, word=place))
        regions += _regions(record)
    rows: dict[str, list[dict[str, object]]] = {
        "prompts": prompt_rows(captions.get(record.uid) for record in records),
        "images": images,
        "published": labels,
        "published_regions": regions,
    }
    return RichTables({name: TABLES[name].frame(part) for name, part in rows.items()}, tuple(mismatched))


def _image(record: RichRecord, text: str | None) -> dict[str, object]:
    return {
        "image": record.uid,
        "path": record.filename,
        "generator": UNKNOWN,
        "real": False,
        "gold": False,
        "prompt": None if text is None else prompt_id(text),
        "width": 1,
        "height": 1,
        "sha256": UNKNOWN,
    }


def _label(
    record: RichRecord, aspect: str, method: str, value: float, *, word: int | None = None
) -> dict[str, object]:
    key = {"question": QUESTION, "aspect": aspect, "method": method, "image": record.uid}
    return key | {"word": word, "value": value, "raters": RATERS}


def _regions(record: RichRecord) -> Iterator[dict[str, object]]:
    """The maps as PNG, whatever they came as."""
    maps = record.maps
    for name, aspect in MAPS.items():
        if not maps[name].size:
            continue
        height, width = maps[name].shape
        yield {
            "question": QUESTION,
            "aspect": aspect,
            "image": record.uid,
            "heatmap": _png(maps[name]),
            "height": height,
            "width": width,
            "raters": RATERS,
        }


def _png(levels: NDArray[np.uint8]) -> bytes:
    """As ``encode_heatmap`` has it, without a way through proportions."""
    buffer = io.BytesIO()
    Image.fromarray(levels).save(buffer, "PNG")
    return buffer.getvalue()
