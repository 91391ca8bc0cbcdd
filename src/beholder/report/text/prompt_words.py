"""The words of a prompt, with those that an image misses."""

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.judgements.rich_labels import MISSED
from beholder.study.words import split_words


@dataclass(frozen=True, slots=True)
class PromptWord:
    """A word of the prompt, and the share of people who say, or the chance that most do, that it was missed."""

    before: str
    """What stands between it and the word before it."""
    text: str
    missed: float
    told: str
    """The share in words; empty where nobody says so."""
    struck: bool
    """Whether the majority says so."""
    after: str = ""
    """What stands behind the last word."""


def prompt_words(prompt: str, shares: Sequence[float], told: str, faint: float = 0.0) -> tuple[PromptWord, ...]:
    """The words in order; ``told`` has a place for the share in per cent, and is said of those above ``faint``."""
    found = []
    words, end = split_words(prompt), 0
    for place, (text, share) in enumerate(zip(words, shares, strict=True)):
        start = prompt.index(text, end)
        before, end = prompt[end:start], start + len(text)
        noted = told.format(f"{100 * share:.0f} %") if share > faint else ""
        after = prompt[end:] if place == len(words) - 1 else ""
        found.append(PromptWord(before, text, share, noted, share > MISSED, after))
    return tuple(found)
