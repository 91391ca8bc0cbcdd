"""Names of persons: of WordNet's list of the famous, or a given name followed by another name."""

from collections.abc import Iterator
from functools import cache

from beholder.prompts.checks.finding import Finding
from beholder.prompts.tags.tokens import Token, Tokens
from beholder.prompts.words.lexicons import wordnet, words_of

LONGEST_NAME = 4
ALSO_GIVEN = frozenset(["john", "mark", "frank", "jack", "bob", "bill", "grace", "rob", "sue", "ray", "will"])
"""Given names that are words as well; they count before another capitalised word alone."""


def find_persons(prompt: Tokens) -> Iterator[Finding]:
    """Yield names of persons outside of quotation marks, each place once, the longest name there.

    Example:
        >>> from beholder.prompts.tags.tokens import tokenise
        >>> [person.evidence for person in find_persons(tokenise("Danny DeVito on a bench, painted by Monet"))]
        ['Danny DeVito', 'Monet']
    """
    words = prompt.words
    place = 0
    while place < len(words):
        length = _name_at(words, place)
        if length:
            start, end = words[place].start, words[place + length - 1].end
            yield Finding("named-person", prompt.between(start, end), start, end)
        place += length or 1


def _name_at(words: tuple[Token, ...], place: int) -> int:
    """Return how many words from here on are the name of a person."""
    if not (words[place].capital or words[place].word in _first_words()):
        return 0
    famous, given = wordnet("famous_names"), wordnet("given_names")
    for length in range(LONGEST_NAME, 0, -1):
        run = words[place : place + length]
        nearby = [token.word for token in words[place : place + length + 1]]
        if len(run) < length or not words_of("place_noun").isdisjoint(nearby):
            continue
        name = " ".join(token.word.removesuffix("'s") for token in run)
        if length > 1 and name in famous:
            return length
        if length == 1 and name in famous and run[0].capital and (place > 0 or len(words) == 1):
            return length
        if (
            length in (2, 3)
            and all(token.capital for token in run)
            and (run[0].word in given or run[0].word in ALSO_GIVEN)
        ):
            return length
    return 0


@cache
def _first_words() -> frozenset[str]:
    """First words of famous names, which count in small letters too: *vincent van gogh*."""
    return frozenset(name.partition(" ")[0] for name in wordnet("famous_names") if " " in name)
