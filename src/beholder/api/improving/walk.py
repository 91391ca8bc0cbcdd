"""What a walk of several steps has done so far, so that a second call does only the rest."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from beholder.errors import UserError
from beholder.improve.gains import Row
from beholder.improve.improvement import Improvement
from beholder.improve.record import record_improvement
from beholder.improve.repair_run import begin_folder
from beholder.improve.truth import write_truth
from beholder.models.weights.checkpoint import RECORD
from beholder.scorers.catalogue import trained_folder
from beholder.simulate.painter import GroundTruth
from beholder.study.study import load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import Plain, file_hash
from beholder.tables.store import Store

FILE = "walk.json"
"""In the folder of the improvement."""
WATCHED = ("images", "prompts", "labels")
"""Tables of the study on which a walk rests."""


@dataclass(eq=False)
class Walk:
    """The options of a walk, and its steps that are done."""

    improvement: Improvement
    options: Mapping[str, Plain]
    done: dict[str, dict[str, Plain]] = field(default_factory=dict)
    """Step -> its settings."""
    notes: list[str] = field(default_factory=list)
    """Why a step was left out, a sentence each."""

    def finish(
        self,
        step: str,
        settings: dict[str, Plain],
        *,
        changes: Sequence[Row],
        gains: Sequence[Row],
        alarms: Sequence[Row] = (),
        truths: Sequence[tuple[str, GroundTruth]] = (),
    ) -> None:
        """Write what a step came to, beside what other steps came to, and note that it is done."""
        if truths:
            write_truth(self.improvement, truths, add=True)
        rows: dict[str, Sequence[Row]] = {
            "changes": [*self._others("changes", "method", step), *changes],
            "gains": [*self._others("gains", "step", step), *({**row, "step": step} for row in gains)],
            "alarms": [*alarms] if alarms else self._others("alarms", "watch", ""),
            "proofs": [],
        }
        steps = {**self.done, step: settings}
        seed = load_study(self.improvement.study).seed
        record_improvement(self.improvement, rows, settings={**steps}, seed=seed)
        self.done = steps
        self.save()

    def leave_out(self, step: str, why: str) -> None:
        """Note that a step is left out, and why."""
        self.notes.append(f"{step}: left out: {why}")
        self.done[step] = {}
        self.save()

    def save(self) -> None:
        """Write the record."""
        content = {"options": self.options, "done": self.done, "notes": self.notes}
        with write_atomically(self.improvement.folder / FILE) as file:
            file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())

    def _others(self, table: str, column: str, step: str) -> list[Row]:
        frame = self.improvement.store.read_or_empty(table)
        return frame.filter(pl.col(column) != step).drop("improvement").to_dicts()


def open_walk(improvement: Improvement, options: Mapping[str, Plain], *, force: bool) -> Walk:
    """Begin a walk, or continue one with the same options; an error where those were others."""
    plain = json.loads(json.dumps(options))
    path = improvement.folder / FILE
    if force or not (path.is_file() or improvement.store.has("changes")):
        begin_folder(improvement)
        walk = Walk(improvement, plain)
        walk.save()
        return walk
    advice = "choose another --name, or replace it with --force"
    if not path.is_file():
        raise UserError(f"{improvement.folder} exists, and was made by another command: {advice}")
    content = json.loads(path.read_text(encoding="utf-8"))
    before: Mapping[str, Plain] = content["options"]
    changed = [
        f"{name} was {before.get(name)}, now {plain.get(name)}"
        for name in dict.fromkeys([*before, *plain])
        if before.get(name) != plain.get(name)
    ]
    if changed:
        raise UserError("\n".join([f"{improvement.folder} was begun otherwise: {advice}", *changed]))
    return Walk(improvement, plain, dict(content["done"]), list(content["notes"]))


def is_begun(improvement: Improvement) -> bool:
    """Whether a walk of this name was begun."""
    return (improvement.folder / FILE).is_file()


def notes_of(improvement: Improvement) -> list[str]:
    """Why steps of a walk were left out; empty where it was none."""
    path = improvement.folder / FILE
    return list(json.loads(path.read_text(encoding="utf-8"))["notes"]) if path.is_file() else []


def rests_on(folder: Path, scorers: Mapping[str, str | None]) -> dict[str, Plain]:
    """What a walk rests on beside its options: the study's tables, and the weights of trained scorers."""
    store = Store(folder)
    hashes: dict[str, Plain] = {f"table {name}": store.hash(name) for name in WATCHED if store.has(name)}
    for option, name in scorers.items():
        trained = None if name is None else trained_folder(name)
        if trained is not None and (trained[0] / RECORD).is_file():
            hashes[f"{option} weights"] = file_hash(trained[0] / RECORD)
    return hashes
