"""Which of two images is better?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from beholder.study.kinds.choosing import Choosing
from beholder.study.kinds.coding import ChoiceCoding
from beholder.study.kinds.kind import Response, Sensed
from beholder.study.kinds.traits import Traits
from beholder.study.question import Question, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it

LEFT, TIE, BOTH_BAD, RIGHT = "left", "tie", "both-bad", "right"


class PairQuestion(Question):
    """Two images of one prompt, side by side; *left*, *right*, and *tie* and *both bad* where allowed."""

    kind: Literal["pair"] = "pair"
    text: Words = "Which image do you prefer?"
    ties: bool = Field(True, description="offer a tie")
    both_bad: bool = Field(False, description="offer *both are bad* as well, which counts as a tie")

    @model_validator(mode="after")
    def _sound(self) -> PairQuestion:
        if self.both_bad and not self.ties:
            raise ValueError("both_bad needs ties: it counts as one")
        return self


class Pair(Choosing[PairQuestion]):
    """The better one overall, or a tie where the difference is below the indifference threshold."""

    def options(self, question: PairQuestion) -> tuple[str, ...]:
        """Left, tie, both bad, right, or without what is not offered."""
        between = (TIE,) * question.ties + (BOTH_BAD,) * question.both_bad
        return (LEFT, *between, RIGHT)

    def ties(self, question: PairQuestion) -> bool:
        """As the question says."""
        return question.ties

    def respond(self, question: PairQuestion, sensed: Sensed, rng: np.random.Generator) -> Response:
        """Compare the perceived quality of both; a difference of exactly 0 is decided by a coin."""
        left, right = sensed.quality["overall"]
        gap = float(left - right)
        if question.ties and abs(gap) < sensed.indifference:
            return self.pick(TIE)
        if gap == 0:
            return self.pick(LEFT if rng.random() < 0.5 else RIGHT)
        return self.pick(LEFT if gap > 0 else RIGHT)


PAIR = Pair(
    name="pair",
    summary="Two images of one prompt: left, right or tie.",
    settings=PairQuestion,
    traits=Traits(
        seconds=6.0,
        answering=0.5,
        least_seconds=0.25,
        items="pairs",
        gold="known-bad",
        page="pair",
        rated_by="bradley-terry",
        labelled_by=("preference",),
        power_model="preference",
        expected_by="bradley-terry",
    ),
    aspect="preference",
    choices=(LEFT, TIE, BOTH_BAD, RIGHT),
    images=2,
    code=ChoiceCoding("vote", {LEFT: 1.0, TIE: 0.0, BOTH_BAD: 0.0, RIGHT: -1.0}),
)
