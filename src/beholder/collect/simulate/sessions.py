"""Simulated sessions: raters go through the trials of a question by the rules of the server, without it."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

from beholder.simulate.answering import Answered, answer
from beholder.simulate.raters import SimulatedRater
from beholder.simulate.sight import View, sight_of
from beholder.study.kinds.catalogue import AnyQuestion, kind_of

OPENING = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""When simulated studies open: fixed, so that a seed gives the same bytes on any day."""

ARRIVAL_SECONDS = 40.0

LEAD = ("training", "qualification")
"""Roles of the trials before the first block."""

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class CollectedRows:
    """Rows of the tables ``sessions``, ``answers`` and ``marks``."""

    sessions: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    marks: list[Row] = field(default_factory=list)


def simulate_question(
    question: AnyQuestion,
    trials: pl.DataFrame,
    views: Mapping[str, View],
    raters: Sequence[SimulatedRater],
    *,
    seed: Sequence[int],
) -> CollectedRows:
    """Simulate a question: each rater takes the first free slot; who fails the qualification frees it again."""
    by_slot = {
        slot: rows.sort("position").rows(named=True)
        for (slot,), rows in trials.partition_by("slot", as_dict=True).items()
    }
    free = deque(sorted(by_slot))
    collected = CollectedRows()
    for number, rater in enumerate(raters):
        if not free:
            break
        rng = np.random.default_rng([*seed, number])
        slot = free.popleft()
        started = OPENING + timedelta(
            seconds=round(number * ARRIVAL_SECONDS + rng.exponential(ARRIVAL_SECONDS), 3)
        )
        passed = _session(question, by_slot[slot], views, rater, slot, started, collected, rng)
        if not passed:
            free.appendleft(slot)
    return collected


def _session(
    question: AnyQuestion,
    trials: Sequence[Row],
    views: Mapping[str, View],
    rater: SimulatedRater,
    slot: int,
    started: datetime,
    collected: CollectedRows,
    rng: np.random.Generator,
) -> bool:
    """Simulate one session; return whether the rater was admitted to the test."""
    session = f"{question.name}-{rater.rater}"
    clock, admitted, right_by_class = started, True, dict[str, list[bool]]()
    exposures = _Exposures(question)
    for number, trial in enumerate(trials):
        if trial["role"] != "qualification" and right_by_class:
            admitted = _passes(question, right_by_class)
            right_by_class = {}
            if not admitted:
                break
        exposure = exposures.next(trial)
        answered = _answer(question, rater, trial, views, number / len(trials), exposure, rng)
        clock += timedelta(milliseconds=round(1000 * answered.trial_seconds))
        collected.answers.extend(_answer_rows(question, trial, session, rater.rater, answered, exposure, clock))
        collected.marks.extend(_mark_rows(trial, session, answered))
        right = answered.response.answers[0].text == trial["expected"]
        exposures.record(trial, exposure, right=right)
        if trial["role"] == "qualification":
            right_by_class.setdefault(str(trial["expected"]), []).append(right)
    collected.sessions.append(
        {
            "session": session,
            "rater": rater.rater,
            "question": question.name,
            "slot": slot,
            "status": "complete" if admitted else "screened-out",
            "started": started,
            "ended": clock,
            "simulated": True,
            "platform": "simulated",
        }
    )
    return admitted


class _Exposures:
    """The staircase of a timed question; no exposure for other kinds.

    It starts again in training, in the qualification and in each block. Attention checks, whose answer does not
    depend on the image, take no step.
    """

    def __init__(self, question: AnyQuestion) -> None:
        self._question = kind_of(question).adaptive(question)
        self._part: object = None
        self._past_ms: list[float] = []
        self._right: list[bool] = []

    def next(self, trial: Row) -> float | None:
        """Return the exposure of this trial in ms."""
        if self._question is None:
            return None
        part = trial["role"] if trial["role"] in LEAD else trial["block"]
        if part != self._part:
            self._part, self._past_ms, self._right = part, [], []
        return self._question.exposure_after(self._past_ms, self._right)

    def record(self, trial: Row, exposure_ms: float | None, *, right: bool) -> None:
        """Record the answer to an exposure."""
        if exposure_ms is not None and trial["role"] != "attention":
            self._past_ms.append(exposure_ms)
            self._right.append(right)


def _answer(
    question: AnyQuestion,
    rater: SimulatedRater,
    trial: Row,
    views: Mapping[str, View],
    progress: float,
    exposure_ms: float | None,
    rng: np.random.Generator,
) -> Answered:
    images = trial["images"]
    assert isinstance(images, list)
    sight = sight_of([views[image] for image in images])
    instruction = str(trial["expected"]) if trial["role"] == "attention" else None
    return answer(
        rater, question, sight, instruction=instruction, progress=progress, exposure_ms=exposure_ms, rng=rng
    )


def _passes(question: AnyQuestion, right_by_class: Mapping[str, list[bool]]) -> bool:
    """Whether the proportion of right answers reaches the threshold, if there is one, on every class."""
    least = question.screening.min_qualification
    return least is None or all(float(np.mean(right)) >= least for right in right_by_class.values())


def _answer_rows(
    question: AnyQuestion,
    trial: Row,
    session: str,
    rater: str,
    answered: Answered,
    exposure_ms: float | None,
    clock: datetime,
) -> Iterator[Row]:
    for aspect in answered.response.answers:
        yield {
            "trial": trial["trial"],
            "session": session,
            "rater": rater,
            "question": question.name,
            "aspect": aspect.aspect,
            "attempt": 1,
            "choice": aspect.choice,
            "value": aspect.value,
            "ranking": None if aspect.ranking is None else list(aspect.ranking),
            "seconds": round(answered.seconds, 3),
            "exposure_ms": exposure_ms,
            "intended_ms": exposure_ms,
            "dropped_frames": None if exposure_ms is None else 0,
            "valid": True,
            "answered": clock,
        }


def _mark_rows(trial: Row, session: str, answered: Answered) -> Iterator[Row]:
    images = trial["images"]
    assert isinstance(images, list)
    for number, mark in enumerate(answered.response.marks):
        yield {
            "trial": trial["trial"],
            "session": session,
            "aspect": mark.aspect,
            "number": number,
            "kind": mark.kind,
            "image": None if mark.image is None else images[mark.image],
            "x": mark.point[0] if mark.point else None,
            "y": mark.point[1] if mark.point else None,
            "word": mark.word,
            "at_ms": mark.at_ms,
        }
