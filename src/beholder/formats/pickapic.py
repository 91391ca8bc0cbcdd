"""Pick-a-Pic (v1 and v2): a row a vote between two images of one caption, in Parquet or JSON lines.

``label_0`` and ``label_1`` are 1 and 0, 0 and 1, or ½ each for a tie; ``model_0`` and ``model_1`` made the images;
``user_id`` counts the people. The pictures in ``jpg_0`` and ``jpg_1`` are neither read nor written.
"""

import json
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from beholder.errors import TableError
from beholder.formats.answered import answered_tests, public_paths
from beholder.formats.format import Imported, Tables, Written, questions_of
from beholder.formats.imported import NO_TIME, UNKNOWN, Judged, Shown, about_files, tables_from
from beholder.formats.reading import Entry, check_entries, read_all, read_bytes, read_text
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.study.study import Study

QUESTION = "pickapic"
FILE = "pickapic.parquet"
LABELS = {"left": (1.0, 0.0), "right": (0.0, 1.0), "tie": (0.5, 0.5)}
NEEDED = ("image_0_uid", "image_1_uid", "label_0", "label_1", "caption")
WANTED = (*NEEDED, "user_id", "model_0", "model_1", "created_at", "has_label")
NOBODY = "user-unknown"
SHOWN = 5
POINTER_SIZE = 1024
"""Bytes that no pointer of git-LFS has."""


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """Every vote of the pair questions; people are numbered, as ``user_id`` is a number."""
    images = tables["images"]
    generator, paths = dict(images.select("image", "generator").iter_rows()), public_paths(images)
    rows: list[dict[str, object]] = []
    people: dict[str, int] = {}
    for name in questions_of(study, ("pair",), "Pick-a-Pic"):
        columns = ("choice", "text", "images", "rater", "answered")
        for choice, text, (left, right), rater, at in answered_tests(tables, name).select(columns).iter_rows():
            first, second = LABELS[choice]
            rows.append(
                {
                    "are_different": left != right,
                    "best_image_uid": {"left": left, "right": right}.get(choice, "none"),
                    "caption": text,
                    "created_at": at.replace(tzinfo=None),
                    "has_label": True,
                    "image_0_uid": left,
                    "image_0_url": paths[left],
                    "image_1_uid": right,
                    "image_1_url": paths[right],
                    "label_0": first,
                    "label_1": second,
                    "model_0": generator[left],
                    "model_1": generator[right],
                    "ranking_id": len(rows),
                    "user_id": people.setdefault(rater, len(people)),
                }
            )
    if not rows:
        return Written((), ("no answers yet",))
    frame = pl.DataFrame(rows).with_columns(num_example_per_prompt=pl.len().over("caption").cast(pl.Int64))
    frame.write_parquet(folder / FILE)
    return Written(
        (folder / FILE,), ("people are numbered from 0", "jpg_0 and jpg_1 are left out: the pictures stay files")
    )


def read(path: Path) -> list[Entry]:
    """The votes of a file, checked; the pictures are not read."""
    entries = _parquet(path) if path.suffix == ".parquet" else _lines(path)
    check_entries(path, entries, _faults)
    return entries


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from a file, or from all Parquet and JSON-lines files of a folder."""
    entries = [
        entry for part in read_all(str(source), [partial(read, file) for file in _files(source)]) for entry in part
    ]
    labelled = [entry for entry in entries if entry.get("has_label") is not False]
    judged = [_judged(entry) for entry in labelled]
    known, differences = _known(labelled)
    if not judged:
        raise TableError(str(source), ["no vote with a label"])
    tables = tables_from(judged, platform="pickapic", images=images, known=known)
    notes = ["Which image stood left is not told: image_0 is taken for it.", "Answer times are not told."]
    if len(labelled) < len(entries):
        notes.append(f"{len(entries) - len(labelled):,} of {len(entries):,} rows have no label and are left out.")
    if all(about.generator == UNKNOWN for about in known.values()):
        notes.append("The rows name no models, so nothing can be ranked.")
    if any(entry.get("user_id") is None for entry in labelled):
        notes.append("Rows without user_id count as one person's.")
    most = max(Counter(one.rater for one in judged).values())
    question = PairQuestion(name=QUESTION, design=Design(raters=tables["sessions"].height, trials=most))
    study = Study(name=QUESTION, title="Pick-a-Pic", description="Published votes.", questions=(question,))
    return Imported(study, tables, (*notes, *about_files(tables["images"])), tuple(differences))


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    files = sorted(path for path in source.iterdir() if path.suffix in (".parquet", ".jsonl"))
    if not files:
        raise TableError(str(source), ["no .parquet or .jsonl files here"])
    return files


def _parquet(path: Path) -> list[Any]:
    if not path.is_file() or path.stat().st_size < POINTER_SIZE:
        read_bytes(path)  # an absent file and a pointer of git-LFS are told as such
    try:
        there = pl.read_parquet_schema(path)
        rows = pl.read_parquet(path, columns=[name for name in WANTED if name in there]).to_dicts()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(str(path), [f"not a readable Parquet file ({error})"]) from error
    missing = [name for name in NEEDED if name not in there]
    if missing:
        raise TableError(str(path), [f"columns {', '.join(there)}; also expected {', '.join(missing)}"])
    return rows


def _lines(path: Path) -> list[Any]:
    found, faults = [], []
    for number, line in enumerate(read_text(path).splitlines()):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line))
        except ValueError as error:
            faults.append(f"line {number + 1}: not valid JSON: {error}")
    if faults:
        raise TableError(str(path), faults)
    return found


def _faults(entry: Entry) -> list[str]:
    faults = [
        f"{name}: a text was expected; found {entry.get(name)!r}"
        for name in ("image_0_uid", "image_1_uid", "caption")
        if not isinstance(entry.get(name), str)
    ]
    labels = (entry.get("label_0"), entry.get("label_1"))
    if entry.get("has_label") is not False and labels not in LABELS.values():
        faults.append(f"label_0 and label_1: 1 and 0, 0 and 1 or ½ each were expected; found {labels}")
    moment = entry.get("created_at")
    if isinstance(moment, str):
        try:
            datetime.fromisoformat(moment)
        except ValueError:
            faults.append(f"created_at: a moment was expected; found {moment!r}")
    return faults


def _judged(entry: Entry) -> Judged:
    names = {value: choice for choice, value in LABELS.items()}
    user = entry.get("user_id")
    return Judged(
        QUESTION,
        "pair",
        NOBODY if user is None else f"user-{user}",
        entry["caption"],
        (entry["image_0_uid"], entry["image_1_uid"]),
        choice=names[entry["label_0"], entry["label_1"]],
        at=_moment(entry.get("created_at")),
    )


def _moment(value: object) -> datetime:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        return NO_TIME
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _known(entries: list[Entry]) -> tuple[dict[str, Shown], list[str]]:
    """Caption and model of every image as its first row has them, and which images have others later."""
    known: dict[str, Shown] = {}
    changed: dict[str, None] = {}
    for entry in entries:
        for side in ("0", "1"):
            image = entry[f"image_{side}_uid"]
            about = Shown(entry["caption"], generator=entry.get(f"model_{side}") or UNKNOWN)
            if known.setdefault(image, about) != about:
                changed[image] = None
    if not changed:
        return known, []
    more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    line = (
        f"images with several captions or models, of which the first counts: {', '.join([*changed][:SHOWN])}{more}"
    )
    return known, [line]
