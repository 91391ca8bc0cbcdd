"""The design stage: from images to trials."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from beholder.design.draw import draw_question
from beholder.design.items import DrawnTrial, pool_images
from beholder.errors import FaultsError, StageError, StudyError
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.question import WORDING
from beholder.study.study import load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.rehearsals import in_study, is_rehearsed, move_tables_away
from beholder.tables.stages import DESIGN, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, is_fresh, perform

STAGE = STAGES["design"]

IMPORTED = "import"
"""Stage of tables that came with data from elsewhere."""


def run(folder: Path, *, force: bool = False) -> Outcome:
    """Draw the trials of every question of the study, unless they are drawn already.

    Trials that raters have answered are never drawn again, not even by ``force``: a later version might draw
    others, and the answers would lose their meaning. Trials that came with imported data stay as they are.
    """
    study, store = load_study(folder), Store(folder)
    drawn_by = store.provenance("trials")
    if drawn_by is not None and drawn_by.stage == IMPORTED:
        return Outcome("design", skipped=True)
    work = Work(
        DESIGN,
        settings={
            q.name: q.model_dump(mode="json", exclude={**WORDING, "screening": True}) for q in study.questions
        },
        seed=study.seed,
    )
    answered = store.has("answers")
    if answered and not is_fresh(store, work) and not is_rehearsed(store):
        raise StageError(
            f"{folder}: the design or the images changed after answers were collected. Undo the change, or make a "
            "new study; to start over in this folder, first move tables/answers.parquet, sessions and marks away."
        )

    moved: list[str] = []

    def compute(store: Store) -> dict[str, pl.DataFrame]:
        drawn = _trials(store, study.questions, study.seed)
        room = move_tables_away(store, DESIGN.guards)  # of a rehearsal, whose trials are drawn again
        moved.extend([] if room is None else [in_study(room)])
        return {"trials": drawn}

    outcome = perform(store, work, compute, force=force and (not answered or is_rehearsed(store)))
    note = "".join(f"The simulated answers to the earlier trials were moved to {place}" for place in moved)
    return replace(outcome, note=note)


def design_faults(images: pl.DataFrame, questions: Sequence[AnyQuestion], seed: int) -> list[str]:
    """Say why the trials of these questions cannot be drawn from these images; empty where they can."""
    return _draw(images, questions, seed)[1]


def _trials(store: Store, questions: Sequence[AnyQuestion], seed: int) -> pl.DataFrame:
    store.read("prompts")
    rows, faults = _draw(store.read("images"), questions, seed)
    if faults:
        raise StudyError(f"{store.folder}: the trials cannot be drawn", faults)
    return TABLES["trials"].frame(rows)


def _draw(
    images: pl.DataFrame, questions: Sequence[AnyQuestion], seed: int
) -> tuple[list[dict[str, object]], list[str]]:
    """Return the rows of ``trials``, and the faults of the questions for which none could be drawn."""
    pools = pool_images(images)
    rows: list[dict[str, object]] = []
    faults: list[str] = []
    for number, question in enumerate(questions):
        rng = np.random.default_rng([seed, number])
        try:
            slots = draw_question(question, pools, rng)
        except FaultsError as error:
            faults += [f"{error.subject}: {fault}. {error.advice}" for fault in error.faults]
            continue
        for slot, drawn in enumerate(slots):
            rows += _slot_rows(question, slot, drawn)
    return rows, faults


def _slot_rows(question: AnyQuestion, slot: int, trials: list[DrawnTrial]) -> list[dict[str, object]]:
    names = [f"{question.name}-{slot:04d}-{position:04d}" for position in range(len(trials))]
    tests = [name for name, drawn in zip(names, trials, strict=True) if drawn.role == "test"]
    return [
        {
            "trial": name,
            "question": question.name,
            "kind": question.kind,
            "slot": slot,
            "position": position,
            "block": drawn.block,
            "role": drawn.role,
            "images": list(drawn.item.images),
            "prompt": drawn.item.prompt,
            "expected": drawn.item.expected,
            "repeats": None if drawn.repeats is None else tests[drawn.repeats],
            "propensity": drawn.propensity,
        }
        for position, (name, drawn) in enumerate(zip(names, trials, strict=True))
    ]
