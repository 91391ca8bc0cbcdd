"""The words of a prompt, with the misaligned keywords: those that an image does not show."""

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.feedback.labels import MISSED
from beholder.study.words import split_words


@dataclass(frozen=True, slots=True)
class PromptWord:
    """A word of the prompt, and how likely it is misaligned.

    That is the proportion of raters who say so, or, from a model, the probability that most would.
    """

    before: str
    """The text between it and the preceding word."""
    text: str
    missed: float
    note: str
    """The proportion in words; empty where nobody says so."""
    struck: bool
    """Whether the majority says so."""
    after: str = ""
    """The text after the last word."""


def mark_words(prompt: str, proportions: Sequence[float], note: str, faint: float = 0.0) -> tuple[PromptWord, ...]:
    """The words in order; ``note`` is formatted with the percentage, for words above ``faint``."""
    marked = []
    words, end = split_words(prompt), 0
    for place, (text, proportion) in enumerate(zip(words, proportions, strict=True)):
        start = prompt.index(text, end)
        before, end = prompt[end:start], start + len(text)
        filled = note.format(f"{100 * proportion:.0f} %") if proportion > faint else ""
        after = prompt[end:] if place == len(words) - 1 else ""
        marked.append(PromptWord(before, text, proportion, filled, proportion > MISSED, after))
    return tuple(marked)
