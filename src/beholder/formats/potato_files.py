"""The files of a Potato project: its configuration, its items, and what each annotator answered.

Version 2 keeps each annotator's answers in ``user_state.json``, for each item a list of
``[{"schema": …, "name": …}, value]``; version 1 in ``annotated_instances.jsonl``, one line for each item. Where
both are there, the state counts.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from beholder.errors import TableError
from beholder.formats.imported import NO_TIME
from beholder.formats.reading import Entry, read_all, read_text, shortened

STATE, LINES = "user_state.json", "annotated_instances.jsonl"
SCHEMES = "annotation_schemes"
SPENT = re.compile(r"(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(\d+)s")
"""How version 1 writes the time that an item took, such as ``0d 0h 1m 12s``."""
SECONDS_OF = (86_400, 3_600, 60, 1)


@dataclass(frozen=True, slots=True)
class Answered:
    """What one annotator answered about one item: scheme → label → value, in the order of the file."""

    instance: str
    labels: Mapping[str, Mapping[str, Any]]
    last_changed: Mapping[tuple[str, str], float]
    """When a label of a scheme was last set, where that is recorded."""
    at: datetime = NO_TIME
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its folder, its configuration, items by id, and the answers of each annotator."""

    folder: Path
    settings: Entry
    items: Mapping[str, Entry]
    answers: Mapping[str, list[Answered]]

    @property
    def schemes(self) -> list[Entry]:
        """The annotation schemes that have a name."""
        return [scheme for scheme in self.settings[SCHEMES] if isinstance(scheme, dict) and scheme.get("name")]


def read_project(source: Path) -> Project:
    """Read a project from its folder or its configuration file; the faults of all its files are raised at once."""
    path, settings = _read_settings(source)
    data_files = settings.get("data_files") or []
    names = [entry.get("path") if isinstance(entry, dict) else entry for entry in data_files]
    id_key = str((settings.get("item_properties") or {}).get("id_key", "id"))
    folder = _base(path, settings, [str(name) for name in names])
    output = folder / str(settings.get("output_annotation_dir", "annotation_output"))
    users = sorted(part.parent for part in output.glob(f"*/{STATE}"))
    users = sorted({*users, *(part.parent for part in output.glob(f"*/{LINES}"))})
    faults = [] if names else ["data_files: the files of the items were expected; found none"]
    faults += [] if users else [f"no {STATE} or {LINES} in the folders below {output}"]
    if faults:
        raise TableError(str(path), faults)
    items: dict[str, Entry] = {}
    answers: dict[str, list[Answered]] = {}

    def add_items(name: str) -> None:
        items.update(_read_items(folder / name, id_key))

    def add_answers(user: Path) -> None:
        answers[user.name] = _read_answers(user)

    readers = [*(partial(add_items, str(name)) for name in names), *(partial(add_answers, user) for user in users)]
    read_all(str(folder), readers)
    return Project(folder, settings, items, answers)


def _read_settings(source: Path) -> tuple[Path, Entry]:
    """The configuration: the file itself, or the only YAML file of the folder that has annotation schemes."""
    if not source.exists():
        raise TableError(str(source), ["no such file or folder"])
    patterns = ("*.yaml", "*.yml", "configs/*.yaml", "configs/*.yml")
    files = [source] if source.is_file() else sorted(path for part in patterns for path in source.glob(part))
    contents = read_all(str(source), [partial(_read_yaml, path) for path in files])
    projects = [(path, content) for path, content in zip(files, contents, strict=True) if SCHEMES in content]
    if len(projects) != 1:
        listed = ", ".join(str(path) for path, _ in projects) or "none"
        raise TableError(str(source), [f"one YAML file with {SCHEMES} was expected; found {listed}"])
    path, settings = projects[0]
    if not isinstance(settings[SCHEMES], list):
        raise TableError(str(path), [f"{SCHEMES}: a list was expected"])
    return path, settings


def _read_yaml(path: Path) -> Entry:
    try:
        content = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise TableError(str(path), [f"not valid YAML: {error}"]) from error
    return content if isinstance(content, dict) else {}


def _base(path: Path, settings: Entry, names: list[str]) -> Path:
    """The folder that paths of the configuration start from: the first in which the data file lies."""
    own = path.parent
    candidates = [own / str(settings.get("task_dir", ".")), own, own.parent]
    return next(
        (folder for folder in candidates if names and (folder / names[0]).is_file()),
        candidates[0],
    )


