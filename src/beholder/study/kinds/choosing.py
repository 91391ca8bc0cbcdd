"""What the kinds share whose answer is one of a few choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from beholder.study.kinds.coding import Coding
from beholder.study.kinds.kind import AspectAnswer, Response
from beholder.study.kinds.plain import PlainKind
from beholder.study.kinds.traits import Traits
from beholder.study.question import Question

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it

Q = TypeVar("Q", bound=Question)


@dataclass(frozen=True)
class Choosing(PlainKind[Q]):
    """A kind with one aspect and a fixed order of choices; the contrary of a choice mirrors that order."""

    name: str
    summary: str
    settings: type[Question]
    traits: Traits
    aspect: str
    choices: tuple[str, ...]
    images: int
    code: Coding
    columns: tuple[str, ...] = ("choice",)

    def shows(self, question: Q) -> int:  # noqa: ARG002 - the same for all questions of the kind
        """How many images a trial shows."""
        return self.images

    def aspects(self, question: Q) -> tuple[str, ...]:  # noqa: ARG002
        """The one thing that is judged."""
        return (self.aspect,)

    def coding(self, question: Q) -> Coding:  # noqa: ARG002
        """The number that each choice stands for."""
        return self.code

    def options(self, question: Q) -> tuple[str, ...]:  # noqa: ARG002
        """The choices that this question offers."""
        return self.choices

    def answer_faults(self, question: Q, answer: AspectAnswer) -> Iterator[str]:
        """One of the choices offered, and nothing else."""
        options = self.options(question)
        if answer.filled != ["choice"] or answer.choice not in options:
            yield f"{answer.aspect}: found {answer.text!r}, expected one of {', '.join(options)}"

    def guess(self, question: Q, rng: np.random.Generator) -> Response:
        """Any choice, all equally likely."""
        options = self.options(question)
        return self.pick(options[int(rng.integers(len(options)))])

    def lazy(self, question: Q) -> Response:
        """The first choice."""
        return self.pick(self.options(question)[0])

    def oppose(self, question: Q, response: Response) -> Response:
        """The choice at the mirrored place."""
        options = self.options(question)
        place = options.index(response.answers[0].text)
        return self.pick(options[len(options) - 1 - place])

    def obey(self, question: Q, expected: str) -> Response:  # noqa: ARG002
        """The choice asked for."""
        return self.pick(expected)

    def instruct(self, question: Q, rng: np.random.Generator) -> str:
        """Any choice may be asked for."""
        return self.guess(question, rng).answers[0].text

    def pick(self, choice: str) -> Response:
        """The response that consists of this choice."""
        return Response((AspectAnswer(self.aspect, choice=choice),))
