"""How a made-up person answers a trial of any kind, habits included."""

from dataclasses import dataclass

import numpy as np

from beholder.simulate.people import TYPICAL_SECONDS, Person
from beholder.simulate.sight import Sight
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.kind import Response

HEEDS_INSTRUCTIONS = 0.98
"""Chance that someone who reads gives the answer that an attention check asks for."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A response, the time from the images to it, and that of the trial as a whole."""

    response: Response
    seconds: float
    trial_seconds: float


def answer(
    person: Person,
    question: AnyQuestion,
    sight: Sight,
    *,
    instruction: str | None,
    progress: float,
    exposure_ms: float | None,
    rng: np.random.Generator,
) -> Answered:
    """One answer. ``instruction`` is what an attention check asks for; ``progress`` runs from 0 to 1."""
    kind = kind_of(question)
    seconds = person.dally(kind.traits.answer_seconds / TYPICAL_SECONDS, rng)
    sensed = person.sense(sight, progress=progress, exposure_ms=exposure_ms, rng=rng)
    truthful = kind.respond(question, sensed, rng)
    lapsed = rng.random() < person.lapse * (1 + person.drift * progress)
    heeds = rng.random() < HEEDS_INSTRUCTIONS
    if person.habit == "lazy":
        response = kind.lazy(question)
    elif person.habit in ("random", "fast") or lapsed:
        response = kind.guess(question, rng)
    elif instruction is not None and heeds:
        response = kind.obey(question, instruction)
    elif person.habit == "malicious":
        response = kind.oppose(question, truthful)
    else:
        response = truthful
    return Answered(response, seconds, seconds / kind.traits.answering)
