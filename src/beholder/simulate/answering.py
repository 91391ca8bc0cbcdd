"""The response of a simulated rater to a trial of any kind, habits included."""

from dataclasses import dataclass

import numpy as np

from beholder.simulate.raters import TYPICAL_SECONDS, SimulatedRater
from beholder.simulate.sight import Sight
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.kind import Response

HEEDS_INSTRUCTIONS = 0.98
"""Probability that a rater who reads the instructions follows an attention check."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A response, the response time, and the duration of the trial."""

    response: Response
    seconds: float
    trial_seconds: float


def answer(
    rater: SimulatedRater,
    question: AnyQuestion,
    sight: Sight,
    *,
    instruction: str | None,
    progress: float,
    exposure_ms: float | None,
    rng: np.random.Generator,
) -> Answered:
    """Return a response. ``instruction`` is what an attention check asks for; ``progress`` runs from 0 to 1."""
    kind = kind_of(question)
    seconds = rater.draw_seconds(kind.traits.answer_seconds / TYPICAL_SECONDS, rng)
    sensed = rater.sense(sight, progress=progress, exposure_ms=exposure_ms, rng=rng)
    truthful = kind.respond(question, sensed, rng)
    lapsed = rng.random() < rater.lapse * (1 + rater.drift * progress)
    heeds = rng.random() < HEEDS_INSTRUCTIONS
    if rater.habit == "lazy":
        response = kind.lazy(question)
    elif rater.habit in ("random", "fast") or lapsed:
        response = kind.guess(question, rng)
    elif instruction is not None and heeds:
        response = kind.obey(question, instruction)
    elif rater.habit == "malicious":
        response = kind.oppose(question, truthful)
    else:
        response = truthful
    return Answered(response, seconds, seconds / kind.traits.answering)
