"""Doing a stage's work once: it is skipped when nothing that it depends on has changed.

Everything that is kept says from which work it came, by one record (:class:`Provenance`): a table in its metadata,
a page in its head, a model in a file next to its weights. Work is skipped where all of its outputs record it.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import polars as pl

from beholder.tables.parts import Parts
from beholder.tables.provenance import Plain, Provenance
from beholder.tables.stages import Stage, Step
from beholder.tables.store import Store


@dataclass(frozen=True, slots=True)
class Work:
    """A step about to be done: by which settings, with which seed."""

    step: Step
    settings: Mapping[str, Plain]
    seed: int
    files: Mapping[str, str] = field(default_factory=dict)
    """What it reads beside tables: the name of each file and the hash of its bytes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a stage did: the rows it wrote, or that it had nothing to do."""

    stage: str
    skipped: bool
    rows: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    note: str = ""
    """What the rows alone do not say, such as why there are none."""

    def __str__(self) -> str:
        rows = ", ".join(f"{count:,} {name}" for name, count in self.rows.items())
        done = f"{self.stage}: unchanged" if self.skipped else f"{self.stage}: {rows} in {self.seconds:.1f} s"
        return f"{done}. {self.note}" if self.note else done


class Runs(Protocol):
    """The shape of the module ``stage.py`` of every verb."""

    STAGE: Stage

    def run(self, folder: Path, *, force: bool = False) -> Outcome:
        """Do the stage in a study folder, unless nothing that it depends on has changed."""
        ...


def perform(
    store: Store,
    work: Work,
    compute: Callable[[Store], Mapping[str, pl.DataFrame | Parts]],
    *,
    force: bool = False,
) -> Outcome:
    """Compute and write the outputs, unless all of them came from the same work already.

    ``compute`` is handed a store that knows only the tables which the step declares.
    """
    if is_fresh(store, work) and not force:
        return Outcome(work.step.stage, skipped=True)
    began = time.monotonic()
    record = provenance_of(store, work)
    lent_store = store.within(work.step)
    frames = compute(lent_store)
    lent_store.write({name: frames[name] for name in work.step.outputs}, record)
    rows = {name: frames[name].height for name in work.step.outputs}
    return Outcome(work.step.stage, skipped=False, rows=rows, seconds=time.monotonic() - began)


def is_fresh(store: Store, work: Work) -> bool:
    """Whether every output exists and records this very work."""
    now = provenance_of(store, work)
    return all(records(store.provenance(name), now, work.step) for name in work.step.outputs)


def records(before: Provenance | None, now: Provenance, step: Step) -> bool:
    """Return whether an output came from this very work."""
    return before is not None and before.same_work(now, heed_version=step.redo_on_upgrade)


def provenance_of(store: Store, work: Work) -> Provenance:
    """Return the record of this work with the inputs as they are now."""
    inputs = {name: store.hash(name) for name in work.step.inputs}
    return Provenance(work.step.stage, work.settings, work.seed, {**work.files, **inputs})
