"""Put several images of one prompt in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from beholder.study.kinds.coding import RankCoding
from beholder.study.kinds.kind import AspectAnswer, Response, Sensed
from beholder.study.kinds.plain import PlainKind
from beholder.study.kinds.traits import Traits
from beholder.study.question import Question, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it


class RankingQuestion(Question):
    """Three to ten images of one prompt, ranked from best to worst."""

    kind: Literal["ranking"] = "ranking"
    text: Words = "Put the images in order, the best first."
    images: int = Field(4, ge=3, le=10, description="images per trial")


TRAITS = Traits(
    seconds=40.0,
    answering=0.45,
    least_seconds=1.0,
    items="rows",
    page="ranking",
    rated_by="plackett-luce",
    labelled_by=("preference",),
    agreement=("kendall-w",),
    any_number=True,
)


@dataclass(frozen=True)
class Ranking(PlainKind[RankingQuestion]):
    """A rank for each image, 1 the best."""

    name: str = "ranking"
    summary: str = "Three to ten images of one prompt, from best to worst."
    settings: type[Question] = RankingQuestion
    traits: Traits = TRAITS
    columns: tuple[str, ...] = ("ranking",)

    def shows(self, question: RankingQuestion) -> int:
        """As many as the question says."""
        return question.images

    def aspects(self, question: RankingQuestion) -> tuple[str, ...]:  # noqa: ARG002
        """The one thing that is judged."""
        return ("preference",)

    def coding(self, question: RankingQuestion) -> RankCoding:  # noqa: ARG002
        """The rank of each image."""
        return RankCoding()

    def ties(self, question: RankingQuestion) -> bool:  # noqa: ARG002
        """Images may share a rank."""
        return True

    def answer_faults(self, question: RankingQuestion, answer: AspectAnswer) -> Iterator[str]:
        """A rank for each image."""
        places = range(1, question.images + 1)
        ranks = answer.ranking or ()
        if (
            answer.filled != ["ranking"]
            or len(ranks) != question.images
            or not all(rank in places for rank in ranks)
        ):
            yield f"{answer.aspect}: expected a rank from 1 to {question.images} for each image"

    def respond(self, question: RankingQuestion, sensed: Sensed, rng: np.random.Generator) -> Response:  # noqa: ARG002
        """Order the images by perceived quality."""
        order = (-sensed.quality["overall"]).argsort(kind="stable")
        return _ranked(order.argsort() + 1)

    def guess(self, question: RankingQuestion, rng: np.random.Generator) -> Response:
        """Any order."""
        return _ranked(rng.permutation(question.images) + 1)

    def lazy(self, question: RankingQuestion) -> Response:
        """The order in which they are shown."""
        return _ranked(range(1, question.images + 1))

    def oppose(self, question: RankingQuestion, response: Response) -> Response:
        """The reverse order."""
        return _ranked(question.images + 1 - rank for rank in response.answers[0].ranking or ())

    def obey(self, question: RankingQuestion, expected: str) -> Response:  # noqa: ARG002
        """The order asked for."""
        return _ranked(int(rank) for rank in expected.split())

    def instruct(self, question: RankingQuestion, rng: np.random.Generator) -> str:  # noqa: ARG002
        """The reverse of the order shown: simple to say, and not what a lazy rater does."""
        return self.oppose(question, self.lazy(question)).answers[0].text


def _ranked(ranks: Iterable[int]) -> Response:
    return Response((AspectAnswer("preference", ranking=tuple(int(rank) for rank in ranks)),))


RANKING = Ranking()
