"""Simulated sessions: raters go through the trials of a question."""

from datetime import timedelta

import numpy as np
import polars as pl
import pytest

from beholder.collect.simulate.sessions import OPENING, CollectedRows, simulate_question
from beholder.simulate.raters import SimulatedRater
from beholder.simulate.sight import ASPECTS, View
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Screening

REAL, FAKE = View(0.0, dict.fromkeys(ASPECTS, 1.0)), View(3.0, dict.fromkeys(ASPECTS, 0.4))
VIEWS = {"r": REAL, "f": FAKE}
SHARP = {"acuity": 3.0, "criterion": 4.0, "lapse": 0.0}


def trials(
    slots: int, roles: list[str], blocks: list[int] | None = None, expected: list[str] | None = None
) -> pl.DataFrame:
    rows = [
        {
            "trial": f"q-{slot}-{position:03d}",
            "slot": slot,
            "position": position,
            "block": blocks[position] if blocks else 0,
            "role": role,
            "images": ["r" if position % 2 else "f"],
            "expected": expected[position] if expected else ("real" if position % 2 else "generated"),
        }
        for slot in range(slots)
        for position, role in enumerate(roles)
    ]
    return pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=0)  # the order of the rows must not matter


def raters_with(*habits: str, **traits: float) -> list[SimulatedRater]:
    return [SimulatedRater(f"p{n}", habit, **traits) for n, habit in enumerate(habits)]


def collect(question: AnyQuestion, table: pl.DataFrame, raters: list[SimulatedRater]) -> CollectedRows:
    return simulate_question(question, table, VIEWS, raters, seed=[0])


def test_raters_take_the_slots_in_turn_and_answer_each_trial_once() -> None:
    question = RealismQuestion(name="q")
    collected = collect(question, trials(3, ["test"] * 6), raters_with(*["noisy"] * 5))
    assert [(s["rater"], s["slot"], s["status"]) for s in collected.sessions] == [
        ("p0", 0, "complete"),
        ("p1", 1, "complete"),
        ("p2", 2, "complete"),
    ]
    assert [row["trial"] for row in collected.answers] == [f"q-{s}-{p:03d}" for s in range(3) for p in range(6)]


def test_fewer_raters_than_slots_leave_slots_free() -> None:
    collected = collect(RealismQuestion(name="q"), trials(5, ["test"] * 2), raters_with("noisy", "noisy"))
    assert len(collected.answers) == 4


def test_the_slot_of_someone_screened_out_goes_to_the_next() -> None:
    question = RealismQuestion(name="q", screening=Screening(min_qualification=0.65))
    raters = [
        *raters_with("lazy"),
        SimulatedRater("sharp", "noisy", acuity=3.0, criterion=4.0),
        SimulatedRater("last", "noisy", **SHARP),
    ]
    collected = collect(question, trials(2, ["qualification"] * 8 + ["test"] * 4), raters)
    assert [(s["rater"], s["slot"], s["status"]) for s in collected.sessions] == [
        ("p0", 0, "screened-out"),
        ("sharp", 0, "complete"),
        ("last", 1, "complete"),
    ]
    trials_of_p0 = [row["trial"] for row in collected.answers if row["rater"] == "p0"]
    assert trials_of_p0 == [f"q-0-{p:03d}" for p in range(8)]  # the qualification only
    tested = [row["trial"] for row in collected.answers if int(str(row["trial"])[-3:]) >= 8]
    assert len(tested) == len(set(tested)) == 8


@pytest.mark.parametrize(("least", "admitted"), [(0.0, True), (0.01, False)])
def test_the_worse_class_decides_and_the_threshold_itself_is_enough(least: float, *, admitted: bool) -> None:
    # a lazy person calls all images real: 100 % right on real, 0 % on generated
    question = RealismQuestion(name="q", screening=Screening(min_qualification=least))
    collected = collect(question, trials(1, ["qualification"] * 4 + ["test"]), raters_with("lazy"))
    assert collected.sessions[0]["status"] == ("complete" if admitted else "screened-out")


def test_without_a_threshold_everyone_is_admitted() -> None:
    collected = collect(
        RealismQuestion(name="q"), trials(1, ["qualification"] * 4 + ["test"]), raters_with("lazy")
    )
    assert collected.sessions[0]["status"] == "complete"


