"""How long a task takes, by Fair Work's medians: the median over items of the median over raters.

A rater reports how long an item took; the page measures the active time as well, in which a pause counts for at
most ``IDLE_SECONDS``. Medians are not moved by a few who report too much, and reports that contradict the
active time, or lie far outside of what rater and item predict, are frozen: they leave the medians until
somebody has looked at them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats as distributions

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate

IDLE_SECONDS = 30.0
"""What a pause counts for at most in the active time (Fair Work)."""

EXCESS = 1.5
"""A report above this multiple of the active time is suspicious."""

SLOWEST = 4.0
"""A rater whose times are above this multiple of those of others on the same items is suspicious, and is paid for
own time only up to this multiple of the effective time until a researcher has looked; see ``paid_multiple``."""

WITHIN, LEAST_SESSIONS, MOST_MULTIPLE = 4.3, 20, 12.0
"""Of a log-normal distribution of times, 1 in 120,000 is above 4.3 standard deviations; their spread is estimated
from at least 20 sessions. Nobody is paid for more than 12 times the effective time without a researcher's word."""


@dataclass(frozen=True, eq=False)
class SuspiciousReports:
    """Which reports leave the medians, and why."""

    exceeds_active: NDArray[np.bool_]  # (reports,) more than EXCESS times the active time
    outlying: NDArray[np.bool_]  # (reports,) by a rater who is far slower than all others on the same items

    @property
    def excluded(self) -> NDArray[np.bool_]:
        """Either of the two (reports,)."""
        return np.asarray(self.exceeds_active | self.outlying, np.bool_)


def effective_seconds(
    item: ArrayLike, rater: ArrayLike, seconds: ArrayLike, frozen: ArrayLike | None = None, level: float = 0.95
) -> Estimate:
    """Return the effective time of an item: the median over items of the median over raters.

    Args:
        item: What was worked on (reports,).
        rater: By whom (reports,).
        seconds: The time reported (reports,).
        frozen: Reports that do not count (reports,).
        level: Of the confidence interval, by order statistics over the items.

    Returns:
        The effective time; with fewer items than the level needs, the interval is the range of the item medians.

    Example:
        >>> print(effective_seconds(["a", "a", "a", "b"], [1, 2, 3, 1], [60, 80, 900, 100]))
        90.000 [80.000, 100.000]
    """
    items, raters, times = np.asarray(item), np.asarray(rater), np.asarray(seconds, np.float64)
    counted = np.ones(len(times), np.bool_) if frozen is None else ~np.asarray(frozen, np.bool_)
    if not counted.any() or not np.all(np.isfinite(times[counted]) & (times[counted] >= 0)):
        raise StatisticsError("an effective time needs at least one report that is not frozen, of 0 s or more")
    medians = np.sort([np.median(times[counted & (items == name)]) for name in np.unique(items[counted])])
    low, high = _order_statistics(len(medians), level)
    return Estimate(
        value=float(np.median(medians)),
        low=float(medians[low]),
        high=float(medians[high]),
        level=level,
        method="order statistics of the item medians",
        raters=len(np.unique(raters[counted])),
        items=len(medians),
        answers=int(counted.sum()),
    )


def suspicious_reports(
    item: ArrayLike, rater: ArrayLike, reported: ArrayLike, active: ArrayLike
) -> SuspiciousReports:
    """Say which reports leave the medians until the rater and the researcher have looked at them.

    A report is suspicious if it exceeds ``EXCESS`` times the active time that the page measured, or if its
    rater is an outlier in a regression of log active time on rater and item: the rater's effect, the median
    over items of log time less the item's median, is above log ``SLOWEST``.

    Args:
        item: What was worked on (reports,).
        rater: By whom (reports,).
        reported: Seconds reported (reports,).
        active: Seconds measured (reports,).

    Returns:
        Both kinds of suspicion.

    Example:
        >>> kinds = suspicious_reports([1] * 4, [1, 2, 3, 4], [60, 66, 190, 70], [60, 64, 61, 70])
        >>> kinds.excluded.tolist()
        [False, False, True, False]
    """
    items, raters = np.asarray(item), np.asarray(rater)
    claimed, measured = np.asarray(reported, np.float64), np.maximum(np.asarray(active, np.float64), 1e-3)
    logs = np.log(measured)
    centred = np.empty(len(logs))
    for name in np.unique(items):
        centred[items == name] = logs[items == name] - np.median(logs[items == name])
    names, place = np.unique(raters, return_inverse=True)
    effects = np.array([np.median(centred[place == number]) for number in range(len(names))])
    return SuspiciousReports(claimed > EXCESS * measured, np.asarray(effects > np.log(SLOWEST))[place])


def paid_multiple(active: ArrayLike) -> float:
    """Return up to which multiple of the effective time a rater's own time is paid without a question.

    Raters whose speeds differ much reach further than four times the median and are honest. The multiple is
    exp(4.3 s), where s is 1.4826 times the median absolute deviation of the log times: a few raters who keep the
    page busy do not move it.

    Args:
        active: Seconds measured of each session (sessions,).

    Returns:
        Between 4 and 12; 4 from fewer than 20 sessions.

    Example:
        >>> paid_multiple([300.0] * 30), round(paid_multiple([100.0, 200.0, 300.0, 400.0, 800.0] * 10), 2)
        (4.0, 12.0)
    """
    logs = np.log(np.asarray(active, np.float64))
    if len(logs) < LEAST_SESSIONS:
        return SLOWEST
    spread = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    return min(max(float(np.exp(WITHIN * spread)), SLOWEST), MOST_MULTIPLE)


def _order_statistics(count: int, level: float) -> tuple[int, int]:
    """Return the places of the order statistics that enclose the median at the level, from 0."""
    below = int(distributions.binom.ppf((1 - level) / 2, count, 0.5)) - 1
    below = max(below, 0)
    return below, count - 1 - below
