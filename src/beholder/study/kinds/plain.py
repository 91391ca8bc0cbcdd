"""What a question kind has unless it declares otherwise."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from beholder.study.kinds.kind import Mark, Response
from beholder.study.kinds.traits import AdaptiveQuestion, MarkedQuestion, Scale, Traits, Viewing
from beholder.study.question import Question

Q = TypeVar("Q", bound=Question)


class PlainKind(Generic[Q]):
    """Images that stay until the answer, without a scale, marks or ties; a kind overrides what it has."""

    name: str
    traits: Traits

    def options(self, question: Q) -> tuple[str, ...]:  # noqa: ARG002 - here and below: others look at it
        """The choices that the question offers; none where its answer is no choice."""
        return ()

    def scale(self, question: Q) -> Scale | None:  # noqa: ARG002
        """The scale on which it is answered."""
        return None

    def wording(self, question: Q, aspect: str) -> str | None:  # noqa: ARG002
        """The words in which an aspect is asked for, where a question has several."""
        return None

    def ties(self, question: Q) -> bool | None:  # noqa: ARG002
        """Whether ties are offered; nothing where every image is judged alone."""
        return None

    def least_seconds(self, question: Q) -> float:  # noqa: ARG002
        """As the kind's traits say."""
        return self.traits.least_seconds

    def viewing(self, question: Q, exposure_ms: float | None) -> Viewing | None:  # noqa: ARG002
        """How images are shown that do not stay; ``exposure_ms`` is what an adaptive question asked for."""
        return None

    def adaptive(self, question: Q) -> AdaptiveQuestion | None:  # noqa: ARG002
        """The question itself, where its exposure follows the answers."""
        return None

    def marked(self, question: Q) -> MarkedQuestion | None:  # noqa: ARG002
        """The question itself, where places and words are marked."""
        return None

    def mark_faults(self, question: Q, mark: Mark, words: int) -> Iterator[str]:  # noqa: ARG002
        """Marks are not taken."""
        yield f"a {mark.kind} mark; questions of kind {self.name} take none"

    def response_faults(self, question: Q, response: Response) -> Iterator[str]:  # noqa: ARG002
        """None, where each part is allowed by itself."""
        yield from ()
