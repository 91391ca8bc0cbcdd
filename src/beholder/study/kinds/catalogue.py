"""All question kinds. A new one is a file next to this one, and a line in ``KINDS``."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from beholder.study.kinds.choice import CHOICE
from beholder.study.kinds.kind import Kind
from beholder.study.kinds.pair import PAIR
from beholder.study.kinds.ranking import RANKING
from beholder.study.kinds.rating import RATING
from beholder.study.kinds.realism import REALISM
from beholder.study.kinds.rich_feedback import RICH_FEEDBACK
from beholder.study.kinds.side_by_side import SIDE_BY_SIDE
from beholder.study.kinds.sweep import SWEEP
from beholder.study.kinds.timed_realism import TIMED_REALISM
from beholder.study.kinds.traits import MarkedQuestion
from beholder.study.kinds.write_prompt import WRITE_PROMPT
from beholder.study.question import Question

KINDS: dict[str, Kind[Any]] = {
    kind.name: kind
    for kind in (
        *(REALISM, TIMED_REALISM, PAIR, RANKING, SIDE_BY_SIDE, RATING, RICH_FEEDBACK, SWEEP, CHOICE),
        WRITE_PROMPT,
    )
}


class ByKind:
    """Reads a question with the settings of the kind that it names."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a union of the settings of all kinds, discriminated by ``kind``."""
        choices = {name: handler.generate_schema(kind.settings) for name, kind in KINDS.items()}
        return core_schema.tagged_union_schema(choices, discriminator="kind")


AnyQuestion = Annotated[Question, ByKind()]
"""A question of any kind; the study file names it by ``kind``."""


def kind_of(question: Question) -> Kind[Any]:
    """The kind of a question, with all that is particular to it."""
    return KINDS[question.kind]


def marked_questions(questions: Iterable[Question]) -> list[MarkedQuestion]:
    """Those of the questions on which places and words are marked."""
    return [marked for question in questions if (marked := kind_of(question).marked(question)) is not None]
