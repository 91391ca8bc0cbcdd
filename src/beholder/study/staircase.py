"""The weighted up-down staircase: the proportion of correct answers to which it converges."""

from beholder.errors import StudyError

CHANCE = 0.5


def implied_target(*, step_down: float, step_up: float, right_in_a_row: int = 1) -> float:
    """Return the proportion of correct answers to which the staircase converges.

    Going down by ``step_down`` after ``right_in_a_row`` correct answers and up by ``step_up`` after an error,
    the staircase is in equilibrium where p^k · down = (1 − p^k) · up (Kaernbach 1991), so

        p = (up / (up + down)) ^ (1 / k)
    """
    return float((step_up / (step_up + step_down)) ** (1 / right_in_a_row))


def require_target_above_chance(*, step_down: float, step_up: float, right_in_a_row: int = 1) -> float:
    """Return the implied target; at or below chance it is refused: such a staircase finds no threshold."""
    target = implied_target(step_down=step_down, step_up=step_up, right_in_a_row=right_in_a_row)
    if target <= CHANCE:
        raise StudyError(
            "staircase",
            [
                f"−{step_down:g}/+{step_up:g} ms after {right_in_a_row} right settles at {target:.0%} right, "
                f"which is not above chance ({CHANCE:.0%}): everyone is driven to the shortest exposure"
            ],
            advice="Make step_up_ms larger than step_down_ms (−10/+30 settles at 75 %), or raise right_in_a_row.",
        )
    return target
