"""Other people's votes and rankings as our tables; what they did not publish is filled in, and named here.

Times are 1970-01-01 and 0 s, propensities 1, generators ``unknown`` unless they are told. Sizes and hashes of
images are read where their files are at hand; otherwise an image has 1 × 1 pixels and the hash ``unknown``.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import polars as pl

from beholder.errors import ImageError
from beholder.images.formats import UndecodableError
from beholder.images.inspection import read_header
from beholder.tables.catalogue import TABLES

UNKNOWN = "unknown"
NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Shown:
    """What is known of an image."""

    prompt: str | None
    generator: str = UNKNOWN
    style: str | None = None
    real: bool = False
    path: str | None = None
    """Where its file lies, if not where its id says."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One person's judgment of the images of one prompt: a choice, or a rank each."""

    question: str
    kind: str
    rater: str
    prompt: str
    images: tuple[str, ...]
    choice: str | None = None
    ranking: tuple[int, ...] | None = None
    at: datetime = NO_TIME


def tables_from(
    judged: Sequence[Judged],
    *,
    platform: str,
    images: Path | None,
    known: Mapping[str, Shown] = MappingProxyType({}),
) -> dict[str, pl.DataFrame]:
    """Prompts, images, trials, sessions, answers and marks; every person has one slot a question.

    ``known`` tells more of the images than that they were shown with a prompt.
    """
    people: dict[str, int] = {}
    places: dict[tuple[str, str], int] = {}
    filled: dict[tuple[str, int], int] = {}
    trials, answers, sessions = [], [], []
    for one in judged:
        whose = (one.question, one.rater)
        new = whose not in places
        if new:
            places[whose] = people[one.question] = people.get(one.question, -1) + 1
        slot = places[whose]
        session = f"{one.question}-{slot:04d}"
        if new:
            sessions.append(_session(one, session, slot, platform))
        position = filled.get((one.question, slot), 0)
        filled[one.question, slot] = position + 1
        trial = f"{session}-{position:04d}"
        trials.append(_trial(one, trial, slot, position))
        answers.append(_answer(one, trial, session))
    shown = {image: known.get(image) or Shown(one.prompt) for one in judged for image in one.images}
    rows: dict[str, list[dict[str, object]]] = {
        "prompts": prompt_rows([*(one.prompt for one in judged), *(about.prompt for about in shown.values())]),
        "images": image_rows(shown, images),
        "trials": trials,
        "sessions": sessions,
        "answers": answers,
        "marks": [],
    }
    return {name: TABLES[name].frame(part) for name, part in rows.items()}


def prompt_id(text: str) -> str:
    """Id of a prompt: the beginning of its hash, as ``beholder new`` gives it."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _session(one: Judged, session: str, slot: int, platform: str) -> dict[str, object]:
    return {
        "session": session,
        "rater": one.rater,
        "question": one.question,
        "slot": slot,
        "status": "complete",
        "started": one.at,
        "simulated": False,
        "platform": platform,
    }


def _trial(one: Judged, trial: str, slot: int, position: int) -> dict[str, object]:
    return {
        "trial": trial,
        "question": one.question,
        "kind": one.kind,
        "slot": slot,
        "position": position,
        "block": 0,
        "role": "test",
        "images": list(one.images),
        "prompt": prompt_id(one.prompt),
        "propensity": 1.0,
    }


def _answer(one: Judged, trial: str, session: str) -> dict[str, object]:
    return {
        "trial": trial,
        "session": session,
        "rater": one.rater,
        "question": one.question,
        "aspect": "preference",
        "attempt": 1,
        "choice": one.choice,
        "ranking": None if one.ranking is None else list(one.ranking),
        "seconds": 0.0,
        "valid": True,
        "answered": one.at,
    }


def image_rows(shown: Mapping[str, Shown], folder: Path | None) -> list[dict[str, object]]:
    """Rows of ``images``; a file that is absent is left unmeasured, all that cannot be read are named at once."""
    faults: list[str] = []
    rows: list[dict[str, object]] = []
    for image, about in shown.items():
        row: dict[str, object] = {
            "image": image,
            "path": about.path or image,
            "generator": about.generator,
            "real": about.real,
            "gold": False,
            "prompt": None if about.prompt is None else prompt_id(about.prompt),
            "style": about.style,
            "width": 1,
            "height": 1,
            "sha256": UNKNOWN,
        }
        file = None if folder is None else folder / (about.path or image)
        if file is not None and file.is_file():
            try:
                row |= _measured(file)
            except UndecodableError as error:
                faults.append(f"{image}: {error}")
        rows.append(row)
    if folder is not None and rows and not faults and all(row["sha256"] == UNKNOWN for row in rows):
        faults.append(f"none of the {len(rows):,} images lies here, such as {rows[0]['path']}")
    if faults:
        raise ImageError(str(folder), faults)
    return rows


def prompt_rows(texts: Iterable[str | None]) -> list[dict[str, object]]:
    """Rows of ``prompts``, each text once."""
    return [{"prompt": prompt_id(text), "text": text} for text in dict.fromkeys(texts) if text is not None]


def about_files(images: pl.DataFrame) -> list[str]:
    """A sentence on the image files that are not at hand; nothing where all are."""
    lacking = images.filter(pl.col("sha256") == UNKNOWN).height
    if not lacking:
        return []
    if lacking == images.height:
        return ["The image files are not at hand: sizes are unknown, and the report shows no examples."]
    return [f"The files of {lacking:,} of {images.height:,} images are not at hand; none of these is shown."]


def _measured(path: Path) -> dict[str, object]:
    header = read_header(path)
    return {"path": str(path.resolve()), "width": header.width, "height": header.height, "sha256": header.sha256}
