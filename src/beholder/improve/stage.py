"""The improve stage: the tables of all improvements of a study, put together.

An improvement itself is made by its own command, such as ``beholder improve repair``: it needs scorers and
generators, and has a folder with tables of its own (:mod:`beholder.improve.improvement`).
"""

from pathlib import Path

import polars as pl

from beholder.errors import StageError
from beholder.improve.improvement import ROOM, Improvement, improvements_of
from beholder.study.study import load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import IMPROVE, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["improve"]


def run(folder: Path, *, force: bool = False) -> Outcome:
    """Put the tables of all improvements together."""
    study, store = load_study(folder), Store(folder)
    improvements = list(improvements_of(folder))
    if not improvements:
        raise StageError(
            f"{folder / ROOM} has no improvement yet. Make one: beholder improve repair {folder} --scorer MODEL"
        )
    files = {
        f"{improvement.name}/{name}": improvement.store.hash(name)
        for improvement in improvements
        for name in IMPROVE.outputs
    }
    work = Work(IMPROVE, {}, study.seed, files)
    return perform(store, work, lambda _: _together(improvements), force=force)


def _together(improvements: list[Improvement]) -> dict[str, pl.DataFrame]:
    return {
        name: pl.concat(
            [TABLES[name].empty(), *(improvement.store.read_or_empty(name) for improvement in improvements)]
        )
        for name in IMPROVE.outputs
    }
