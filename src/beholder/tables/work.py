"""Doing a stage's work once: skipped when nothing it depends on has changed."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from beholder.tables.provenance import Plain, Provenance
from beholder.tables.store import Store


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage is about to do: from which tables, by which settings, to which tables."""

    stage: str
    settings: Mapping[str, Plain]
    seed: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    redo_on_upgrade: bool = True
    """Whether a new version of the package makes the outputs stale. Not so for what was drawn or collected."""


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


def perform(
    store: Store, work: Work, compute: Callable[[], Mapping[str, pl.DataFrame]], *, force: bool = False
) -> Outcome:
    """Compute and write the outputs, unless all of them came from the same work already."""
    if is_fresh(store, work) and not force:
        return Outcome(work.stage, skipped=True)
    began = time.monotonic()
    record = provenance_of(store, work)
    frames = compute()
    store.write({name: frames[name] for name in work.outputs}, record)
    rows = {name: frames[name].height for name in work.outputs}
    return Outcome(work.stage, skipped=False, rows=rows, seconds=time.monotonic() - began)


def is_fresh(store: Store, work: Work) -> bool:
    """Whether every output exists and records this very work."""
    now = provenance_of(store, work)
    for name in work.outputs:
        before = store.provenance(name)
        if before is None or not before.same_work(now, heed_version=work.redo_on_upgrade):
            return False
    return True


def provenance_of(store: Store, work: Work) -> Provenance:
    """The record of this work as the inputs are now."""
    return Provenance(work.stage, work.settings, work.seed, {name: store.hash(name) for name in work.inputs})
