"""What does not change while a study runs, read once and kept: secrets, questions, trials, pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import select

from beholder.collect.asking import asked
from beholder.collect.database import Database, pictures, questions, secrets, trials
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import question_of

SLOTS_KEPT = 2000

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
class Picture:
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
                row.image: Picture(row.path, row.sha256, row.width, row.height)
                for row in connection.execute(select(pictures))
            }
        self.slot = lru_cache(SLOTS_KEPT)(self._slot)

    def secret(self, name: str) -> str:
        """One of the study's secrets."""
        return self._secrets[name]

    def planned(self, question: str, slot: int, plan: Sequence[str]) -> list[Trial]:
        """The trials of a plan, in its order."""
        known = self.slot(question, slot)
        return [known[name] for name in plan]

    def _slot(self, question: str, slot: int) -> dict[str, Trial]:
        """The trials of a slot by name, in order."""
        with self._database.reading_aside() as connection:
            rows = connection.execute(
                select(trials)
                .where(trials.c.question == question, trials.c.slot == slot)
                .order_by(trials.c.position)
            ).all()
        return {
            row.trial: Trial(
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
            for row in rows
        }
