"""RichHF-18K: a TFRecord file with one Example per image, the consolidated feedback of several raters.

``artifact_score``, ``misalignment_score``, ``aesthetics_score``, ``overall_score``: the mean of raters' scores, as
a proportion of the scale, higher is better. ``artifact_map``, ``misalignment_map``: mean over raters of the union
of disks around their points, an 8-bit picture. ``prompt_misalignment_label``: a 0 or 1 for each word, 0 where most
raters say that the image misses it.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from beholder.errors import TableError
from beholder.feedback.heatmap import encode_heatmap
from beholder.formats.answered import answered_tests
from beholder.formats.example import Value, decode_example, encode_example
from beholder.formats.format import Tables, Written, questions_of
from beholder.formats.reading import read_bytes
from beholder.formats.tfrecord import frame_records, unframe_records
from beholder.study.kinds.catalogue import marked_questions
from beholder.study.kinds.traits import MarkedQuestion
from beholder.study.study import Study
from beholder.study.words import split_words
from beholder.tables.catalogue import TABLES

SIDE = 512
SCORES = {
    "artifact_score": "plausibility",
    "misalignment_score": "alignment",
    "aesthetics_score": "aesthetics",
    "overall_score": "overall",
}
"""Their names → our aspects."""

MAPS = {"artifact_map": "implausibility", "misalignment_map": "misalignment"}
FAINTEST = 16
"""Least level that counts as marked: the released maps were compressed, and what is fainter is ringing."""


@dataclass(frozen=True, eq=False, slots=True)
class RichRecord:
    """One image's feedback. Maps stay encoded, as those of a whole release would not fit into memory."""

    filename: str
    scores: Mapping[str, float]
    pictures: Mapping[str, bytes]
    """the encoded maps, empty where there is none"""
    words: tuple[int, ...]
    """a number for each word of the prompt, 0 where it is misaligned"""

    @property
    def maps(self) -> dict[str, NDArray[np.uint8]]:
        """The maps (height, width) from 0 to 255, decoded now; (0, 0) where there is none."""
        return {name: _decoded(picture) for name, picture in self.pictures.items()}

    @property
    def uid(self) -> str:
        """Name of the image: Pick-a-Pic's in the release."""
        return Path(self.filename).stem


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """A TFRecord file for every question of rich feedback, named by it."""
    files = []
    names = questions_of(study, ("rich-feedback",), "RichHF's format")
    for question in marked_questions(map(study.question, names)):
        records = published(question.name, tables) or consolidated(question, tables)
        path = folder / f"{question.name}.tfrecord"
        path.write_bytes(b"".join(frame_records(encode_example(_features(record)) for record in records)))
        files.append(path)
    return Written(tuple(files))


def read(path: Path) -> tuple[RichRecord, ...]:
    """All records of a file; the faults of all of them are raised at once."""
    records, faults = [], []
    for number, payload in enumerate(unframe_records(read_bytes(path), source=str(path))):
        try:
            records.append(_record(decode_example(payload)))
        except (ValueError, KeyError, UnidentifiedImageError) as error:
            faults.append(f"record {number}: {error}")
    if faults:
        raise TableError(str(path), faults)
    return tuple(records)


def consolidated(question: MarkedQuestion, tables: Tables) -> list[RichRecord]:
    """Raters' feedback on each image, consolidated as the paper does."""
    answers = answered_tests(tables, question.name).with_columns(image=pl.col("images").list.first())
    sizes = {row[0]: row[1:] for row in tables["images"].select("image", "width", "height").iter_rows()}
    trials = answers.unique(["trial", "session"], maintain_order=True).select("trial", "session", "image", "text")
    marks = tables["marks"].drop("image").join(trials, on=["trial", "session"])
    low, high = question.scale()
    records = []
    for (image,), part in sorted(answers.partition_by("image", as_dict=True).items()):
        raters = part.unique(["trial", "session"])
        theirs = marks.filter(pl.col("image") == image)
        means = dict(part.group_by("aspect").agg(pl.col("value").mean()).iter_rows())
        width, height = sizes[str(image)]
        pictures = {
            name: encode_heatmap(
                _map(theirs.filter(pl.col("aspect") == aspect), raters.height, question.radius, width / height)
                / 255
            )
            for name, aspect in MAPS.items()
        }
        scores = {name: (means[aspect] - low) / (high - low) for name, aspect in SCORES.items() if aspect in means}
        words = _words(theirs, str(part["text"][0]), raters.height)
        records.append(RichRecord(f"{question.name}/{image}.png", scores, pictures, words))
    return records


