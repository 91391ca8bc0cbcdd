"""Bodies of the researcher's requests, validated; unknown fields are refused."""

from typing import Annotated

from pydantic import Field

from beholder.collect.session.messages import Message

LINES = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
"""Text of several lines without other control characters, which not every database stores."""

LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"
"""The same in one line."""

Reason = Annotated[str, Field(max_length=2000, pattern=LINES)]
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=LINE)]


class StudyAction(Message):
    """An action on the whole study."""

    reason: Reason = ""


class ExtendQuestion(StudyAction):
    """More slots for a question."""

    question: Name
    slots: int = Field(ge=1, le=10_000)


class RaterAction(StudyAction):
    """An action on a rater; a reason is required."""

    rater: Name
    reason: Annotated[Reason, Field(min_length=1)]


class CloseSession(StudyAction):
    """The end of a session."""

    session: Name


class MakeInvitations(StudyAction):
    """Invitation links, one per rater."""

    count: int = Field(ge=1, le=1000)
    note: Annotated[str, Field(max_length=200, pattern=LINE)] = ""
