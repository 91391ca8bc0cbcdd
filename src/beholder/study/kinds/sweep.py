"""Many images in rapid succession: press a key at each that is generated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from beholder.study.kinds.coding import CreditCoding
from beholder.study.kinds.kind import Mark, Response, Said, Sensed
from beholder.study.question import Question, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it


class SweepQuestion(Question):
    """A rapid series; a press counts for the images just before it, by how long people take to press."""

    kind: Literal["sweep"] = "sweep"
    text: Words = "Press the space bar whenever you see a generated image."
    images: int = Field(100, ge=5, description="images a trial")
    each_ms: int = Field(100, ge=16, description="how long each image is shown")
    latency_ms: float = Field(378, gt=0, description="mean time from an image to the press for it")
    latency_sd_ms: float = Field(92, gt=0)


@dataclass(frozen=True)
class Sweep:
    """Key presses with their times; the answer itself is how many there were."""

    name: str = "sweep"
    summary: str = "Rapid series of images: a key press at each generated one."
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
        """So many presses, evenly."""
        return _pressed((press + 1.0) * question.each_ms for press in range(int(float(expected))))

    def instruct(self, question: SweepQuestion, rng: np.random.Generator) -> str:  # noqa: ARG002
        """Ask for three presses."""
        return "3"


def _pressed(at_ms: Iterable[float]) -> Response:
    times = sorted(at_ms)
    marks = tuple(Mark("hit", "press", at_ms=float(time)) for time in times)
    return Response((Said("realism", value=float(len(times))),), marks)


SWEEP = Sweep()
