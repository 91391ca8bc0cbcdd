"""Numbers and confidence intervals as text, for model cards and the command line."""

import math


def format_with_interval(value: float, low: float, high: float) -> str:
    """Return a value followed by its confidence interval."""
    return f"{format_number(value)} {format_interval(low, high)}".strip()


def format_interval(low: float, high: float) -> str:
    """Return a confidence interval in brackets, or an empty string if an end is nan."""
    return "" if math.isnan(low) or math.isnan(high) else f"[{format_number(low)}, {format_number(high)}]"


def format_number(value: float) -> str:
    """Return three decimals without the leading zero, or an empty string for nan."""
    if math.isnan(value):
        return ""
    digits = f"{value:.3f}".replace("-", "−")
    return digits.replace("0.", ".", 1) if abs(value) < 1 else digits
