"""Who a prompt names: groups of people by gender, age, skin tone, place, dialect and more, each with its words.

Two prompts that are the same but for the words of one dimension are counterfactual: they have the same skeleton.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from beholder.prompts.tags.subjects import is_living
from beholder.prompts.tags.tokens import Token, matches, tokenise

COUNTERFACTUAL = ("gender", "age", "skin-tone", "place", "dialect")
"""Dimensions whose groups are counterparts of each other."""

NEARBY = 3
"""Words after *old* and the like among which a living being must be: an old truck names nobody."""

ARTICLE = re.compile(r"\b(a|an)\b(?= \{)")


@dataclass(frozen=True, slots=True)
class Identity:
    """A group of people that a prompt names, with the words and their place."""

    dimension: str
    group: str
    evidence: str
    start: int
    end: int


@cache
def identity_words() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return dimension -> group -> its words and phrases in lower case."""
    return {
        dimension: {group: tuple(words) for group, words in groups.items()}
        for dimension, groups in _content().items()
        if dimension != "swap"
    }


@cache
def identity_swaps() -> Mapping[str, Mapping[str, str]]:
    """Return dimension -> word in lower case -> its counterpart in another group."""
    swaps: dict[str, dict[str, str]] = _content()["swap"]
    return swaps


def find_identities(text: str) -> list[Identity]:
    """Return the groups that a prompt names, outside of quotation marks, by dimension, then by place.

    Args:
        text: The prompt, in English.

    Returns:
        The groups with the words that name them.

    Example:
        >>> [(each.dimension, each.group) for each in find_identities("an elderly woman and her dog")]
        [('gender', 'female'), ('gender', 'female'), ('age', 'old')]
    """
    prompt = tokenise(text)
    words = prompt.words
    identities: list[Identity] = []
    for dimension, groups in identity_words().items():
        group_of = {phrase: group for group, listed in groups.items() for phrase in listed}
        for match in matches(words, tuple(group_of)):
            if dimension == "age" and not _of_the_living(words[match.after : match.after + NEARBY]):
                continue
            start, end = words[match.first].start, words[match.after - 1].end
            identities.append(Identity(dimension, group_of[match.phrase], text[start:end], start, end))
    return identities


def skeleton(text: str, dimension: str) -> tuple[str, str] | None:
    """Return a prompt without the words of one dimension, and the group that they name.

    Args:
        text: The prompt.
        dimension: Such as ``gender``.

    Returns:
        The rest of the prompt in lower case, with a gap for each word, and the group; ``None`` where the prompt
        names no group of the dimension, or several.

    Example:
        >>> skeleton("An old man", "age")
        ('a {} man', 'old')
        >>> skeleton("a young man", "age") == ("a {} man", "young")
        True
    """
    spans = [each for each in find_identities(text) if each.dimension == dimension]
    groups = {each.group for each in spans}
    if len(groups) != 1:
        return None
    rest = text
    for each in reversed(spans):
        rest = f"{rest[: each.start]}{{}}{rest[each.end :]}"
    return ARTICLE.sub("a", " ".join(rest.lower().split())), groups.pop()


def _of_the_living(following: tuple[Token, ...]) -> bool:
    return any(is_living(token.word) for token in following)


@cache
def _content() -> dict[str, dict[str, dict[str, str]]]:
    path = resources.files("beholder.prompts.words").joinpath("identities.toml")
    content: dict[str, dict[str, dict[str, str]]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return content
