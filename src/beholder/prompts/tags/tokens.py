"""The words of a prompt with their places, and which of them are text to be rendered."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

TOKEN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*|[.,;:!?]")
QUOTED = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|„([^“”]+)[“”]|(?<!\w)['‘]([^'‘’]*(?:['’](?=\w)[^'‘’]*)*)['’](?!\w)"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or punctuation mark, in lower case, with its place in the prompt."""

    word: str
    start: int
    end: int
    quoted: bool
    capital: bool


@dataclass(frozen=True, slots=True)
class Tokens:
    """A prompt, its tokens, and the texts between quotation marks with their places."""

    text: str
    tokens: tuple[Token, ...]
    quotes: tuple[tuple[int, int], ...]

    @property
    def words(self) -> tuple[Token, ...]:
        """The tokens outside of quotation marks."""
        return tuple(token for token in self.tokens if not token.quoted)

    def between(self, start: int, end: int) -> str:
        """The text between two places."""
        return self.text[start:end]


def tokenise(text: str) -> Tokens:
    """Take a prompt apart.

    Example:
        >>> [token.word for token in tokenise('A sign that says "Stop it"').words]
        ['a', 'sign', 'that', 'says']
    """
    quotes = tuple((match.start(), match.end()) for match in QUOTED.finditer(text))
    tokens = tuple(
        Token(
            match.group().lower().replace("’", "'"),
            match.start(),
            match.end(),
            any(start <= match.start() < end for start, end in quotes),
            match.group()[0].isupper(),
        )
        for match in TOKEN.finditer(text)
    )
    return Tokens(text, tokens, quotes)


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase of a list: the first of its words in ``words``, the place after the last, and the phrase."""

    first: int
    after: int
    phrase: str


def matches(words: tuple[Token, ...], listed: tuple[str, ...]) -> Iterator[Match]:
    """Yield where a phrase of the list occurs, the longest at each place; matches do not overlap."""
    by_first = _by_first_word(listed)
    place = 0
    while place < len(words):
        match = _match_at(words, place, by_first)
        if match is None:
            place += 1
        else:
            yield match
            place = match.after


def _match_at(words: tuple[Token, ...], place: int, by_first: dict[str, list[tuple[str, ...]]]) -> Match | None:
    for phrase in by_first.get(words[place].word, ()):
        after = place + len(phrase)
        if after <= len(words) and all(words[place + n].word == word for n, word in enumerate(phrase)):
            return Match(place, after, " ".join(phrase))
    return None


@cache
def _by_first_word(listed: tuple[str, ...]) -> dict[str, list[tuple[str, ...]]]:
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted((tuple(phrase.split()) for phrase in listed), key=len, reverse=True):
        by_first.setdefault(phrase[0], []).append(phrase)
    return by_first
