"""Feedback and votes of a prototype round, and what they decide."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from sqlalchemy import Connection, Row, func, insert, select, update

from beholder.care.prototype_round import Decision, PrototypeRule
from beholder.collect.database.schema import control, prototype_feedback, slots
from beholder.collect.researcher.requests import LINES
from beholder.collect.session.messages import Message, Token

DECISION = "prototype"
"""Control value: what the votes have decided."""

CHOICES = ("publish", "revise")


class Feedback(Message):
    """What a rater says of a prototype; only the text may be empty, unless the vote is to revise."""

    vote: Literal["publish", "revise"]
    clear: Annotated[int, Field(ge=1, le=5)]
    minutes: Annotated[float, Field(gt=0, le=600)]
    pay: Annotated[int, Field(ge=1, le=5)]
    examples: bool
    """whether examples are missing"""
    text: Annotated[str, Field(max_length=5000, pattern=LINES)] = ""
    trials: tuple[Token, ...] = Field((), max_length=100)
    """those that were unclear"""

    @model_validator(mode="after")
    def _reasoned(self) -> "Feedback":
        if self.vote == "revise" and not self.text.strip():
            raise ValueError("a vote to revise needs a text that says what is to change")
        return self


@dataclass(frozen=True, slots=True)
class Tally:
    """How the votes of a round stand."""

    publish: int
    revise: int
    decision: Decision


def store_feedback(
    connection: Connection,
    session: Row[Any],
    feedback: Feedback,
    concerned: list[str],
    rule: PrototypeRule,
    *,
    now: float,
) -> Tally:
    """Store a rater's feedback; once the votes decide, no further rater is admitted.

    Args:
        connection: To the round's database, in a write transaction.
        session: The rater's.
        feedback: What they say.
        concerned: The trials that were unclear.
        rule: When votes decide.
        now: The time.

    Returns:
        How the votes stand.
    """
    content = feedback.model_dump(exclude={"trials"})
    connection.execute(
        insert(prototype_feedback).values(session=session.session, trials=concerned, at=now, **content)
    )
    tally = read_tally(connection, rule)
    if tally.decision != "ask more":
        connection.execute(update(slots).where(slots.c.session.is_(None)).values(done=True))
        if connection.scalar(select(control.c.value).where(control.c.name == DECISION)) is None:
            connection.execute(insert(control).values(name=DECISION, value=tally.decision))
    return tally


def read_tally(connection: Connection, rule: PrototypeRule) -> Tally:
    """Count the votes; once they have decided, later votes change nothing.

    Args:
        connection: To the round's database, in any transaction.
        rule: When votes decide.

    Returns:
        How they stand.
    """
    counts = {
        row.vote: int(row.votes)
        for row in connection.execute(
            select(prototype_feedback.c.vote, func.count().label("votes")).group_by(prototype_feedback.c.vote)
        )
    }
    publish, revise = (counts.get(choice, 0) for choice in CHOICES)
    decided: Decision | None = connection.scalar(select(control.c.value).where(control.c.name == DECISION))
    return Tally(publish, revise, decided or rule.decide(publish, revise))
