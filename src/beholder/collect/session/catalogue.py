"""What does not change while a study runs, read once and kept: secrets, questions, trials, pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, select

from beholder.collect.database.schema import Database, pictures, questions, secrets, trials
from beholder.collect.session.question_view import asked
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import question_of

SLOTS_KEPT = 2000
STRAYS_KEPT = 20_000
"""Trials kept that a session has from another slot than its own."""

OPENING_ROLES = ("training", "qualification")
"""Roles that everyone goes through, whoever held the place before."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial as the server knows it."""

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
    """An image file."""

    path: str
    sha256: str
    width: int
    height: int


class Catalogue:
    """The fixed part of the database. Trials are read slot by slot, as people come to them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.reading() as connection:
            self._secrets = {row.name: str(row.value) for row in connection.execute(select(secrets))}
            rows = connection.execute(select(questions).order_by(questions.c.ordinal)).all()
            self.questions: dict[str, AnyQuestion] = {row.question: question_of(row.settings) for row in rows}
            self.asked = {name: asked(question) for name, question in self.questions.items()}
            self.pictures = {
                row.image: StudyImage(row.path, row.sha256, row.width, row.height)
                for row in connection.execute(select(pictures))
            }
        self.slot = lru_cache(SLOTS_KEPT)(self._slot)
        self.trial = lru_cache(STRAYS_KEPT)(self._trial)

    def secret(self, name: str) -> str:
        """One of the study's secrets."""
        return self._secrets[name]

    def planned(self, question: str, slot: int, plan: Sequence[str]) -> list[Trial]:
        """The trials of a plan, in its order; most of them are of the slot, some may be of others."""
        own = self.slot(question, slot)
        return [own[name] if name in own else self.trial(name) for name in plan]

    def trials_of(self, session: Row[Any]) -> Mapping[str, Trial]:
        """The trials of a session by name: of its slot, and those of other slots that are in its plan."""
        own = self.slot(session.question, session.slot)
        strays = [name for name in session.plan or [] if name not in own]
        return own | {name: self.trial(name) for name in strays} if strays else own

    def _trial(self, name: str) -> Trial:
        with self._database.reading_aside() as connection:
            return _trial_of(connection.execute(select(trials).where(trials.c.trial == name)).one())

    def _slot(self, question: str, slot: int) -> dict[str, Trial]:
        """The trials of a slot by name, in order."""
        with self._database.reading_aside() as connection:
            rows = connection.execute(
                select(trials)
                .where(trials.c.question == question, trials.c.slot == slot)
                .order_by(trials.c.position)
            ).all()
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
