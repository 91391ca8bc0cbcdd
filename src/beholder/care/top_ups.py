"""Top-ups: what is missing to the minimum wage, to the cent and rounded up.

Fair Work pays every rater for the effective time of the task, by its medians. Of honest raters who differ in
speed, half are slower than that and stay below the wage. Here a rater is paid for the effective time **or** the
active time that the page measured, whichever is longer; a rater whose report is frozen is paid for the
effective time alone. What a rater reports moves the medians, and nothing else: to report more than one worked
earns nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

from beholder.care.effective_time import SLOWEST
from beholder.errors import StatisticsError

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class PaidWork:
    """What one rater did in one session, and was paid for it."""

    rater: str
    session: str
    active_seconds: float
    paid_cents: int
    frozen: str = ""
    """why the rater's report is frozen; empty: it is not"""


@dataclass(frozen=True, slots=True)
class TopUp:
    """What is proposed for a session, and why."""

    rater: str
    session: str
    cents: int
    owed_cents: int
    paid_cents: int
    seconds: float
    """the time that is paid"""
    reason: str


def top_ups(
    work: Iterable[PaidWork], *, effective_seconds: float, hourly: Decimal, multiple: float = SLOWEST
) -> tuple[TopUp, ...]:
    """Return what is missing to the minimum wage for each session that was paid less; others get nothing.

    Args:
        work: Sessions with what was paid.
        effective_seconds: Of the task, by :func:`beholder.care.effective_time.effective_seconds`.
        hourly: The minimum wage, in the currency of the pay.
        multiple: Of the effective time, up to which own time is paid; by
            :func:`beholder.care.effective_time.paid_multiple`.

    Returns:
        Top-ups above 0, in the order of the work.

    Example:
        >>> work = [PaidWork("r1", "s1", 300, 68), PaidWork("r2", "s2", 100, 68)]
        >>> [(up.rater, up.cents) for up in top_ups(work, effective_seconds=240, hourly=Decimal(12))]
        [('r1', 32), ('r2', 12)]
    """
    rows = []
    for session in work:
        own = 0.0 if session.frozen else min(session.active_seconds, multiple * effective_seconds)
        seconds = max(own, effective_seconds)
        owed = wage_cents(seconds, hourly)
        if owed > session.paid_cents:
            whose = "measured active time" if own > effective_seconds else "median time of the task"
            reason = f"{seconds:.0f} s ({whose}) at {hourly} an hour are {owed / 100:.2f}; paid "
            reason += f"{session.paid_cents / 100:.2f}"
            if session.frozen:
                reason += f"; report frozen: {session.frozen}"
            rows.append(
                TopUp(
                    rater=session.rater,
                    session=session.session,
                    cents=owed - session.paid_cents,
                    owed_cents=owed,
                    paid_cents=session.paid_cents,
                    seconds=seconds,
                    reason=reason,
                )
            )
    return tuple(rows)


def wage_cents(seconds: float, hourly: Decimal) -> int:
    """Return the wage for a time, in cents, rounded up; the arithmetic is exact.

    Args:
        seconds: The time, which counts to the millisecond.
        hourly: The wage per hour.

    Returns:
        Whole cents.

    Example:
        >>> wage_cents(300, Decimal("12")), wage_cents(300.001, Decimal("12"))
        (100, 101)
    """
    if seconds < 0 or hourly < 0:
        raise StatisticsError(f"a wage needs a time and an hourly rate from 0; found {seconds} s at {hourly}")
    milliseconds = round(Fraction(seconds) * 1000)
    return ceil(Fraction(milliseconds, 1000 * SECONDS_PER_HOUR) * Fraction(hourly) * 100)


def cents_of(amount: Decimal | str | int) -> int:
    """Return an amount of money in whole cents; an amount with fractions of a cent, or a float, is refused.

    Args:
        amount: Such as ``Decimal("1.25")`` or ``"1.25"``.

    Returns:
        Cents.

    Example:
        >>> cents_of("1.25")
        125
    """
    if isinstance(amount, float):
        raise StatisticsError(f"money is counted in Decimal or text, never in floats; found {amount!r}")
    cents = Decimal(amount) * 100
    if not cents.is_finite() or cents != cents.to_integral_value():
        raise StatisticsError(f"{amount} is not a whole number of cents")
    return int(cents)
