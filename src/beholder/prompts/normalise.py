"""A prompt without what carries no meaning: case, punctuation, spacing, and the words that only join others."""

import re
import unicodedata
from dataclasses import dataclass

WORD = re.compile(r"\w+")
CLAUSE_ENDS = r"[,;:.!?|]+"

FUNCTION_WORDS = frozenset(
    [
        *("a", "an", "the", "is", "are", "was", "were", "be", "being", "been", "there", "s"),
        *("that", "which", "who", "this", "these", "those", "it", "its", "some", "and"),
    ]
)
"""Articles, forms of *to be*, and the like; no prepositions: *on* and *under* are different images."""

NUMBER_WORDS = dict(
    zip(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        map(str, range(2, 13)),
        strict=True,
    )
)
"""Spelled numbers -> digits: *two cats* and *2 cats* are the same prompt. *One* is also a pronoun, and stays."""

SPELLINGS = {
    "colour": "color",
    "coloured": "colored",
    "colours": "colors",
    "colourful": "colorful",
    "grey": "gray",
    "centre": "center",
    "theatre": "theater",
    "doughnut": "donut",
    "doughnuts": "donuts",
    "jewellery": "jewelry",
    "pyjamas": "pajamas",
    "moustache": "mustache",
    "tyre": "tire",
    "tyres": "tires",
    "travelling": "traveling",
}
"""British spellings -> American ones."""


@dataclass(frozen=True, slots=True)
class NormalPrompt:
    """A prompt taken apart for comparisons."""

    text: str
    """Words in order, without case and punctuation: equal for duplicates."""
    words: tuple[str, ...]
    content: tuple[str, ...]
    """The words that carry meaning, in one spelling."""
    clauses: tuple[tuple[str, ...], ...]
    """Content words between commas and full stops."""
    conjuncts: tuple[tuple[str, ...], ...]
    """Content words between commas, full stops and *and*."""


def normal_text(text: str) -> str:
    """Return the words of a prompt without case, punctuation and spacing.

    Two prompts with the same normal text are duplicates. A prompt without any word (only symbols) is its own.

    Example:
        >>> normal_text("  A photo of a CAT, sitting. ")
        'a photo of a cat sitting'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(WORD.findall(folded)) or folded.strip()


def normalise(text: str) -> NormalPrompt:
    """Take a prompt apart.

    Example:
        >>> normalise("Two grey cats, and the dog").content
        ('2', 'gray', 'cats', 'dog')
        >>> normalise("Two grey cats and the dog").conjuncts
        (('2', 'gray', 'cats'), ('dog',))
    """
    normal = normal_text(text)
    words = tuple(normal.split())
    content = _content(words) or words
    folded = unicodedata.normalize("NFKC", text).casefold()
    clauses = _parts(re.split(CLAUSE_ENDS, folded)) or (content,)
    conjuncts = _parts(re.split(rf"{CLAUSE_ENDS}|\band\b", folded)) or (content,)
    return NormalPrompt(normal, words, content, clauses, conjuncts)


def _parts(texts: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(filter(None, (_content(tuple(WORD.findall(text))) for text in texts)))


def _content(words: tuple[str, ...]) -> tuple[str, ...]:
    one_spelling = (SPELLINGS.get(word, NUMBER_WORDS.get(word, word)) for word in words)
    return tuple(word for word in one_spelling if word not in FUNCTION_WORDS)
