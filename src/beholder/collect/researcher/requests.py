"""What the researcher's page sends: checked bodies, nothing unknown taken."""

from typing import Annotated

from pydantic import Field

from beholder.collect.session.messages import Message

LINES = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
"""Text of several lines without other control characters; not every database takes those."""

LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"
"""The same in one line."""

Reason = Annotated[str, Field(max_length=2000, pattern=LINES)]
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=LINE)]


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
    reason: Annotated[Reason, Field(min_length=1)]


class Close(Deed):
    """A session to be ended."""

    session: Name


class Invite(Deed):
    """Links, each for one person."""

    count: int = Field(ge=1, le=1000)
    note: Annotated[str, Field(max_length=200, pattern=LINE)] = ""