def published(question: str, tables: Tables) -> list[RichRecord]:
    """The records of an imported study, as they came; nothing where the question has answers instead."""
    if "published" not in tables:
        return []
    question_labels = tables["published"].filter(pl.col("question") == question)
    pictures = {
        (image, aspect): heatmap
        for image, aspect, heatmap in tables.get("published_regions", TABLES["published_regions"].empty())
        .filter(pl.col("question") == question)
        .select("image", "aspect", "heatmap")
        .iter_rows()
    }
    paths = dict(tables["images"].select("image", "path").iter_rows())
    records = []
    for (image,), part in question_labels.partition_by("image", as_dict=True, maintain_order=True).items():
        scores = dict(part.filter(pl.col("word").is_null()).select("aspect", "value").iter_rows())
        words = part.filter(pl.col("word").is_not_null()).sort("word")["value"]
        path = str(paths[str(image)])
        records.append(
            RichRecord(
                filename=f"{question}/{image}.png" if Path(path).is_absolute() else path,
                scores={name: scores[aspect] for name, aspect in SCORES.items() if aspect in scores},
                pictures={name: pictures.get((str(image), aspect), b"") for name, aspect in MAPS.items()},
                words=tuple(int(1 - value) for value in words),
            )
        )
    return records


def marked(levels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where at least one rater marked something, compression's ringing left out."""
    return levels >= FAINTEST


def _map(points: pl.DataFrame, raters: int, radius: float, aspect_ratio: float) -> NDArray[np.uint8]:
    """Mean over raters of their disks' union; ``radius`` is a proportion of the image height."""
    centres = (np.arange(SIDE) + 0.5) / SIDE
    total = np.zeros((SIDE, SIDE))
    for _, theirs in points.filter(pl.col("kind") == "point").group_by("session"):
        union = np.zeros((SIDE, SIDE), dtype=bool)
        for x, y in theirs.select("x", "y").iter_rows():
            across = ((centres - x) * aspect_ratio) ** 2  # (width,), in heights
            down = (centres - y) ** 2  # (height,)
            union |= down[:, None] + across[None, :] <= radius**2
        total += union
    levels: NDArray[np.uint8] = np.rint(total / max(raters, 1) * 255).astype(np.uint8)
    return levels


def _words(marks: pl.DataFrame, text: str, raters: int) -> tuple[int, ...]:
    clicked = marks.filter(pl.col("kind") == "word").group_by("word").agg(pl.col("session").n_unique())
    votes = dict(clicked.iter_rows())
    return tuple(0 if 2 * votes.get(place, 0) > raters else 1 for place in range(len(split_words(text))))


def _features(record: RichRecord) -> dict[str, Value]:
    return {
        "filename": (record.filename.encode(),),
        **{name: (float(value),) for name, value in record.scores.items()},
        **{name: (picture,) for name, picture in record.pictures.items()},
        "prompt_misalignment_label": (" ".join(map(str, record.words)).encode(),),
    }


def _record(features: Mapping[str, Value]) -> RichRecord:
    missing = [name for name in ("filename", *SCORES, *MAPS, "prompt_misalignment_label") if name not in features]
    if missing:
        raise ValueError(f"lacks {', '.join(missing)}")
    labels = _text(features["prompt_misalignment_label"]).split()
    if not set(labels) <= {"0", "1"}:
        raise ValueError(f"prompt_misalignment_label holds {' '.join(labels)!r}; zeros and ones were expected")
    return RichRecord(
        filename=_text(features["filename"]),
        scores={name: _score(features[name], name) for name in SCORES},
        pictures={name: _picture(features[name]) for name in MAPS},
        words=tuple(int(label) for label in labels),
    )


def _score(values: Sequence[object], name: str) -> float:
    if len(values) != 1 or not isinstance(values[0], float):
        raise ValueError(f"{name}: one number was expected")
    return values[0]


def _text(values: Sequence[object]) -> str:
    if not values:
        return ""
    if not isinstance(values[0], bytes):
        raise ValueError("bytes were expected")
    return values[0].decode()


def _picture(values: Sequence[object]) -> bytes:
    """The bytes of a map, tried whether they can be decoded."""
    picture = values[0] if values else b""
    if not isinstance(picture, bytes):
        raise ValueError("bytes were expected")
    _decoded(picture)
    return picture


def _decoded(picture: bytes) -> NDArray[np.uint8]:
    """A map in whichever encoding it came: the beginning of its bytes tells."""
    if not picture:
        return np.zeros((0, 0), dtype=np.uint8)
    with Image.open(io.BytesIO(picture)) as image:
        return np.asarray(image.convert("L"), dtype=np.uint8)
