"""Reproducibility of a report: where each table came from, whether it is stale, and commands to repeat it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from beholder import __version__
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, Provenance
from beholder.tables.store import Store

Setting = tuple[str, str]
"""A setting's name and its value, as words."""


@dataclass(frozen=True, slots=True)
class TableOrigin:
    """Where one table came from."""

    table: str
    stage: str
    version: str
    seed: str
    hash: str
    stale: tuple[str, ...]
    """Inputs that have changed since it was made."""


@dataclass(frozen=True, slots=True)
class Basis:
    """All that is needed to trust a report, or to make it again."""

    version: str
    tables: tuple[TableOrigin, ...]
    settings: tuple[tuple[str, tuple[Setting, ...]], ...]
    commands: tuple[str, ...]

    @property
    def simulates(self) -> bool:
        """Whether the commands make the answers too."""
        return any(" --simulate " in command for command in self.commands)

    @property
    def stale(self) -> tuple[TableOrigin, ...]:
        """Tables made from inputs that have changed since."""
        return tuple(table for table in self.tables if table.stale)


def build_basis(store: Store, study: Study) -> Basis:
    """The basis of a study in the present state of its folder."""
    hashes = {name: store.hash(name) for name in TABLES if store.has(name)}
    records = {name: store.provenance(name) for name in hashes}
    return Basis(
        version=__version__,
        tables=tuple(_origin(name, hashes, records[name]) for name in hashes),
        settings=_settings(study),
        commands=_commands(records),
    )


def _origin(name: str, hashes: Mapping[str, str], record: Provenance | None) -> TableOrigin:
    if record is None:
        return TableOrigin(name, "not recorded", "–", "–", hashes[name], ())
    inputs = {table: then for table, then in record.inputs.items() if table in TABLES}
    stale = [table for table, then in inputs.items() if hashes.get(table, "absent") != then]
    return TableOrigin(name, record.stage, record.version, str(record.seed), hashes[name], tuple(sorted(stale)))


def _settings(study: Study) -> tuple[tuple[str, tuple[Setting, ...]], ...]:
    """Seed and analysis, then the design and the screening of each question; those without a value are omitted."""
    of_study: list[Setting] = [("seed", str(study.seed))]
    of_study += _flat(study.analysis.model_dump(mode="json"))
    groups = [("The whole study", tuple(of_study))]
    for question in study.questions:
        rest = question.model_dump(
            mode="json",
            exclude={"name", "text", "instructions", "examples", "labels", "design", "screening", "aspects"},
        )
        parts = [rest, question.design.model_dump(mode="json"), question.screening.model_dump(mode="json")]
        groups.append((question.name, tuple(setting for part in parts for setting in _flat(part))))
    return tuple(groups)


def _flat(settings: Mapping[str, Plain]) -> list[Setting]:
    stated = {name: value for name, value in settings.items() if value is not None and value != []}
    return [(name.replace("_", " "), _word(value)) for name, value in stated.items()]


def _word(value: Plain) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _commands(records: Mapping[str, Provenance | None]) -> tuple[str, ...]:
    """The commands that make the tables again, beginning with the import or the design.

    Raters that were simulated on the tables answer in the same way again; those of a rehearsal through the server
    take slots as they come, so that only their answers, once given, are the same.
    """
    session = records.get("sessions")
    simulated = session.settings.get("simulate") if session else None
    trials = records.get("trials")
    if isinstance(simulated, dict):
        return (f"beholder run FOLDER --simulate {simulated.get('people')} --bad {simulated.get('bad', 0)}",)
    lines = ["beholder design FOLDER"]
    if trials and trials.stage == "import":
        lines = [f"beholder import {trials.settings.get('format')} {trials.settings.get('source')} FOLDER"]
    return (*lines, "beholder consolidate FOLDER", "beholder rank FOLDER", "beholder report FOLDER")