def _read_items(path: Path, id_key: str) -> dict[str, Entry]:
    """Items by id from a list in JSON, JSON lines, CSV or TSV."""
    text = read_text(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        entries: list[Any] = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    else:
        entries = _json_entries(path, text)
    faults = [
        f"entry {number}: an object with '{id_key}' was expected"
        for number, entry in enumerate(entries)
        if not isinstance(entry, dict) or entry.get(id_key) in (None, "")
    ]
    if faults:
        raise TableError(str(path), shortened(faults))
    return {str(entry[id_key]): entry for entry in entries}


def _json_entries(path: Path, text: str) -> list[Any]:
    try:
        content = json.loads(text)
    except ValueError:
        return _json_lines(path, text)
    return content if isinstance(content, list) else [content]


def _json_lines(path: Path, text: str) -> list[Any]:
    entries, faults = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                entries.append(json.loads(line))
            except ValueError as error:
                faults.append(f"line {number}: not valid JSON: {error}")
    if faults:
        raise TableError(str(path), shortened(faults))
    return entries


def _read_answers(user: Path) -> list[Answered]:
    """What an annotator answered, in the order in which items were assigned."""
    if not (user / STATE).is_file():
        return _read_lines(user / LINES)
    path = user / STATE
    try:
        state = json.loads(read_text(path))
    except ValueError as error:
        raise TableError(str(path), [f"not valid JSON: {error}"]) from error
    labels = state.get("instance_id_to_label_to_value") if isinstance(state, dict) else None
    if not isinstance(labels, dict):
        if (user / LINES).is_file():
            return _read_lines(user / LINES)
        raise TableError(str(path), ["instance_id_to_label_to_value: an object by item was expected"])
    ordering = {str(instance): place for place, instance in enumerate(state.get("instance_id_ordering") or [])}
    behaviour = state.get("instance_id_to_behavioral_data") or {}
    answers, faults = [], []
    for instance in sorted(labels, key=lambda name: ordering.get(name, len(ordering))):
        try:
            by_scheme = _by_scheme(labels[instance])
        except ValueError as error:
            faults.append(f"{instance}: {error}")
            continue
        answers.append(_answered(instance, by_scheme, behaviour.get(instance)))
    if faults:
        raise TableError(str(path), shortened(faults))
    return answers


def _by_scheme(labels: object) -> dict[str, dict[str, Any]]:
    """Scheme → label → value, from a list of pairs or from objects; an error where it is neither."""
    if isinstance(labels, dict):
        if not all(isinstance(part, dict) for part in labels.values()):
            raise ValueError("label → value was expected for each scheme")
        return {str(scheme): dict(part) for scheme, part in labels.items()}
    if not isinstance(labels, list):
        raise ValueError(f"a list of labels was expected; found {type(labels).__name__}")
    by_scheme: dict[str, dict[str, Any]] = {}
    for entry in labels:
        is_pair = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict)
        if not is_pair or "schema" not in entry[0] or "name" not in entry[0]:
            raise ValueError(f"[{{schema, name}}, value] was expected; found {entry!r}")
        by_scheme.setdefault(str(entry[0]["schema"]), {})[str(entry[0]["name"])] = entry[1]
    return by_scheme


def _answered(instance: str, labels: dict[str, dict[str, Any]], behaviour: object) -> Answered:
    """With the time and the changes that version 2 records."""
    if not isinstance(behaviour, dict):
        return Answered(instance, labels, {})
    changes = behaviour.get("annotation_changes") or []
    last_changed = {
        (str(change.get("schema_name")), str(change.get("label_name"))): float(change["timestamp"])
        for change in changes
        if isinstance(change, dict) and _is_number(change.get("timestamp"))
    }
    ended = behaviour.get("session_end") or behaviour.get("session_start")
    at = datetime.fromtimestamp(float(ended), UTC) if _is_number(ended) and ended else NO_TIME
    milliseconds = behaviour.get("total_time_ms")
    seconds = max(float(milliseconds), 0.0) / 1000 if _is_number(milliseconds) and milliseconds else 0.0
    return Answered(instance, labels, last_changed, at, seconds)


def _read_lines(path: Path) -> list[Answered]:
    """Answers as version 1 has them."""
    answers, faults = [], []
    for number, entry in enumerate(_json_lines(path, read_text(path)), start=1):
        if (
            not isinstance(entry, dict)
            or "id" not in entry
            or not isinstance(entry.get("label_annotations"), dict)
        ):
            faults.append(f"line {number}: an object with id and label_annotations was expected")
            continue
        try:
            by_scheme = _by_scheme(entry["label_annotations"])
        except ValueError as error:
            faults.append(f"line {number}: {error}")
            continue
        spent = SPENT.search(str((entry.get("behavioral_data") or {}).get("time_string", "")))
        seconds = sum(_seconds(spent.groups())) if spent else 0
        answers.append(Answered(str(entry["id"]), by_scheme, {}, seconds=float(seconds)))
    if faults:
        raise TableError(str(path), shortened(faults))
    return answers


def _seconds(groups: tuple[str | None, ...]) -> Iterator[int]:
    for text, unit in zip(groups, SECONDS_OF, strict=True):
        yield int(text or 0) * unit


def _is_number(candidate: object) -> bool:
    return isinstance(candidate, int | float) and not isinstance(candidate, bool)
