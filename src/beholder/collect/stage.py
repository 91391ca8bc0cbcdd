"""The collect stage: from trials to sessions, answers and marks."""

from pathlib import Path

import numpy as np
import polars as pl

from beholder.collect.simulate.sessions import CollectedRows, simulate_question
from beholder.errors import StageError
from beholder.simulate.expectation import expected_ratings
from beholder.simulate.raters import BAD, SUBTLE, SimulatedRater, draw_raters
from beholder.simulate.sight import View
from beholder.simulate.views import views_of
from beholder.study.question import WORDING
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import COLLECT, STAGES
from beholder.tables.store import TRUTH_ROOM, Store
from beholder.tables.work import Outcome, Work, perform, provenance_of

STAGE = STAGES["collect"]


def run(folder: Path, *, force: bool = False, people: int | None = None, bad: int = 0) -> Outcome:
    """Collect the answers of so many simulated raters, ``bad`` of them with bad habits; never over real answers.

    Without a number nothing is simulated: the answers must exist already, from the server or from an import.
    """
    study, store = load_study(folder), Store(folder)
    if people is None:
        if store.has("answers"):
            return Outcome("collect", skipped=True)
        raise StageError(
            f"{folder} has no answers yet. To rehearse with simulated raters: beholder run {folder} --simulate 30"
            f"; to ask people: beholder collect {folder}"
        )
    _refuse_real_answers(store)
    work = Work(
        COLLECT,
        settings={
            "simulate": {"people": people, "bad": bad},
            "questions": {q.name: q.model_dump(mode="json", exclude=WORDING) for q in study.questions},
        },
        seed=study.seed,
    )

    def compute(store: Store) -> dict[str, pl.DataFrame]:
        views = views_of(store, seed=study.seed)
        simulated_raters = draw_raters(people, bad, np.random.default_rng([study.seed, 1]))
        _write_truth(store, work, study, views, simulated_raters)
        return _collect(store, study, views, simulated_raters)

    return perform(store, work, compute, force=force)


def _refuse_real_answers(store: Store) -> None:
    if store.has("answers") and not store.has("sessions"):
        raise StageError(
            f"{store.folder} holds answers without their sessions, so they may come from real raters; simulated "
            "ones would replace them. Move tables/answers.parquet away, or simulate in a copy of the folder."
        )
    if store.has("sessions") and not store.read("sessions")["simulated"].all():
        raise StageError(
            f"{store.folder} holds sessions of real raters; simulated ones would replace them. "
            "A rehearsal through the server keeps them apart: beholder collect FOLDER --simulate N --serve."
        )


def _collect(
    store: Store, study: Study, views: dict[str, View], simulated_raters: tuple[SimulatedRater, ...]
) -> dict[str, pl.DataFrame]:
    trials = store.read("trials")
    collected = CollectedRows()
    for number, question in enumerate(study.questions):
        question_trials = trials.filter(pl.col("question") == question.name)
        part = simulate_question(question, question_trials, views, simulated_raters, seed=[study.seed, 2, number])
        collected.sessions.extend(part.sessions)
        collected.answers.extend(part.answers)
        collected.marks.extend(part.marks)
    return {
        "sessions": TABLES["sessions"].frame(collected.sessions),
        "answers": TABLES["answers"].frame(collected.answers),
        "skips": TABLES["skips"].empty(),
        "marks": TABLES["marks"].frame(collected.marks),
    }


def _write_truth(
    store: Store, work: Work, study: Study, views: dict[str, View], simulated_raters: tuple[SimulatedRater, ...]
) -> None:
    """Write the ground truth of the simulation: the raters' habits, and the ratings of honest raters."""
    images, trials = store.read("images"), store.read("trials")
    rater_rows = [
        {
            "question": question.name,
            "rater": rater.rater,
            "used": rater.habit not in (*BAD, *SUBTLE),
            "reasons": [rater.habit],
            "answers": 0,
        }
        for question in study.questions
        for rater in simulated_raters
    ]
    ratings = [
        row
        for number, question in enumerate(study.questions)
        for row in expected_ratings(
            question,
            trials.filter((pl.col("question") == question.name) & (pl.col("role") == "test")),
            images,
            views,
            rng=np.random.default_rng([study.seed, 3, number]),
        )
    ]
    frames = {"raters": TABLES["raters"].frame(rater_rows), "ratings": TABLES["ratings"].frame(ratings)}
    Store(store.folder, TRUTH_ROOM).write(frames, provenance_of(store, work))
