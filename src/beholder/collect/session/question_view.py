"""What a page is told about a question: the same in every trial, so it is made once."""

from dataclasses import dataclass
from typing import Any

from beholder.study.kinds.catalogue import AnyQuestion, kind_of

HIDDEN = {"design", "screening", "name", "kind", "protocol", "text", "much"}
"""Settings of a question that are not the page's business."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The settings of the kind itself, without how people are drawn and screened, and what may be chosen."""

    settings: dict[str, Any]
    options: list[str]


def asked(question: AnyQuestion) -> Asked:
    """What the pages need to know of a question."""
    return Asked(question.model_dump(mode="json", exclude=HIDDEN), list(kind_of(question).options(question)))
