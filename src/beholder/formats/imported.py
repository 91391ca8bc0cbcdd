"""Other people's votes and rankings as our tables; what they did not publish is filled in, and named here.

Times are 1970-01-01 and 0 s, propensities 1, generators ``unknown``. Sizes and hashes of images are read where
their folder is given; otherwise an image has 1 × 1 pixels and the hash ``unknown``.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from PIL import Image, UnidentifiedImageError

from beholder.errors import ImageError
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import file_hash

UNKNOWN = "unknown"
NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


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


def tables_from(judged: Sequence[Judged], *, platform: str, images: Path | None) -> dict[str, pl.DataFrame]:
    """Prompts, images, trials, sessions, answers and marks; every person has one slot a question."""
    places: dict[tuple[str, str], int] = {}
    filled: dict[tuple[str, int], int] = {}
    trials, answers, sessions = [], [], []
    for one in judged:
        whose = (one.question, one.rater)
        new = whose not in places
        if new:
            places[whose] = sum(1 for question, _ in places if question == one.question)
        slot = places[whose]
        session = f"{one.question}-{slot:04d}"
        if new:
            sessions.append(_session(one, session, slot, platform))
        position = filled.get((one.question, slot), 0)
        filled[one.question, slot] = position + 1
        trial = f"{session}-{position:04d}"
        trials.append(_trial(one, trial, slot, position))
        answers.append(_answer(one, trial, session))
    shown = {image: one.prompt for one in judged for image in one.images}
    rows: dict[str, list[dict[str, object]]] = {
        "prompts": [{"prompt": prompt_id(text), "text": text} for text in dict.fromkeys(o.prompt for o in judged)],
        "images": list(_images(shown, images)),
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
        "started": NO_TIME,
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
        "answered": NO_TIME,
    }


def _images(shown: dict[str, str], folder: Path | None) -> Iterable[dict[str, object]]:
    """Rows of ``images``; all files that cannot be read are named at once."""
    faults: list[str] = []
    rows: list[dict[str, object]] = []
    for image, prompt in shown.items():
        row: dict[str, object] = {
            "image": image,
            "path": image,
            "generator": UNKNOWN,
            "real": False,
            "gold": False,
            "prompt": prompt_id(prompt),
            "width": 1,
            "height": 1,
            "sha256": UNKNOWN,
        }
        if folder is not None:
            try:
                row |= _measured(folder / image)
            except (OSError, UnidentifiedImageError) as error:
                faults.append(f"{image}: {error}")
        rows.append(row)
    if faults:
        raise ImageError(str(folder), faults)
    return rows


def _measured(path: Path) -> dict[str, object]:
    with Image.open(path) as picture:
        width, height = picture.size
    return {"path": str(path), "width": width, "height": height, "sha256": file_hash(path)}
