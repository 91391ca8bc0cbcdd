"""Cleaning a prompt of style words by rules, until nothing is left to cut: cleaning it again changes nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from beholder.prompts.cleaning.edits import Cut, Traced
from beholder.prompts.cleaning.rules import RULES

LEFTOVER = re.compile(
    r"^[\s,;|:\-–]+"  # in front
    r"|[\s,;|:\-–]+$"  # at the end
    r"|(?<=[,;|.])[\s,;|]+(?=[,;|.])"  # empty segments
    r"|\s+(?=[,;|.!?])(?![.]\d)"  # spaces before punctuation
    r"|(?<=\s)\s+"
    r"|(?<=[.])[,;|]+"
    r"|(?<=[,;|])(?:\s*[,;|.])+"
    r"|\(\s*\)|\[\s*\]|\{\s*\}"
)
"""Punctuation and spaces that cuts leave behind."""
NOTHING_LEFT = "nothing would be left"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned prompt: the text, and every cut with its evidence, in the order of the cuts."""

    text: str
    cuts: tuple[Cut, ...]
    note: str = ""
    """Why a prompt was left as it was although rules matched."""


def clean(text: str, rules: Sequence[str] = tuple(RULES)) -> Cleaned:
    """Remove style words from a prompt.

    Args:
        text: the prompt.
        rules: names of :data:`beholder.prompts.cleaning.rules.RULES`, in the order in which they apply.

    Returns:
        The cleaned text and the cuts. A prompt that consists of style words alone stays as it is, with a note.
        A prompt without style words is returned byte for byte.

    Example:
        >>> cleaned = clean("a castle on a hill, by greg rutkowski, trending on artstation, 8k --ar 16:9")
        >>> cleaned.text
        'a castle on a hill'
        >>> [cut.rule for cut in cleaned.cuts]
        ['parameters', 'quality', 'platform', 'artist']
    """
    current, cuts = Traced.of(text), list[Cut]()
    while True:
        shorter, made = _pass(current, rules)
        if not made:
            break
        cuts += made
        current = _tidied(shorter)
    if not any(char.isalnum() for char in current.text):
        return Cleaned(text, (), NOTHING_LEFT if cuts else "")
    return Cleaned(current.text if cuts else text, tuple(cuts))


def _pass(current: Traced, rules: Sequence[str]) -> tuple[Traced, list[Cut]]:
    """Apply every rule once."""
    cuts: list[Cut] = []
    for name in rules:
        spans = [span for span in RULES[name](current.text) if span[0] < span[1]]
        if not spans:
            continue
        cuts += [current.cut(name, evidence, start, end) for start, end, evidence in spans]
        current = current.without((start, end) for start, end, _ in spans)
    return current, cuts


def _tidied(current: Traced) -> Traced:
    """Remove empty segments, doubled spaces and loose punctuation, until there are none."""
    while True:
        spans = [match.span() for match in LEFTOVER.finditer(current.text) if match.group()]
        if not spans:
            return current
        current = current.without(spans)
