import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import StudyError
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.staircase import implied_target, require_target_above_chance

UNHURRIED = settings(deadline=None)


class TestImpliedTarget:
    @pytest.mark.parametrize(
        ("down", "up", "row", "target"),
        [
            (30, 10, 1, 0.25),  # as HYPE prints it: 10 / 40
            (10, 30, 1, 0.75),  # 30 / 40
            (30, 10, 3, 0.629961),  # cube root of 1/4
            (10, 10, 1, 0.5),
            (10, 10, 2, 0.707107),  # Levitt's two down, one up: the root of 1/2
            (10, 10, 3, 0.793701),  # and three down, one up
        ],
    )
    def test_by_hand(self, down: float, up: float, row: int, target: float) -> None:
        assert implied_target(step_down=down, step_up=up, right_in_a_row=row) == pytest.approx(target, abs=1e-6)

    @UNHURRIED
    @given(st.floats(1, 100), st.floats(1, 100), st.integers(1, 5))
    def test_steps_balance_there(self, down: float, up: float, row: int) -> None:
        p = implied_target(step_down=down, step_up=up, right_in_a_row=row)
        assert 0 < p < 1
        assert p**row * down == pytest.approx((1 - p**row) * up)

    @UNHURRIED
    @given(st.floats(1, 100), st.floats(1, 100), st.integers(1, 5), st.floats(1.01, 10))
    def test_larger_steps_up_and_longer_rows_raise_it(self, down: float, up: float, row: int, more: float) -> None:
        p = implied_target(step_down=down, step_up=up, right_in_a_row=row)
        assert implied_target(step_down=down, step_up=up * more, right_in_a_row=row) > p
        assert implied_target(step_down=down, step_up=up, right_in_a_row=row + 1) > p


class TestRefusal:
    def test_below_chance_says_why_and_what_to_do(self) -> None:
        with pytest.raises(StudyError) as caught:
            require_target_above_chance(step_down=30, step_up=10)
        assert str(caught.value) == (
            "staircase: 1 fault\n"
            "  - −30/+10 ms after 1 right settles at 25% right, which is not above chance (50%): "
            "everyone is driven to the shortest exposure\n"
            "Make step_up_ms larger than step_down_ms (−10/+30 settles at 75 %), or raise right_in_a_row."
        )

    def test_at_chance(self) -> None:
        with pytest.raises(StudyError, match="settles at 50% right"):
            require_target_above_chance(step_down=10, step_up=10)

    def test_above_chance_is_taken(self) -> None:
        assert require_target_above_chance(step_down=10, step_up=30) == 0.75
        assert require_target_above_chance(step_down=30, step_up=10, right_in_a_row=3) == pytest.approx(
            0.63, abs=1e-3
        )

    def test_a_question_with_such_steps_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"settles at 25% right.*raise right_in_a_row"):
            TimedRealismQuestion(name="q", step_down_ms=30, step_up_ms=10)


class TestNextExposure:
    @pytest.mark.parametrize(
        ("exposure", "right", "after"),
        [
            (500, True, 490),
            (500, False, 530),
            (110, True, 100),
            (105, True, 100),  # clipped
            (100, True, 100),
            (970, False, 1000),
            (971, False, 1000),  # clipped
            (1000, False, 1000),
            (1000, True, 990),
        ],
    )
    def test_by_hand(self, exposure: float, right: bool, after: float) -> None:
        question = TimedRealismQuestion(name="q")
        assert question.next_exposure(exposure, 0, right=right) == (after, 0)

    def test_three_in_a_row(self) -> None:
        question = TimedRealismQuestion(name="q", step_down_ms=30, step_up_ms=10, right_in_a_row=3)
        state, states = (500.0, 0), []
        for right in (True, True, True, True, True, False, True, True, True):
            state = question.next_exposure(*state, right=right)
            states.append(state)
        assert states == [
            *((500, 1), (500, 2), (470, 0)),  # the third takes it down, and the count starts again
            *((470, 1), (470, 2), (480, 0)),  # an error takes it up, and the count starts again
            *((480, 1), (480, 2), (450, 0)),
        ]

    @UNHURRIED
    @given(st.lists(st.booleans(), max_size=200), st.integers(1, 3))
    def test_stays_within_bounds(self, answers: list[bool], row: int) -> None:
        question = TimedRealismQuestion(name="q", right_in_a_row=row)
        state = (float(question.start_ms), 0)
        for right in answers:
            state = question.next_exposure(*state, right=right)
            assert question.shortest_ms <= state[0] <= question.longest_ms
            assert 0 <= state[1] < row


@pytest.mark.parametrize(("down", "up", "row"), [(10, 30, 1), (30, 10, 3), (10, 10, 2), (7, 13, 4)])
@pytest.mark.parametrize("off", [-0.05, 0.0, 0.05])
def test_an_observer_at_the_target_stays_where_they_are(down: int, up: int, row: int, off: float) -> None:
    """The law that gives the target its meaning: no drift at it, longer exposures below, shorter above."""
    question = TimedRealismQuestion(
        name="q", step_down_ms=down, step_up_ms=up, right_in_a_row=row, start_ms=10**7, longest_ms=2 * 10**7
    )
    trials = 20_000
    right = np.random.default_rng(5).random(trials) < question.target() + off
    state = (1e7, 0)
    for answer in right:
        state = question.next_exposure(*state, right=bool(answer))
    drift = (state[0] - 1e7) / trials  # ms a trial
    # a trial moves it by at most `up` or `down`; the standard error of the mean move is below
    error = (up + down) / np.sqrt(trials)
    if off:
        assert drift * np.sign(off) < -4 * error
    else:
        assert abs(drift) < 4 * error
