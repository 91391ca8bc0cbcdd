"""Many images in rapid succession: press a key at each that is generated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from beholder.study.kinds.coding import CreditCoding
from beholder.study.kinds.kind import MOST_MARKS, AspectAnswer, Mark, Response, Sensed
from beholder.study.kinds.plain import PlainKind
from beholder.study.kinds.traits import LENGTH_TOLERANCE, Traits, Viewing
from beholder.study.question import Question, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it


CROSS_MS, AFTER_MS = 800, 1000
"""Before and after a series (``sweep.js``)."""

LATE_MS = 5000
"""After a series, in which a press may still come."""


class SweepQuestion(Question):
    """A rapid series; a press counts for the images just before it, by how long raters take to press."""

    kind: Literal["sweep"] = "sweep"
    text: Words = "Press the space bar whenever you see a generated image."
    images: int = Field(100, ge=5, description="images per trial")
    each_ms: int = Field(100, ge=16, description="how long each image is shown")
    latency_ms: float = Field(378, gt=0, description="mean time from an image to the press for it")
    latency_sd_ms: float = Field(92, gt=0)


TRAITS = Traits(
    seconds=20.0,
    answering=0.75,
    least_seconds=1.0,
    items="series",
    page="sweep",
    rated_by="pass-rate",
    labelled_by=("credit",),
    jspsych="html-keyboard-response",
    shows_prompt=False,
    flashes=True,
    any_number=True,
)


@dataclass(frozen=True)
class Sweep(PlainKind[SweepQuestion]):
    """Key presses with their times; the answer itself is how many there were."""

    name: str = "sweep"
    summary: str = "Rapid series of images: a key press at each generated one."
    settings: type[Question] = SweepQuestion
    traits: Traits = TRAITS
    columns: tuple[str, ...] = ("value",)

    def shows(self, question: SweepQuestion) -> int:
        """The length of the series."""
        return question.images

    def aspects(self, question: SweepQuestion) -> tuple[str, ...]:  # noqa: ARG002
        """The one thing that is judged."""
        return ("realism",)

    def coding(self, question: SweepQuestion) -> CreditCoding:
        """The credit that each image has from the presses after it."""
        return CreditCoding(question.each_ms, question.latency_ms, question.latency_sd_ms)

    def least_seconds(self, question: SweepQuestion) -> float:
        """As long as its images."""
        return (1 - LENGTH_TOLERANCE) * question.images * question.each_ms / 1000

    def viewing(self, question: SweepQuestion, exposure_ms: float | None) -> Viewing:  # noqa: ARG002
        """A cross, the images one after the other, and time for the last press."""
        return Viewing(
            float(question.images * question.each_ms),
            (CROSS_MS,),
            (AFTER_MS,),
            images=question.images,
            answered_meanwhile=True,
        )

    def answer_faults(self, question: SweepQuestion, answer: AspectAnswer) -> Iterator[str]:  # noqa: ARG002
        """The number of presses."""
        if answer.filled != ["value"] or answer.value is None or not 0 <= answer.value <= MOST_MARKS:
            yield f"{answer.aspect}: found {answer.text!r}, expected the number of presses"

    def mark_faults(self, question: SweepQuestion, mark: Mark, words: int) -> Iterator[str]:  # noqa: ARG002
        """Presses during the series or shortly after."""
        longest = question.images * question.each_ms + LATE_MS
        timed = mark.at_ms is not None and 0 <= mark.at_ms <= longest
        if mark.kind != "press" or mark.aspect != "hit" or mark.image is not None or not timed:
            yield f"a {mark.kind} mark; a sweep takes presses between 0 and {longest} ms"

    def response_faults(self, question: SweepQuestion, response: Response) -> Iterator[str]:  # noqa: ARG002
        """As many presses as the answer says."""
        if [answer.value for answer in response.answers] != [len(response.marks)]:
            yield f"{len(response.marks)} presses; expected as many as the answer says"

    def respond(self, question: SweepQuestion, sensed: Sensed, rng: np.random.Generator) -> Response:
        """Press for each image whose evidence exceeds the criterion, after a normal latency."""
        (hits,) = (sensed.generated > sensed.criterion).nonzero()
        latency = rng.normal(question.latency_ms, question.latency_sd_ms, len(hits))
        return _pressed(hits * question.each_ms + latency.clip(min=0.0))

    def guess(self, question: SweepQuestion, rng: np.random.Generator) -> Response:
        """Presses at any time, about one in four images."""
        return _pressed(rng.uniform(0, question.images * question.each_ms, rng.poisson(question.images / 4)))

    def lazy(self, question: SweepQuestion) -> Response:  # noqa: ARG002
        """No press at all."""
        return _pressed(())

    def oppose(self, question: SweepQuestion, response: Response) -> Response:
        """A press at every image for which none was meant."""
        meant = {round(((m.at_ms or 0.0) - question.latency_ms) / question.each_ms) for m in response.marks}
        others = (image for image in range(question.images) if image not in meant)
        return _pressed(image * question.each_ms + question.latency_ms for image in others)

    def obey(self, question: SweepQuestion, expected: str) -> Response:
        """That many presses, evenly spaced."""
        return _pressed((press + 1.0) * question.each_ms for press in range(int(float(expected))))

    def instruct(self, question: SweepQuestion, rng: np.random.Generator) -> str:  # noqa: ARG002
        """Ask for three presses."""
        return "3"


def _pressed(at_ms: Iterable[float]) -> Response:
    times = sorted(at_ms)
    marks = tuple(Mark("hit", "press", at_ms=float(time)) for time in times)
    return Response((AspectAnswer("realism", value=float(len(times))),), marks)


SWEEP = Sweep()
