"""jsPsych: one JSON list, one object per trial with ``trial_type``, ``trial_index``, ``time_elapsed``, ``rt``,
``stimulus`` and ``response``, and properties of ours for the rest.

A trial with several aspects has one object, its ``response`` an object by aspect, as jsPsych's survey plugins have
it; otherwise ``response`` is the answer itself: a text, a number or a list of ranks.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from beholder.formats.answered import public_paths
from beholder.formats.format import Tables, Written
from beholder.formats.reading import Entry, check_entries, read_list
from beholder.study.kinds.catalogue import KINDS
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES

FILE = "jspsych.json"

NEEDED = ("trial_type", "rt", "response", "subject_id", "session", "trial", "question", "aspects", "attempt", "at")


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """Every answer of the study, spoiled ones too, rater after rater in the order of their trials."""
    kinds = {question.name: question.kind for question in study.questions}
    paths = public_paths(tables["images"])
    started = dict(tables["sessions"].select("session", "started").iter_rows())
    trials = tables["trials"].select("trial", "images", "role", "position")
    answers = tables["answers"].join(trials, on="trial", maintain_order="left")
    entries: list[Entry] = []
    counts: dict[str, int] = {}
    for part in answers.partition_by("session", "trial", "attempt", maintain_order=True):
        rows = part.to_dicts()
        session = str(rows[0]["session"])
        index = counts[session] = counts.get(session, -1) + 1
        entries.append(_entry(rows, kinds[rows[0]["question"]], paths, started[session], index))
    (folder / FILE).write_text(json.dumps(entries, ensure_ascii=False, indent=1), encoding="utf-8")
    return Written((folder / FILE,), () if entries else ("no answers yet",))


def read(path: Path) -> pl.DataFrame:
    """The ``answers`` table of a file that this module wrote, or that has the same properties."""
    entries = read_list(path)
    check_entries(path, entries, _faults)
    return TABLES["answers"].frame([row for entry in entries for row in _rows(entry)])


def _entry(rows: list[dict[str, Any]], kind: str, paths: dict[str, str], started: datetime, index: int) -> Entry:
    first = rows[0]
    responses = {row["aspect"]: _response(row) for row in rows}
    images = [paths[image] for image in first["images"]]
    return {
        "trial_type": KINDS[kind].traits.jspsych,
        "trial_index": index,
        "time_elapsed": round((first["answered"] - started) / timedelta(milliseconds=1)),
        "rt": first["seconds"] * 1000,
        "stimulus": images[0] if len(images) == 1 else images,
        "response": responses if len(responses) > 1 else next(iter(responses.values())),
        "subject_id": first["rater"],
        "session": first["session"],
        "trial": first["trial"],
        "question": first["question"],
        "kind": kind,
        "role": first["role"],
        "aspects": list(responses),
        "attempt": first["attempt"],
        "valid": first["valid"],
        "exposure_ms": first["exposure_ms"],
        "intended_ms": first["intended_ms"],
        "dropped_frames": first["dropped_frames"],
        "at": first["answered"].isoformat(),
    }


def _response(row: dict[str, Any]) -> object:
    return next((row[name] for name in ("choice", "value", "ranking") if row[name] is not None), None)


def _rows(entry: Entry) -> list[dict[str, object]]:
    response = entry["response"]
    responses = response if isinstance(response, dict) else {entry["aspects"][0]: response}
    common = {
        "trial": entry["trial"],
        "session": entry["session"],
        "rater": entry["subject_id"],
        "question": entry["question"],
        "attempt": entry["attempt"],
        "seconds": entry["rt"] / 1000,
        "valid": entry.get("valid", True),
        "answered": datetime.fromisoformat(entry["at"]).astimezone(UTC),
        **{name: entry.get(name) for name in ("exposure_ms", "intended_ms", "dropped_frames")},
    }
    return [common | {"aspect": aspect} | _answer(value) for aspect, value in responses.items()]


def _answer(value: object) -> dict[str, object]:
    if isinstance(value, str):
        return {"choice": value}
    if isinstance(value, list):
        return {"ranking": value}
    return {} if value is None else {"value": float(str(value))}


def _faults(entry: Entry) -> list[str]:
    missing = [name for name in NEEDED if name not in entry]
    if missing:
        return [f"lacks {', '.join(missing)}"]
    faults = []
    if not isinstance(entry["rt"], int | float) or isinstance(entry["rt"], bool) or entry["rt"] < 0:
        faults.append(f"rt: milliseconds were expected; found {entry['rt']!r}")
    aspects = entry["aspects"]
    if not isinstance(aspects, list) or not aspects:
        faults.append("aspects: a list of names was expected")
    elif isinstance(entry["response"], dict) and set(entry["response"]) != set(aspects):
        faults.append(f"response: answers to {', '.join(map(str, aspects))} were expected")
    try:
        datetime.fromisoformat(str(entry["at"]))
    except ValueError:
        faults.append(f"at: a moment as in 2026-01-31T12:00:00+00:00 was expected; found {entry['at']!r}")
    return faults
