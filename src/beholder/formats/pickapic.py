"""Pick-a-Pic (v1 and v2): one row per vote between two images of one caption, in Parquet or JSON lines.

``label_0`` and ``label_1`` are 1 and 0, 0 and 1, or ½ each for a tie; ``model_0`` and ``model_1`` made the images;
``user_id`` counts the raters. The pictures in ``jpg_0`` and ``jpg_1`` are neither read nor written.
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
from beholder.formats.imported import NO_TIME, UNKNOWN, ImageRecord, ImportedJudgement, about_files, tables_from
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
LISTED = 5
POINTER_SIZE = 1024
"""Bytes that no pointer of git-LFS has."""


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """Every vote of the pair questions; raters are numbered, as ``user_id`` is a number."""
    images = tables["images"]
    generator, paths = dict(images.select("image", "generator").iter_rows()), public_paths(images)
    rows: list[dict[str, object]] = []
    user_ids: dict[str, int] = {}
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
                    "user_id": user_ids.setdefault(rater, len(user_ids)),
                }
            )
    if not rows:
        return Written((), ("no answers yet",))
    frame = pl.DataFrame(rows).with_columns(num_example_per_prompt=pl.len().over("caption").cast(pl.Int64))
    frame.write_parquet(folder / FILE)
    return Written(
        (folder / FILE,), ("raters are numbered from 0", "jpg_0 and jpg_1 are left out: the pictures stay files")
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
    judgements = [_judgement(entry) for entry in labelled]
    records, differences = _image_records(labelled)
    if not judgements:
        raise TableError(str(source), ["no vote with a label"])
    tables = tables_from(judgements, platform="pickapic", images=images, records=records)
    notes = [
        "Which image stood left is not published: image_0 is taken for it.",
        "Answer times are not published.",
    ]
    if len(labelled) < len(entries):
        notes.append(f"{len(entries) - len(labelled):,} of {len(entries):,} rows have no label and are left out.")
    if all(about.generator == UNKNOWN for about in records.values()):
        notes.append("The rows name no models, so nothing can be ranked.")
    if any(entry.get("user_id") is None for entry in labelled):
        notes.append("Rows without user_id count as one rater's.")
    most = max(Counter(judgement.rater for judgement in judgements).values())
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
        read_bytes(path)  # reports an absent file and a pointer of git-LFS
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
    entries, faults = [], []
    for number, line in enumerate(read_text(path).splitlines()):
        if not line.strip():
            continue
        try:
            entries.append(json.loads(line))
        except ValueError as error:
            faults.append(f"line {number + 1}: not valid JSON: {error}")
    if faults:
        raise TableError(str(path), faults)
    return entries


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


def _judgement(entry: Entry) -> ImportedJudgement:
    names = {value: choice for choice, value in LABELS.items()}
    user = entry.get("user_id")
    return ImportedJudgement(
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


def _image_records(entries: list[Entry]) -> tuple[dict[str, ImageRecord], list[str]]:
    """Caption and model of every image as its first row has them, and which images have others later."""
    records: dict[str, ImageRecord] = {}
    changed: dict[str, None] = {}
    for entry in entries:
        for side in ("0", "1"):
            image = entry[f"image_{side}_uid"]
            record = ImageRecord(entry["caption"], generator=entry.get(f"model_{side}") or UNKNOWN)
            if records.setdefault(image, record) != record:
                changed[image] = None
    if not changed:
        return records, []
    more = f" and {len(changed) - LISTED} more" if len(changed) > LISTED else ""
    listed = ", ".join([*changed][:LISTED])
    return records, [f"images with several captions or models, of which the first counts: {listed}{more}"]
