"""Writing down an improvement: its rows, in tables of its own, with the settings they came from."""

from collections.abc import Mapping, Sequence

from beholder.improve.improvement import TABLES, Improvement
from beholder.improve.stage import run
from beholder.tables.catalogue import TABLES as SCHEMAS
from beholder.tables.provenance import Plain, Provenance
from beholder.tables.stages import IMPROVE
from beholder.tables.store import Store

Row = Mapping[str, object]

DEFAULTS: dict[str, Row] = {"gains": {"step": ""}}
"""Table -> what a row has where it says nothing else."""


def record_improvement(
    improvement: Improvement,
    rows: Mapping[str, Sequence[Row]],
    *,
    settings: Mapping[str, Plain],
    seed: int,
    files: Mapping[str, str] | None = None,
) -> None:
    """Write tables of an improvement, and bring those of the study up to date.

    Args:
        improvement: Which one.
        rows: Table (changes, gains, alarms, proofs) -> its rows, without the column ``improvement``. Tables that
            are not named stay as they are; ``changes`` is always written, if only without rows.
        settings: From which the rows came.
        seed: The seed.
        files: What was read beside the study's tables: name -> hash.
    """
    store, study = improvement.store, Store(improvement.study)
    named = {name: rows.get(name, ()) for name in TABLES if name in rows or not store.has(name)}
    frames = {
        name: SCHEMAS[name].frame(
            [{"improvement": improvement.name, **DEFAULTS.get(name, {}), **row} for row in table_rows]
        )
        for name, table_rows in named.items()
    }
    inputs = {name: study.hash(name) for name in IMPROVE.inputs}
    record = Provenance("improve", settings, seed, {**(files or {}), **inputs})
    store.folder.joinpath(store.room).mkdir(parents=True, exist_ok=True)
    store.within(IMPROVE).write(frames, record)
    run(improvement.study)


def settings_of(improvement: Improvement) -> Mapping[str, Plain]:
    """The settings that the changes came from; empty where there are none."""
    record = improvement.store.provenance("changes")
    return {} if record is None else record.settings
