"""How a made-up person answers a trial of any kind, habits included."""

from dataclasses import dataclass

import numpy as np

from beholder.simulate.people import Person
from beholder.simulate.sight import Sight
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.kind import Response

HEEDS_INSTRUCTIONS = 0.98
"""Chance that someone who reads gives the answer that an attention check asks for."""

BASE_SECONDS: dict[str, float] = {
    "realism": 1.0,
    "timed-realism": 0.6,
    "pair": 2.0,
    "side-by-side-5": 2.5,
    "ranking": 12.0,
    "rating": 3.0,
    "rich-feedback": 20.0,
    "sweep": 10.0,
}
"""How long a kind takes, relative to calling one image real or generated."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A response and the time it took."""

    response: Response
    seconds: float


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
    kind = KINDS[question.kind]
    seconds = person.dally(BASE_SECONDS[question.kind], rng)
    sensed = person.sense(sight, progress=progress, exposure_ms=exposure_ms, rng=rng)
    truthful = kind.respond(question, sensed, rng)
    lapsed = rng.random() < person.lapse * (1 + person.drift * progress)
    heeds = rng.random() < HEEDS_INSTRUCTIONS
    if person.habit == "lazy":
        return Answered(kind.lazy(question), seconds)
    if person.habit in ("random", "fast") or lapsed:
        return Answered(kind.guess(question, rng), seconds)
    if instruction is not None and heeds:
        return Answered(kind.obey(question, instruction), seconds)
    if person.habit == "malicious":
        return Answered(kind.oppose(question, truthful), seconds)
    return Answered(truthful, seconds)
