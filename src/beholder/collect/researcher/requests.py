"""What the researcher's page sends: checked bodies, nothing unknown taken."""

from typing import Annotated

from pydantic import Field

from beholder.collect.messages import Message

Reason = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=64)]


class Deed(Message):
    """Something done to the whole study."""

    reason: Reason = ""


class Extend(Deed):
    """More places for a question."""

    question: Name
    slots: int = Field(ge=1, le=10_000)


class About(Deed):
    """Something done to a person; a reason is needed."""

    rater: Name
    reason: Annotated[str, Field(min_length=1, max_length=2000)]


class Close(Deed):
    """A session to be ended."""

    session: Name


class Invite(Deed):
    """Links, each for one person."""

    count: int = Field(ge=1, le=1000)
    note: Annotated[str, Field(max_length=200)] = ""
