"""Active time of a session from the moments of its answers, where the page did not measure it."""

from collections.abc import Sequence
from itertools import pairwise

IDLE_SECONDS = 30.0
"""What a pause counts for at most in the active time (Fair Work)."""


def time_between(moments: Sequence[float], usual_seconds: float) -> float:
    """Return the active time: Σ min(gap, limit) from moment to moment.

    The limit is ``IDLE_SECONDS``, or twice the usual time of a trial where that is more, because what a rater does
    within a trial is work.

    Args:
        moments: When the session began and answers came, in seconds.
        usual_seconds: Of a trial.

    Returns:
        Seconds.

    Example:
        >>> time_between([0, 10, 100], usual_seconds=6)
        40.0
    """
    limit = max(IDLE_SECONDS, 2 * usual_seconds)
    return float(sum(min(after - before, limit) for before, after in pairwise(sorted(moments))))
