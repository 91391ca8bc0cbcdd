"""Made-up people going through the trials of a question."""

from datetime import timedelta

import numpy as np
import polars as pl
import pytest

from beholder.collect.simulate.sessions import OPENING, Collected, collect_question
from beholder.simulate.people import Person
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


def people(*habits: str, **traits: float) -> list[Person]:
    return [Person(f"p{n}", habit, **traits) for n, habit in enumerate(habits)]


def collect(question: AnyQuestion, table: pl.DataFrame, crowd: list[Person]) -> Collected:
    return collect_question(question, table, VIEWS, crowd, seed=[0])


def test_people_take_the_slots_in_turn_and_answer_each_trial_once() -> None:
    question = RealismQuestion(name="q")
    found = collect(question, trials(3, ["test"] * 6), people(*["noisy"] * 5))
    assert [(s["rater"], s["slot"], s["status"]) for s in found.sessions] == [
        ("p0", 0, "complete"),
        ("p1", 1, "complete"),
        ("p2", 2, "complete"),
    ]
    assert [row["trial"] for row in found.answers] == [f"q-{s}-{p:03d}" for s in range(3) for p in range(6)]


def test_fewer_people_than_slots_leave_slots_free() -> None:
    found = collect(RealismQuestion(name="q"), trials(5, ["test"] * 2), people("noisy", "noisy"))
    assert len(found.answers) == 4


def test_the_slot_of_someone_screened_out_goes_to_the_next() -> None:
    question = RealismQuestion(name="q", screening=Screening(min_qualification=0.65))
    crowd = [
        *people("lazy"),
        Person("sharp", "noisy", acuity=3.0, criterion=4.0),
        Person("last", "noisy", **SHARP),
    ]
    found = collect(question, trials(2, ["qualification"] * 8 + ["test"] * 4), crowd)
    assert [(s["rater"], s["slot"], s["status"]) for s in found.sessions] == [
        ("p0", 0, "screened-out"),
        ("sharp", 0, "complete"),
        ("last", 1, "complete"),
    ]
    mine = [row["trial"] for row in found.answers if row["rater"] == "p0"]
    assert mine == [f"q-0-{p:03d}" for p in range(8)]  # the qualification only
    tested = [row["trial"] for row in found.answers if int(str(row["trial"])[-3:]) >= 8]
    assert len(tested) == len(set(tested)) == 8


@pytest.mark.parametrize(("least", "admitted"), [(0.0, True), (0.01, False)])
def test_the_worse_class_decides_and_the_threshold_itself_is_enough(least: float, *, admitted: bool) -> None:
    # a lazy person calls all images real: 100 % right on real, 0 % on generated
    question = RealismQuestion(name="q", screening=Screening(min_qualification=least))
    found = collect(question, trials(1, ["qualification"] * 4 + ["test"]), people("lazy"))
    assert found.sessions[0]["status"] == ("complete" if admitted else "screened-out")


def test_without_a_threshold_everyone_is_admitted() -> None:
    found = collect(RealismQuestion(name="q"), trials(1, ["qualification"] * 4 + ["test"]), people("lazy"))
    assert found.sessions[0]["status"] == "complete"


def test_training_comes_before_qualification_and_does_not_count() -> None:
    question = RealismQuestion(name="q", screening=Screening(min_qualification=1.0))
    roles = ["training"] * 2 + ["qualification"] * 2 + ["test"]
    wrong_in_training = ["real", "generated", "generated", "real", "generated"]
    found = collect(question, trials(1, roles, expected=wrong_in_training), people("noisy", **SHARP))
    assert found.sessions[0]["status"] == "complete"


def test_moments_follow_the_times() -> None:
    found = collect(RealismQuestion(name="q"), trials(2, ["test"] * 5), people("noisy", "noisy"))
    for session in found.sessions:
        mine = [row for row in found.answers if row["session"] == session["session"]]
        clock = session["started"]
        assert clock >= OPENING  # type: ignore[operator]
        for row in mine:
            # half of a trial passes between the image and the answer
            clock += timedelta(seconds=2 * row["seconds"])  # type: ignore[operator]
            assert abs(row["answered"] - clock) <= timedelta(milliseconds=2)  # type: ignore[operator]
            clock = row["answered"]
        assert session["ended"] == clock


def test_the_same_people_answer_alike_whoever_comes_before() -> None:
    table = trials(3, ["test"] * 6)
    crowd = people("noisy", "noisy", "noisy")
    other = [Person("other", "random"), *crowd[1:]]
    first, second = (collect(RealismQuestion(name="q"), table, c) for c in (crowd, other))
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
        found = collect(self.QUESTION, table, people("noisy", acuity=0.6))
        assert len(found.answers) == 50
        return [
            (role, block, row["exposure_ms"], row["choice"] == right)  # type: ignore[misc]
            for role, block, row, right in zip(self.ROLES, self.BLOCKS, found.answers, expected, strict=True)
        ]

    def test_replayed_step_by_step(self) -> None:
        ms, in_a_row, part = 0.0, 0, None
        for role, block, shown, right in self.exposures():
            now = role if role == "qualification" else block
            if now != part:
                ms, in_a_row, part = 500.0, 0, now
            assert shown == ms
            if role != "attention":
                ms, in_a_row = self.QUESTION.next_exposure(ms, in_a_row, right=right)

    def test_it_begins_anew_after_the_qualification_and_in_each_block(self) -> None:
        shown = [ms for _, _, ms, _ in self.exposures()]
        assert [shown[0], shown[10], shown[30]] == [500.0] * 3
        assert len(set(shown)) > 4
        assert min(shown) >= 100
        assert max(shown) <= 600

    def test_other_kinds_have_no_exposure(self) -> None:
        found = collect(RealismQuestion(name="q"), trials(1, ["test"]), people("noisy"))
        assert found.answers[0]["exposure_ms"] is None
        assert found.answers[0]["dropped_frames"] is None

    def test_harder_to_see_means_longer_exposures(self) -> None:
        roles, blocks = ["test"] * 200, [0] * 200
        means = []
        for threshold in (100.0, 500.0):
            crowd = [Person("p", "noisy", acuity=2.0, criterion=2.0, threshold_ms=threshold)]
            found = collect(TimedRealismQuestion(name="q"), trials(1, roles, blocks), crowd)
            means.append(np.mean([float(str(row["exposure_ms"])) for row in found.answers[100:]]))
        assert means[0] < means[1]
