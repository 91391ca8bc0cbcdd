"""Counts with their nouns, lists with *and*, percentages."""

from collections.abc import Sequence

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def count(number: int, singular: str, plural: str | None = None) -> str:
    """``1 rater``, ``1,200 answers``; the plural is the singular with an *s* unless given."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def count_raters(number: int) -> str:
    """``1 rater``, ``60 raters``."""
    return count(number, "rater")


def spell_out(number: int) -> str:
    """A number below ten as a word, a larger one in digits."""
    return NUMBER_WORDS[number] if 0 <= number < len(NUMBER_WORDS) else f"{number:,}"


def join_names(names: Sequence[str], *, most: int | None = None) -> str:
    """``a``, ``a and b``, ``a, b and c``; beyond ``most`` names the rest are counted."""
    names = list(names)
    if most is not None and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def all_of(number: int, singular: str, plural: str | None = None) -> str:
    """``the one measure``, ``both measures``, ``all four measures``."""
    noun = singular if number == 1 else plural or singular + "s"
    if number == 1:
        return f"the one {noun}"
    return f"both {noun}" if number == 2 else f"all {spell_out(number)} {noun}"


def end_sentence(text: str) -> str:
    """The text with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def percent(proportion: float, digits: int = 0) -> str:
    """``46 %``; a proportion that only rounds to 0 or 1 says so."""
    if digits == 0 and 0 < proportion < 0.005:
        return "under 1 %"
    if digits == 0 and 0.995 <= proportion < 1:
        return "over 99 %"
    return f"{100 * proportion:.{digits}f} %"
