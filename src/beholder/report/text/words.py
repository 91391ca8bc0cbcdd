"""Small words: counts with their nouns, lists with *and*, numbers as people read them."""

from collections.abc import Sequence

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 person``, ``60 people``, ``1,200 answers``; the plural is ``one`` with an *s* where none is given."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def people(number: int) -> str:
    """So many people."""
    return count(number, "person", "people")


def spelled(number: int) -> str:
    """A number below ten as a word, as prose has it."""
    return NUMBER_WORDS[number] if 0 <= number < len(NUMBER_WORDS) else f"{number:,}"


def listed(names: Sequence[str], *, most: int | None = None) -> str:
    """``a``, ``a and b``, ``a, b and c``; beyond ``most`` names the rest are counted."""
    names = list(names)
    if most is not None and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def all_of(number: int, one: str, many: str | None = None) -> str:
    """``the one measure``, ``both measures``, ``all four measures``."""
    noun = one if number == 1 else many or one + "s"
    if number == 1:
        return f"the one {noun}"
    return f"both {noun}" if number == 2 else f"all {spelled(number)} {noun}"


def sentence(text: str) -> str:
    """The text with a full stop; a name that opens it keeps its case."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def percent(share: float, digits: int = 0) -> str:
    """``46 %``; a share that rounds to nothing or to everything without being it says so."""
    if digits == 0 and 0 < share < 0.005:
        return "under 1 %"
    if digits == 0 and 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.{digits}f} %"
