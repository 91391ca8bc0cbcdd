"""How numbers are printed on the pages: as many decimals as their confidence interval supports."""

import math
from collections.abc import Iterable

MINUS = "−"
MOST_DECIMALS = 6
NOTHING = "–"
"""Printed where there is no number."""


def decimals_for(half_widths: Iterable[float]) -> int:
    """Return the decimals that show two digits of the median half-width of confidence intervals.

    Args:
        half_widths: Of one measure, or a standard deviation in their place; those of 0 are ignored.

    Returns:
        From 0 to 6; 3 where there is no interval.

    Example:
        >>> decimals_for([0.04, 0.05, 0.06]), decimals_for([3.2]), decimals_for([])
        (3, 1, 3)
    """
    widths = sorted(width for width in half_widths if width > 0)
    if not widths:
        return 3
    return min(max(1 - math.floor(math.log10(widths[len(widths) // 2])), 0), MOST_DECIMALS)


def figure(number: float | None, decimals: int) -> str:
    """Return a number as text, with a minus sign.

    Example:
        >>> figure(-0.5, 2), figure(1234.5, 0), figure(-0.001, 1), figure(None, 2)
        ('−0.50', '1,234', '0.0', '–')
    """
    if number is None:
        return NOTHING
    text = f"{number:,.{decimals}f}"
    if text.startswith("-"):
        text = text[1:] if float(text.replace(",", "")) == 0 else MINUS + text[1:]
    return text


def short_figure(number: float) -> str:
    """Return a number of a single prompt as text: four significant digits.

    Example:
        >>> short_figure(0.123456), short_figure(-23.0), short_figure(123456.7)
        ('0.1235', '−23', '123457')
    """
    size = 0 if number == 0 else math.floor(math.log10(abs(number)))
    text = f"{number:.{min(max(3 - size, 0), MOST_DECIMALS)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return MINUS + text[1:] if text.startswith("-") else text


def rank_range(low: int | None, high: int | None) -> str:
    """Return a range of ranks: ``2``, ``1–3``, or nothing.

    Example:
        >>> rank_range(1, 3), rank_range(2, 2), rank_range(None, None)
        ('1–3', '2', '')
    """
    if low is None or high is None:
        return ""
    return str(low) if low == high else f"{low}–{high}"
