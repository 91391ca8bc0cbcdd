"""Which of two images is better, and is it much better?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from beholder.study.kinds.choosing import Choosing
from beholder.study.kinds.coding import ChoiceCoding
from beholder.study.kinds.kind import Response, Sensed
from beholder.study.kinds.traits import Traits
from beholder.study.question import Question, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it

MUCH_BETTER, BETTER, SAME, WORSE, MUCH_WORSE = "left-much", "left", "same", "right", "right-much"


class SideBySideQuestion(Question):
    """Two images, blind, and five answers: ≫ > ≈ < ≪."""

    kind: Literal["side-by-side-5"] = "side-by-side-5"
    text: Words = "Which image is better?"
    much: float = Field(
        3.0, gt=1, description="of simulated raters: *much* is a difference of so many indifference thresholds"
    )


class SideBySide(Choosing[SideBySideQuestion]):
    """Five answers by the size of the difference."""

    def ties(self, question: SideBySideQuestion) -> bool:  # noqa: ARG002
        """One of the five answers."""
        return True

    def respond(self, question: SideBySideQuestion, sensed: Sensed, rng: np.random.Generator) -> Response:  # noqa: ARG002
        """The difference in quality, cut at the indifference threshold and at ``much`` times it, symmetrically."""
        left, right = sensed.quality["overall"]
        gap = float(left - right)
        steps = (abs(gap) >= sensed.indifference) + (abs(gap) >= question.much * sensed.indifference)
        return self.pick(self.choices[2 - ((gap > 0) - (gap < 0)) * steps])


SIDE_BY_SIDE = SideBySide(
    name="side-by-side-5",
    summary="Two images, blind: much better, better, same, worse, much worse.",
    settings=SideBySideQuestion,
    traits=Traits(
        seconds=8.0,
        answering=3.75 / 8,
        least_seconds=0.25,
        items="pairs",
        page="side_by_side",
        rated_by="mean-preference",
        labelled_by=("preference", "mean-preference"),
        power_model="preference",
    ),
    aspect="preference",
    choices=(MUCH_BETTER, BETTER, SAME, WORSE, MUCH_WORSE),
    images=2,
    code=ChoiceCoding(
        "graded-vote", {MUCH_BETTER: 2.0, BETTER: 1.0, SAME: 0.0, WORSE: -1.0, MUCH_WORSE: -2.0}, slack=1.0
    ),
)
