"""Coverage of the design: answered test trials by generator, or by pair of generators."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, distinct, func, select

from beholder.collect.database.schema import persons, pictures, responses, sessions, trials
from beholder.collect.session.leases import COUNTS
from beholder.study.kinds.catalogue import KINDS, AnyQuestion


@dataclass(frozen=True, slots=True)
class Cell:
    """A generator, or a pair of them, with its planned and its answered test trials."""

    cell: str
    collected: int
    planned: int


def cells(connection: Connection, question: AnyQuestion) -> list[Cell]:
    """Return the cells of a question by name. A trial with several images counts for each of their generators."""
    images = KINDS[question.kind].shows(question)
    groups = [(0, 1)] if images == 2 else [(position,) for position in range(images)]
    planned: dict[str, int] = {}
    collected: dict[str, int] = {}
    for positions in groups:
        _count(connection, _by_generator(question.name, positions), planned)
        _count(connection, _answered(_by_generator(question.name, positions)), collected)
    return [Cell(name, collected.get(name, 0), planned[name]) for name in sorted(planned)]


def _by_generator(question: str, positions: tuple[int, ...]) -> Select[Any]:
    """Count distinct test trials of a question, grouped by the generators of the images at these positions."""
    images = [pictures.alias() for _ in positions]
    joined: Any = trials
    for image, position in zip(images, positions, strict=True):
        joined = joined.join(image, image.c.image == trials.c.images[position].as_string())
    generators = [image.c.generator for image in images]
    return (
        select(func.count(distinct(trials.c.trial)), *generators)
        .select_from(joined)
        .where(trials.c.question == question, trials.c.role == "test")
        .group_by(*generators)
    )


def _answered(query: Select[Any]) -> Select[Any]:
    """Restrict a query to trials with an answer that counts."""
    return (
        query.join(responses, responses.c.trial == trials.c.trial)
        .join(sessions, sessions.c.session == responses.c.session)
        .join(persons, persons.c.person == sessions.c.person)
        .where(responses.c.valid.is_(True), COUNTS)
    )


def _count(connection: Connection, query: Select[Any], into: dict[str, int]) -> None:
    for count, *generators in connection.execute(query):
        name = " × ".join(sorted(generators))
        into[name] = into.get(name, 0) + count
