"""What is wrong with this image, where, and which words of the prompt are misaligned?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from beholder.study.kinds.kind import Mark, Response, Sensed
from beholder.study.kinds.rating import RATING, Rating, ScaleQuestion
from beholder.study.kinds.traits import MarkedQuestion, Traits
from beholder.study.question import Aspect, Question, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it

MARKED = ("implausibility", "misalignment")


class RichFeedbackQuestion(ScaleQuestion):
    """One image with its prompt: points on what is wrong, misaligned keywords, four scores."""

    kind: Literal["rich-feedback"] = "rich-feedback"
    text: Words = "Mark what is wrong in the image, click the words it misses, and rate it."
    aspects: tuple[Aspect, ...] = (
        Aspect(name="plausibility", text="Plausibility"),
        Aspect(name="alignment", text="Alignment with the text"),
        Aspect(name="aesthetics", text="Aesthetics"),
        Aspect(name="overall", text="Overall"),
    )
    radius: float = Field(1 / 20, gt=0, le=0.5, description="of a point's disk, as a fraction of the image height")


TRAITS = replace(
    RATING.traits,
    seconds=90.0,
    answering=30 / 90,
    least_seconds=1.0,
    page="rich_feedback",
    agreement=("intraclass", "max-diff"),
    expected_by=None,
    shows_words=True,
)


@dataclass(frozen=True)
class RichFeedback(Rating[RichFeedbackQuestion]):
    """Ratings, and the flawed regions and misaligned keywords that the rater noticed."""

    name: str = "rich-feedback"
    summary: str = "One image with its prompt: marked points, misaligned keywords, four scores."
    settings: type[Question] = RichFeedbackQuestion
    traits: Traits = TRAITS

    def marked(self, question: RichFeedbackQuestion) -> MarkedQuestion:
        """Places and words are marked."""
        return question

    def mark_faults(self, question: RichFeedbackQuestion, mark: Mark, words: int) -> Iterator[str]:  # noqa: ARG002
        """Points within the image, and words of the prompt."""
        if mark.kind == "point":
            inside = mark.point is not None and all(0 <= part <= 1 for part in mark.point)
            if mark.aspect not in MARKED or mark.image != 0 or not inside:
                yield f"a point that is not {' or '.join(MARKED)} within the image"
        elif mark.kind == "word":
            inside = mark.word is not None and 0 <= mark.word < words
            if mark.aspect != "misalignment" or mark.image not in (None, 0) or not inside:
                yield f"a word mark outside the {words} words of the prompt"
        else:
            yield f"a {mark.kind} mark; rich feedback takes points and words"

    def respond(self, question: RichFeedbackQuestion, sensed: Sensed, rng: np.random.Generator) -> Response:
        """Rate, and mark what was noticed."""
        points = tuple(
            Mark(aspect, "point", image=0, point=point)
            for aspect in MARKED
            for point in sensed.points.get(aspect, ((),))[0]
        )
        words = tuple(Mark("misalignment", "word", word=word) for word in sensed.words)
        return Response(super().respond(question, sensed, rng).answers, points + words)


RICH_FEEDBACK = RichFeedback()
