"""What is wrong with this image, where, and which words of the prompt were missed?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from beholder.study.kinds.kind import Mark, Response, Sensed
from beholder.study.kinds.rating import Rating, ScaleQuestion
from beholder.study.question import Aspect, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it

MARKED = ("implausibility", "misalignment")


class RichFeedbackQuestion(ScaleQuestion):
    """One image with its prompt: points on what is wrong, words that were missed, four scores."""

    kind: Literal["rich-feedback"] = "rich-feedback"
    text: Words = "Mark what is wrong in the image, click the words it misses, and rate it."
    aspects: tuple[Aspect, ...] = (
        Aspect(name="plausibility", text="Plausibility"),
        Aspect(name="alignment", text="Alignment with the text"),
        Aspect(name="aesthetics", text="Aesthetics"),
        Aspect(name="overall", text="Overall"),
    )
    radius: float = Field(1 / 20, gt=0, le=0.5, description="of a point's disk, as a share of the image height")


@dataclass(frozen=True)
class RichFeedback(Rating[RichFeedbackQuestion]):
    """Ratings, and the flawed places and words that the person noticed."""

    name: str = "rich-feedback"
    summary: str = "One image with its prompt: marked places, missed words, four scores."

    def respond(self, question: RichFeedbackQuestion, sensed: Sensed, rng: np.random.Generator) -> Response:
        """Rate, and mark what was noticed."""
        points = tuple(
            Mark(aspect, "point", image=0, point=point)
            for aspect in MARKED
            for point in sensed.points.get(aspect, ((),))[0]
        )
        words = tuple(Mark("misalignment", "word", word=word) for word in sensed.words)
        return Response(super().respond(question, sensed, rng).said, points + words)


RICH_FEEDBACK = RichFeedback()