def test_training_comes_before_qualification_and_does_not_count() -> None:
    question = RealismQuestion(name="q", screening=Screening(min_qualification=1.0))
    roles = ["training"] * 2 + ["qualification"] * 2 + ["test"]
    wrong_in_training = ["real", "generated", "generated", "real", "generated"]
    collected = collect(question, trials(1, roles, expected=wrong_in_training), raters_with("noisy", **SHARP))
    assert collected.sessions[0]["status"] == "complete"


def test_moments_follow_the_times() -> None:
    collected = collect(RealismQuestion(name="q"), trials(2, ["test"] * 5), raters_with("noisy", "noisy"))
    for session in collected.sessions:
        session_answers = [row for row in collected.answers if row["session"] == session["session"]]
        clock = session["started"]
        assert clock >= OPENING  # type: ignore[operator]
        for row in session_answers:
            # half of a trial passes between the image and the answer
            clock += timedelta(seconds=2 * row["seconds"])  # type: ignore[operator]
            assert abs(row["answered"] - clock) <= timedelta(milliseconds=2)  # type: ignore[operator]
            clock = row["answered"]
        assert session["ended"] == clock


def test_the_same_raters_answer_alike_whoever_comes_before() -> None:
    table = trials(3, ["test"] * 6)
    raters = raters_with("noisy", "noisy", "noisy")
    other = [SimulatedRater("other", "random"), *raters[1:]]
    first, second = (collect(RealismQuestion(name="q"), table, c) for c in (raters, other))
    for who in ("p1", "p2"):
        rows = [[r["choice"] for r in c.answers if r["rater"] == who] for c in (first, second)]
        assert rows[0] == rows[1]


class TestStaircase:
    QUESTION = TimedRealismQuestion(
        name="q", start_ms=500, shortest_ms=100, longest_ms=600, step_down_ms=40, step_up_ms=90, right_in_a_row=2
    )
    ROLES = ["qualification"] * 10 + (["test"] * 9 + ["attention"]) * 4
    BLOCKS = [0] * 10 + [0] * 20 + [1] * 20

    def exposures(self) -> list[tuple[str, int, float, bool]]:
        expected = ["real" if p % 2 else "generated" for p in range(50)]
        table = trials(1, self.ROLES, self.BLOCKS, expected)
        collected = collect(self.QUESTION, table, raters_with("noisy", acuity=0.6))
        assert len(collected.answers) == 50
        return [
            (role, block, row["exposure_ms"], row["choice"] == right)  # type: ignore[misc]
            for role, block, row, right in zip(self.ROLES, self.BLOCKS, collected.answers, expected, strict=True)
        ]

    def test_replayed_step_by_step(self) -> None:
        ms, in_a_row, part = 0.0, 0, None
        for role, block, exposure_ms, right in self.exposures():
            now = role if role == "qualification" else block
            if now != part:
                ms, in_a_row, part = 500.0, 0, now
            assert exposure_ms == ms
            if role != "attention":
                ms, in_a_row = self.QUESTION.next_exposure(ms, in_a_row, right=right)

    def test_it_starts_again_after_the_qualification_and_in_each_block(self) -> None:
        exposures = [ms for _, _, ms, _ in self.exposures()]
        assert [exposures[0], exposures[10], exposures[30]] == [500.0] * 3
        assert len(set(exposures)) > 4
        assert min(exposures) >= 100
        assert max(exposures) <= 600

    def test_other_kinds_have_no_exposure(self) -> None:
        collected = collect(RealismQuestion(name="q"), trials(1, ["test"]), raters_with("noisy"))
        assert collected.answers[0]["exposure_ms"] is None
        assert collected.answers[0]["dropped_frames"] is None

    def test_harder_to_see_means_longer_exposures(self) -> None:
        roles, blocks = ["test"] * 200, [0] * 200
        means = []
        for threshold in (100.0, 500.0):
            raters = [SimulatedRater("p", "noisy", acuity=2.0, criterion=2.0, threshold_ms=threshold)]
            collected = collect(TimedRealismQuestion(name="q"), trials(1, roles, blocks), raters)
            means.append(np.mean([float(str(row["exposure_ms"])) for row in collected.answers[100:]]))
        assert means[0] < means[1]
