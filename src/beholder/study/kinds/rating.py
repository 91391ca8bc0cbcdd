"""How good is this image, by one aspect or several?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import Field, model_validator

from beholder.study.kinds.coding import NumberCoding
from beholder.study.kinds.kind import AspectAnswer, Response, Sensed
from beholder.study.kinds.plain import PlainKind
from beholder.study.kinds.traits import Scale, Traits
from beholder.study.question import Aspect, Question, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it


class ScaleQuestion(Question):
    """One image, a scale for each aspect: what *rating* and *rich-feedback* have in common."""

    aspects: tuple[Aspect, ...] = (Aspect(name="quality", text="Quality"),)
    points: int = Field(5, ge=0, le=101, description="points of the scale from 1; 0: continuous from 0 to 100")

    @model_validator(mode="after")
    def _sound(self) -> ScaleQuestion:
        names = [aspect.name for aspect in self.aspects]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"aspects must be at least one, each named once; found: {', '.join(names) or 'none'}")
        if self.points == 1:
            raise ValueError("points must be 0 (continuous) or at least 2: a scale of one point asks nothing")
        wrong = [a.name for a in self.aspects if a.labels and len(a.labels) != self.points]
        if wrong:
            raise ValueError(f"labels of {', '.join(wrong)}: one for each of the {self.points} points is expected")
        return self

    def scale(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return (1.0, float(self.points)) if self.points else (0.0, 100.0)

    def place(self, feeling: float) -> float:
        """Return the value on the scale for a quality from 0 to 1: the nearest point, of two the higher."""
        low, high = self.scale()
        value = low + (high - low) * min(max(feeling, 0.0), 1.0)
        return float(math.floor(value + 0.5)) if self.points else round(value, 1)


class RatingQuestion(ScaleQuestion):
    """One image, a scale for each aspect."""

    kind: Literal["rating"] = "rating"
    text: Words = "How good is this image?"


NEAR = 0.1
"""Fraction of the scale by which a repeated rating may differ, if that is more than one point."""

R = TypeVar("R", bound=ScaleQuestion)

FELT_AS = {"quality": "plausibility", "authenticity": "plausibility", "correspondence": "alignment"}
"""Aspects of other names, and the perceived quality by which a simulated rater rates them."""


TRAITS = Traits(
    seconds=10.0,
    answering=0.45,
    least_seconds=0.25,
    items="generated",
    page="rating",
    rated_by="mean-opinion",
    labelled_by=("mean", "z-mean", "p910"),
    agreement=("intraclass",),
    power_model="means",
    expected_by="mean-opinion",
    jspsych="survey-likert",
)


@dataclass(frozen=True)
class Rating(PlainKind[R]):
    """A number for each aspect."""

    name: str = "rating"
    summary: str = "One image: a scale for each aspect."
    settings: type[Question] = RatingQuestion
    traits: Traits = TRAITS
    columns: tuple[str, ...] = ("value",)

    def shows(self, question: R) -> int:  # noqa: ARG002
        """One image."""
        return 1

    def aspects(self, question: R) -> tuple[str, ...]:
        """As the question names them."""
        return tuple(aspect.name for aspect in question.aspects)

    def coding(self, question: R) -> NumberCoding:
        """The number given; repeated, it may differ by one point or a tenth of the scale, whichever is more."""
        low, high = question.scale()
        return NumberCoding(slack=max(1.0, NEAR * (high - low)))

    def scale(self, question: R) -> Scale:
        """As the question says."""
        return Scale(*question.scale(), question.points)

    def wording(self, question: R, aspect: str) -> str | None:
        """The words of the aspect."""
        return next((setting.text for setting in question.aspects if setting.name == aspect), None)

    def answer_faults(self, question: R, answer: AspectAnswer) -> Iterator[str]:
        """A number on the scale; where it has points, one of them."""
        low, high = question.scale()
        value = math.nan if answer.value is None else answer.value
        is_point = not question.points or value == round(value) if math.isfinite(value) else False
        if answer.filled != ["value"] or not low <= value <= high or not is_point:
            yield f"{answer.aspect}: found {answer.text!r}, expected a number from {low:g} to {high:g}"

    def respond(self, question: R, sensed: Sensed, rng: np.random.Generator) -> Response:  # noqa: ARG002
        """Place the perceived quality on the scale; an aspect that the world does not have is rated as overall."""
        felt = {name: sensed.quality.get(FELT_AS.get(name, name)) for name in self.aspects(question)}
        overall = sensed.quality["overall"]
        answers = (
            AspectAnswer(name, value=question.place(float((overall if feeling is None else feeling)[0])))
            for name, feeling in felt.items()
        )
        return Response(tuple(answers))

    def guess(self, question: R, rng: np.random.Generator) -> Response:
        """Any value, all equally likely, drawn independently for each aspect."""
        low, high = question.scale()
        points = rng.integers(int(low), int(high), len(question.aspects), endpoint=True)
        return self._all(question, (points - low) / (high - low))

    def lazy(self, question: R) -> Response:
        """The top of every scale."""
        return self._all(question, [1.0] * len(question.aspects))

    def oppose(self, question: R, response: Response) -> Response:
        """Mirrored on the scale."""
        low, high = question.scale()
        return Response(
            tuple(AspectAnswer(s.aspect, value=round(low + high - (s.value or 0.0), 1)) for s in response.answers)
        )

    def obey(self, question: R, expected: str) -> Response:
        """The value asked for, on every scale."""
        return Response(tuple(AspectAnswer(name, value=float(expected)) for name in self.aspects(question)))

    def instruct(self, question: R, rng: np.random.Generator) -> str:
        """A value in the lower half: not where a lazy rater clicks."""
        return f"{question.place(float(rng.uniform(0, 0.5))):g}"

    def _all(self, question: R, feelings: Iterable[float]) -> Response:
        values = (question.place(float(feeling)) for feeling in feelings)
        return Response(
            tuple(AspectAnswer(n, value=v) for n, v in zip(self.aspects(question), values, strict=True))
        )


RATING: Rating[RatingQuestion] = Rating()
