"""Prompts that ask for what no image can show: opposites of one noun, two media, something and no such thing."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import combinations

from beholder.prompts.checks.finding import Finding
from beholder.prompts.tags.tokens import Match, Token, Tokens, matches

LONGEST_PHRASE = 4
"""Attributes before one noun, at most."""


def find_contradictions(prompt: Tokens) -> Iterator[Finding]:
    """Yield pairs of words that exclude each other.

    Example:
        >>> from beholder.prompts.tags.tokens import tokenise
        >>> [each.evidence for each in find_contradictions(tokenise("a tiny huge dog in a room without a dog"))]
        ['tiny / huge', 'without dog / dog']
    """
    words = prompt.words
    yield from _of_one_noun(words)
    yield from _anywhere(words)
    yield from _denied(words)


def _of_one_noun(words: tuple[Token, ...]) -> Iterator[Finding]:
    pairs = {frozenset(pair) for pair in _opposites("same_noun")}
    listed = tuple(sorted({word for pair in pairs for word in pair}))
    attributes = list(matches(words, listed))
    for first, second in combinations(attributes, 2):
        between = [token.word for token in words[first.after : second.first]]
        close = len(between) < LONGEST_PHRASE and all(
            word in listed or word in ("and", ",", "but") for word in between
        )
        if close and frozenset((first.phrase, second.phrase)) in pairs and "or" not in between:
            yield _finding(words, first, second)


def _anywhere(words: tuple[Token, ...]) -> Iterator[Finding]:
    for one_phrase, other_phrase in _opposites("anywhere"):
        first, second = (next(matches(words, (phrase,)), None) for phrase in (one_phrase, other_phrase))
        if first is not None and second is not None:
            yield _finding(words, *sorted((first, second), key=lambda match: match.first))


def _denied(words: tuple[Token, ...]) -> Iterator[Finding]:
    """Yield nouns that are asked for and denied: *a dog … without a dog*; only where it is the same word."""
    skipped = {"a", "an", "the", "any", "other"}
    for place, token in enumerate(words):
        if token.word not in ("no", "without"):
            continue
        after = next((n for n in range(place + 1, len(words)) if words[n].word not in skipped), None)
        if after is None or len(words[after].word) < 3 or not words[after].word.isalpha():
            continue
        noun = words[after].word
        follows = words[after + 1].word if after + 1 < len(words) else "."
        elsewhere = [other for n, other in enumerate(words) if other.word == noun and n != after]
        if elsewhere and (follows in (".", ",", "and", "or", "in", "on", ";") or after + 1 == len(words)):
            yield Finding("contradiction", f"{token.word} {noun} / {noun}", token.start, words[after].end)


def _finding(words: tuple[Token, ...], first: Match, second: Match) -> Finding:
    start, end = words[first.first].start, words[second.after - 1].end
    return Finding("contradiction", f"{first.phrase} / {second.phrase}", start, end)


@cache
def _opposites(name: str) -> tuple[tuple[str, str], ...]:
    text = resources.files("beholder.prompts.words").joinpath("opposites.toml").read_text(encoding="utf-8")
    return tuple((first, second) for first, second in tomllib.loads(text)[name])
