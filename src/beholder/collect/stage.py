"""The collect stage: from trials to sessions, answers and marks."""

from pathlib import Path

import numpy as np
import polars as pl

from beholder.collect.simulate.sessions import Collected, collect_question
from beholder.errors import StageError
from beholder.simulate.expectation import planted_ratings
from beholder.simulate.people import BAD, SUBTLE, Person, draw_people
from beholder.simulate.sight import View
from beholder.simulate.views import views_of
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import COLLECT, STAGES
from beholder.tables.store import TRUTH_ROOM, Store
from beholder.tables.work import Outcome, Work, perform, provenance_of

STAGE = STAGES["collect"]


def run(folder: Path, *, force: bool = False, people: int | None = None, bad: int = 0) -> Outcome:
    """Let so many simulated raters take part, ``bad`` of them with bad habits; never over real raters' answers.

    Without a number nothing is simulated: the answers must be there, as the server or an import left them.
    """
    study, store = load_study(folder), Store(folder)
    if people is None:
        if store.has("answers"):
            return Outcome("collect", skipped=True)
        raise StageError(
            f"{folder} has no answers yet. To rehearse with simulated raters: beholder run {folder} --simulate 30"
        )
    _refuse_real_answers(store)
    work = Work(
        COLLECT,
        settings={
            "simulate": {"people": people, "bad": bad},
            "questions": {
                q.name: q.model_dump(mode="json", exclude={"text", "protocol"}) for q in study.questions
            },
        },
        seed=study.seed,
    )

    def compute(store: Store) -> dict[str, pl.DataFrame]:
        views = views_of(store, seed=study.seed)
        crowd = draw_people(people, bad, np.random.default_rng([study.seed, 1]))
        _write_truth(store, work, study, views, crowd)
        return _collect(store, study, views, crowd)

    return perform(store, work, compute, force=force)


def _refuse_real_answers(store: Store) -> None:
    if store.has("answers") and not store.has("sessions"):
        raise StageError(
            f"{store.folder} holds answers without their sessions, so they may be of real people; simulated ones "
            "would replace them. Move tables/answers.parquet away, or simulate in a copy of the folder."
        )
    if store.has("sessions") and not store.read("sessions")["simulated"].all():
        raise StageError(
            f"{store.folder} holds answers of real people; simulated ones would replace them. "
            "Simulate in a copy of the folder."
        )


def _collect(
    store: Store, study: Study, views: dict[str, View], crowd: tuple[Person, ...]
) -> dict[str, pl.DataFrame]:
    trials = store.read("trials")
    together = Collected()
    for number, question in enumerate(study.questions):
        mine = trials.filter(pl.col("question") == question.name)
        part = collect_question(question, mine, views, crowd, seed=[study.seed, 2, number])
        together.sessions.extend(part.sessions)
        together.answers.extend(part.answers)
        together.marks.extend(part.marks)
    return {
        "sessions": TABLES["sessions"].frame(together.sessions),
        "answers": TABLES["answers"].frame(together.answers),
        "skips": TABLES["skips"].empty(),
        "marks": TABLES["marks"].frame(together.marks),
    }


def _write_truth(
    store: Store, work: Work, study: Study, views: dict[str, View], crowd: tuple[Person, ...]
) -> None:
    """Keep what only a made-up world knows: everyone's habit, and the ratings that honest people would give."""
    images, trials = store.read("images"), store.read("trials")
    raters = [
        {
            "question": question.name,
            "rater": person.rater,
            "used": person.habit not in (*BAD, *SUBTLE),
            "reasons": [person.habit],
            "answers": 0,
        }
        for question in study.questions
        for person in crowd
    ]
    ratings = [
        row
        for number, question in enumerate(study.questions)
        for row in planted_ratings(
            question,
            trials.filter((pl.col("question") == question.name) & (pl.col("role") == "test")),
            images,
            views,
            rng=np.random.default_rng([study.seed, 3, number]),
        )
    ]
    frames = {"raters": TABLES["raters"].frame(raters), "ratings": TABLES["ratings"].frame(ratings)}
    Store(store.folder, TRUTH_ROOM).write(frames, provenance_of(store, work))
