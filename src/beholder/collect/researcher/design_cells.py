"""How far each cell of the design is filled: answers to test trials, by generator or by pair of generators."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, distinct, func, select

from beholder.collect.database.schema import persons, pictures, responses, sessions, trials
from beholder.collect.session.leases import COUNTS
from beholder.study.kinds.catalogue import KINDS, AnyQuestion


@dataclass(frozen=True, slots=True)
class Cell:
    """A generator, or two against each other: test trials that were drawn, and those of them answered."""

    cell: str
    collected: int
    planned: int


def cells(connection: Connection, question: AnyQuestion) -> list[Cell]:
    """The cells of a question by name. A trial with a row of images counts for every generator in it."""
    shown = KINDS[question.kind].shows(question)
    places = [(0, 1)] if shown == 2 else [(place,) for place in range(shown)]
    planned: dict[str, int] = {}
    collected: dict[str, int] = {}
    for place in places:
        _count(connection, _by_generator(question.name, place), planned)
        _count(connection, _answered(_by_generator(question.name, place)), collected)
    return [Cell(name, collected.get(name, 0), planned[name]) for name in sorted(planned)]


def _by_generator(question: str, places: tuple[int, ...]) -> Select[Any]:
    """Distinct test trials of a question, grouped by the generators of the images at these places."""
    shown = [pictures.alias() for _ in places]
    joined: Any = trials
    for picture, place in zip(shown, places, strict=True):
        joined = joined.join(picture, picture.c.image == trials.c.images[place].as_string())
    makers = [picture.c.generator for picture in shown]
    return (
        select(func.count(distinct(trials.c.trial)), *makers)
        .select_from(joined)
        .where(trials.c.question == question, trials.c.role == "test")
        .group_by(*makers)
    )


def _answered(query: Select[Any]) -> Select[Any]:
    """Only those with an answer that counts."""
    return (
        query.join(responses, responses.c.trial == trials.c.trial)
        .join(sessions, sessions.c.session == responses.c.session)
        .join(persons, persons.c.person == sessions.c.person)
        .where(responses.c.valid.is_(True), COUNTS)
    )


def _count(connection: Connection, query: Select[Any], into: dict[str, int]) -> None:
    for count, *makers in connection.execute(query):
        name = " × ".join(sorted(makers))
        into[name] = into.get(name, 0) + count
