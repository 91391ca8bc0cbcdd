"""Numbers, confidence intervals and ranges of ranks as text, rounded by what their uncertainty allows."""

import math
from collections.abc import Sequence

MINUS = "−"
"""The sign, as long as a plus; a hyphen is too short."""

MISSING = "–"
"""Stands for a number that is not defined."""

MOST_DECIMALS = 6


def interval_decimals(lows: Sequence[float | None], highs: Sequence[float | None]) -> int:
    """Return the decimals with which half the width of a typical interval has at least two significant digits.

    Below 10 these are two decimals or more.

    Args:
        lows: The lower ends.
        highs: The upper ends.

    Returns:
        From 0 to 6; 3 where no interval is finite.

    Example:
        >>> interval_decimals([0.41, -0.10], [0.66, 0.17])  # half widths .125 and .135
        2
        >>> interval_decimals([0.4512], [0.4514])
        5
    """
    halves = sorted(
        (high - low) / 2
        for low, high in zip(lows, highs, strict=True)
        if low is not None and high is not None and math.isfinite(high - low) and high > low
    )
    if not halves:
        return 3
    half = halves[len(halves) // 2]
    return _within(max(1 - math.floor(math.log10(half)), 2 if half < 10 else 0))


def plain_decimals(numbers: Sequence[float | None]) -> int:
    """Return the decimals with which the largest of the numbers has three significant digits.

    Example:
        >>> plain_decimals([0.5, 0.125]), plain_decimals([12.5, 3.0]), plain_decimals([])
        (3, 1, 3)
    """
    sizes = [abs(number) for number in numbers if number is not None and math.isfinite(number) and number != 0]
    return _within(2 - math.floor(math.log10(max(sizes)))) if sizes else 3


def number_text(number: float | None, decimals: int, *, signed: bool = False) -> str:
    """Return a number with so many decimals; ``signed`` writes a plus too.

    Example:
        >>> number_text(-0.567, 2), number_text(0.567, 2, signed=True), number_text(None, 2)
        ('−0.57', '+0.57', '–')
    """
    if number is None or math.isnan(number):
        return MISSING
    if math.isinf(number):
        return "∞" if number > 0 else f"{MINUS}∞"
    text = f"{abs(number):,.{decimals}f}"
    if float(text.replace(",", "")) == 0:
        return text
    return f"{MINUS}{text}" if number < 0 else f"+{text}" if signed else text


def interval_text(low: float | None, high: float | None, decimals: int, *, signed: bool = False) -> str:
    """Return ``[low, high]``; a dash where there is no interval.

    Example:
        >>> interval_text(-0.1, 0.17, 2), interval_text(None, None, 2)
        ('[−0.10, 0.17]', '–')
    """
    ends = [number_text(end, decimals, signed=signed) for end in (low, high)]
    return MISSING if MISSING in ends else f"[{', '.join(ends)}]"


def range_text(low: int | None, high: int | None) -> str:
    """Return a range of ranks, or the rank where it is certain.

    Example:
        >>> range_text(1, 2), range_text(3, 3)
        ('1–2', '3')
    """
    if low is None or high is None:
        return MISSING
    return str(low) if low == high else f"{low}–{high}"


def p_text(p: float | None) -> str:
    """Return a p-value with three decimals.

    Example:
        >>> p_text(0.0437), p_text(2e-9)
        ('0.044', '<0.001')
    """
    if p is None or math.isnan(p):
        return MISSING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _within(decimals: int) -> int:
    return min(max(decimals, 0), MOST_DECIMALS)
