"""Bodies of requests from a rater's own page, validated; unknown fields are refused."""

from typing import Annotated, Literal

from pydantic import Field

from beholder.collect.researcher.requests import LINE, LINES
from beholder.collect.session.messages import Message, Token

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=LINE)]
Text = Annotated[str, Field(max_length=5000, pattern=LINES)]


class EnterPanel(Message):
    """A personal link."""

    link: Token


class StudyMessage(Message):
    """Something about a study."""

    study: Name


class Rate(StudyMessage):
    """Where the researcher's next study should be in the rater's list."""

    rating: Annotated[int, Field(ge=1, le=3)]


class Flag(StudyMessage):
    """What is wrong with a study."""

    kind: Literal["pay too low", "inappropriate", "other"]
    text: Text = ""


class Appeal(StudyMessage):
    """A rater's answer to an exclusion or to a frozen report."""

    statement: Annotated[Text, Field(min_length=1)]


class Contact(Message):
    """How to reach a rater, who agrees to the text in this language."""

    address: Annotated[str, Field(min_length=3, max_length=320, pattern=LINE)]
    language: Literal["en", "de"]


class Interests(Message):
    """Kinds of questions that a rater likes."""

    kinds: Annotated[list[Name], Field(max_length=50)]


class Leave(Message):
    """Deletion of a rater, with or without the answers in the studies."""

    answers: bool
