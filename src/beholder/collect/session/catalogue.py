"""The part of the database that does not change while a study runs, cached: secrets, questions, trials, images."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, func, select

from beholder.collect.database.schema import REHEARSAL, Database, control, pictures, questions, secrets, trials
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import question_of

SLOTS_KEPT = 2000
READ_AHEAD = 16
"""Slots ahead of one that was just lent whose trials are read: as many sessions may begin at the same moment."""

BORROWED_KEPT = 20_000
"""Size of the cache of trials that a session has from another slot than its own."""

HIDDEN_SETTINGS = {
    *("design", "screening", "name", "kind", "protocol", "text", "much", "instructions", "examples"),
    "target",
}
"""Settings of a question that a page is never sent."""

OPENING_ROLES = ("training", "qualification")
"""Roles of the trials that every session starts with, whoever held the slot before."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial, with what only the server knows about it."""

    trial: str
    question: str
    slot: int
    position: int
    block: int
    role: str
    images: tuple[str, ...]
    prompt: str | None
    expected: str | None
    repeats: str | None


@dataclass(frozen=True, slots=True)
class StudyImage:
    """An image file of the study."""

    path: str
    sha256: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class QuestionView:
    """What a page is sent about a question: the settings of its kind, and the options to choose from."""

    settings: dict[str, Any]
    options: list[str]


class Catalogue:
    """The fixed part of the database. Trials are read slot by slot, when a session needs them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.reading() as connection:
            self.is_rehearsal = bool(connection.scalar(select(func.count()).where(control.c.name == REHEARSAL)))
            self._secrets = {row.name: str(row.value) for row in connection.execute(select(secrets))}
            rows = connection.execute(select(questions).order_by(questions.c.ordinal)).all()
            self.questions: dict[str, AnyQuestion] = {row.question: question_of(row.settings) for row in rows}
            self.question_views = {name: view_question(question) for name, question in self.questions.items()}
            self.pictures = {
                row.image: StudyImage(row.path, row.sha256, row.width, row.height)
                for row in connection.execute(select(pictures))
            }
        self.slot = lru_cache(SLOTS_KEPT)(self._slot)
        self.trial = lru_cache(BORROWED_KEPT)(self._trial)

    def secret(self, name: str) -> str:
        """Return one of the study's secrets."""
        return self._secrets[name]

    def planned(self, question: str, slot: int, plan: Sequence[str]) -> list[Trial]:
        """Return the trials of a plan in its order; some of them may belong to other slots."""
        own = self.slot(question, slot)
        return [own[name] if name in own else self.trial(name) for name in plan]

    def trials_of(self, session: Row[Any]) -> Mapping[str, Trial]:
        """Return the trials of a session by name: of its slot, and those of other slots in its plan."""
        own = self.slot(session.question, session.slot)
        borrowed = [name for name in session.plan or [] if name not in own]
        return own | {name: self.trial(name) for name in borrowed} if borrowed else own

    def read_ahead(self, question: str, slot: int) -> None:
        """Read the trials of a slot that is going to be lent soon, now that nobody waits for it.

        Slots are lent in their order, within a turn to write in which all other sessions wait.

        Args:
            question: The question of a session that has just begun.
            slot: The slot that it was lent.
        """
        with suppress(LookupError):
            self.slot(question, slot + READ_AHEAD)

    def _trial(self, name: str) -> Trial:
        with self._database.reading_inside() as connection:
            return _trial_of(connection.execute(select(trials).where(trials.c.trial == name)).one())

    def _slot(self, question: str, slot: int) -> dict[str, Trial]:
        """Read the trials of a slot by name, in order; an error, which is not cached, where there is none."""
        with self._database.reading_inside() as connection:
            rows = connection.execute(
                select(trials)
                .where(trials.c.question == question, trials.c.slot == slot)
                .order_by(trials.c.position)
            ).all()
        if not rows:
            raise LookupError(f"question '{question}' has no slot {slot}")
        return {row.trial: _trial_of(row) for row in rows}


def _trial_of(row: Row[Any]) -> Trial:
    return Trial(
        trial=row.trial,
        question=row.question,
        slot=row.slot,
        position=row.position,
        block=row.block,
        role=row.role,
        images=tuple(row.images),
        prompt=row.prompt,
        expected=row.expected,
        repeats=row.repeats,
    )


def view_question(question: AnyQuestion) -> QuestionView:
    """Select what the pages need to know about a question; it is the same in every trial."""
    settings = question.model_dump(mode="json", exclude=HIDDEN_SETTINGS) | {"labels": question.words}
    return QuestionView(settings, list(kind_of(question).options(question)))
