"""Other people's votes, rankings and ratings as our tables; what was not published is filled in, and named here.

Times are 1970-01-01 and 0 s, propensities 1, generators ``unknown`` unless they are named. Sizes and hashes of
images are read where their files are available; otherwise an image has 1 × 1 pixels and the hash ``unknown``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import polars as pl

from beholder.errors import ImageError
from beholder.images.formats import UndecodableError
from beholder.images.inspection import read_header
from beholder.tables.catalogue import TABLES
from beholder.tables.prompt_id import prompt_id

UNKNOWN = "unknown"
NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """What other people's files say of an image."""

    prompt: str | None
    generator: str = UNKNOWN
    style: str | None = None
    real: bool = False
    path: str | None = None
    """Where its file lies, if not where its id says."""


@dataclass(frozen=True, slots=True)
class ImportedJudgement:
    """One rater's judgement of the images of one prompt: a choice, a rank for each, or ratings by aspect."""

    question: str
    kind: str
    rater: str
    prompt: str | None
    images: tuple[str, ...]
    choice: str | None = None
    ranking: tuple[int, ...] | None = None
    at: datetime = NO_TIME
    ratings: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0


def tables_from(
    judgements: Sequence[ImportedJudgement],
    *,
    platform: str,
    images: Path | None,
    records: Mapping[str, ImageRecord] = MappingProxyType({}),
) -> dict[str, pl.DataFrame]:
    """Prompts, images, trials, sessions, answers and marks; every rater has one slot per question.

    ``records`` say more of the images than that they were shown with a prompt.
    """
    slot_counts: dict[str, int] = {}
    places: dict[tuple[str, str], int] = {}
    filled: dict[tuple[str, int], int] = {}
    trials, answers, sessions = [], [], []
    for judgement in judgements:
        whose = (judgement.question, judgement.rater)
        new = whose not in places
        if new:
            places[whose] = slot_counts[judgement.question] = slot_counts.get(judgement.question, -1) + 1
        slot = places[whose]
        session = f"{judgement.question}-{slot:04d}"
        if new:
            sessions.append(_session(judgement, session, slot, platform))
        position = filled.get((judgement.question, slot), 0)
        filled[judgement.question, slot] = position + 1
        trial = f"{session}-{position:04d}"
        trials.append(_trial(judgement, trial, slot, position))
        answers += _answers(judgement, trial, session)
    images_shown = {
        image: records.get(image) or ImageRecord(judgement.prompt)
        for judgement in judgements
        for image in judgement.images
    }
    prompts = [judgement.prompt for judgement in judgements]
    rows: dict[str, list[dict[str, object]]] = {
        "prompts": prompt_rows([*prompts, *(record.prompt for record in images_shown.values())]),
        "images": image_rows(images_shown, images),
        "trials": trials,
        "sessions": sessions,
        "answers": answers,
        "marks": [],
    }
    return {name: TABLES[name].frame(part) for name, part in rows.items()}


def _session(judgement: ImportedJudgement, session: str, slot: int, platform: str) -> dict[str, object]:
    return {
        "session": session,
        "rater": judgement.rater,
        "question": judgement.question,
        "slot": slot,
        "status": "complete",
        "started": judgement.at,
        "simulated": False,
        "platform": platform,
    }


def _trial(judgement: ImportedJudgement, trial: str, slot: int, position: int) -> dict[str, object]:
    return {
        "trial": trial,
        "question": judgement.question,
        "kind": judgement.kind,
        "slot": slot,
        "position": position,
        "block": 0,
        "role": "test",
        "images": list(judgement.images),
        "prompt": None if judgement.prompt is None else prompt_id(judgement.prompt),
        "propensity": 1.0,
    }


def _answers(judgement: ImportedJudgement, trial: str, session: str) -> list[dict[str, object]]:
    """One row per rated aspect, or one with the choice or ranking."""
    common: dict[str, object] = {
        "trial": trial,
        "session": session,
        "rater": judgement.rater,
        "question": judgement.question,
        "attempt": 1,
        "seconds": judgement.seconds,
        "valid": True,
        "answered": judgement.at,
    }
    if judgement.ratings:
        return [common | {"aspect": aspect, "value": rating} for aspect, rating in judgement.ratings.items()]
    ranking = None if judgement.ranking is None else list(judgement.ranking)
    return [common | {"aspect": "preference", "choice": judgement.choice, "ranking": ranking}]


def image_rows(records: Mapping[str, ImageRecord], folder: Path | None) -> list[dict[str, object]]:
    """Rows of ``images``; a file that is absent is left unmeasured, all that cannot be read are named at once."""
    faults: list[str] = []
    rows: list[dict[str, object]] = []
    for image, record in records.items():
        row: dict[str, object] = {
            "image": image,
            "path": record.path or image,
            "generator": record.generator,
            "real": record.real,
            "gold": False,
            "prompt": None if record.prompt is None else prompt_id(record.prompt),
            "style": record.style,
            "width": 1,
            "height": 1,
            "sha256": UNKNOWN,
        }
        file = None if folder is None else folder / (record.path or image)
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
    """A sentence on the image files that are not available; nothing where all are."""
    lacking = images.filter(pl.col("sha256") == UNKNOWN).height
    if not lacking:
        return []
    if lacking == images.height:
        return ["The image files are not available: sizes are unknown, and the report shows no examples."]
    return [f"The files of {lacking:,} of {images.height:,} images are not available; none of these is shown."]


def _measured(path: Path) -> dict[str, object]:
    header = read_header(path)
    return {"path": str(path.resolve()), "width": header.width, "height": header.height, "sha256": header.sha256}
