"""Colour, size, shape, material, texture and state: adjectives and phrases of lists, with the exceptions that
lists need.
"""

from collections.abc import Iterator

from beholder.prompts.tags.tag import Tag, tag_of
from beholder.prompts.tags.tokens import Match, Token, Tokens, matches
from beholder.prompts.words.lexicons import phrases, words_of

FILMS = ("photo", "photos", "photograph", "image", "picture", "film", "photography", "movie", "portrait")


def tag_attributes(prompt: Tokens, name: str) -> Iterator[Tag]:
    """Yield the tags of one of the six kinds, with the word or phrase as label.

    A word that is also a noun, such as *orange* or *glass*, counts only where a noun may follow, and *orange* also
    after *is* or in a list of colours.
    """
    words = prompt.words
    if name == "colour":
        yield from _compounds(prompt, words)
    for match in matches(words, phrases(name)):
        if name == "colour" and _is_film(words, match):
            continue
        if not _is_noun(words, match, name) and not _is_name(words, match):
            yield tag_of(name, match.phrase, prompt, words, match.first, match.after)


def _is_noun(words: tuple[Token, ...], match: Match, name: str) -> bool:
    if match.phrase not in words_of("before_noun") or (
        name == "shape" and match.phrase in words_of("shape_thing")
    ):
        return False
    before = words[match.first - 1].word if match.first else ""
    following = words[match.after].word if match.after < len(words) else "."
    if name == "colour" and before in ("is", "are", "bright", "dark", "light", "deep"):
        return False
    if name == "colour" and following == "and" and match.after + 1 < len(words):
        return words[match.after + 1].word not in words_of("colour")
    if (
        name == "material"
        and before in ("of", "from", "in")
        and words[max(match.first - 2, 0)].word in ("made", "out")
    ):
        return False
    return following in words_of("after_noun")


def _is_name(words: tuple[Token, ...], match: Match) -> bool:
    """Whether the word is part of a name: *Golden Gate Bridge*, *Emma Stone*; not so in a title."""
    if not words[match.first].capital or sum(token.capital for token in words) > len(words) / 2:
        return False
    neighbours = [*words[max(match.first - 1, 0) : match.first], *words[match.after : match.after + 1]]
    return any(token.capital and token.start > 0 for token in neighbours)


def _is_film(words: tuple[Token, ...], match: Match) -> bool:
    """Whether it belongs to *a black and white photo*."""
    start = match.first - 2 if match.phrase == "white" else match.first
    phrase = [token.word for token in words[max(start, 0) : max(start, 0) + 4]]
    return phrase[:3] == ["black", "and", "white"] and phrase[3:] in [[film] for film in FILMS]


def _compounds(prompt: Tokens, words: tuple[Token, ...]) -> Iterator[Tag]:
    """Yield compounds such as *caramel-colored* and *black-white* that no list has."""
    colours = words_of("colour")
    for place, token in enumerate(words):
        parts = token.word.split("-")
        compound = len(parts) > 1 and token.word not in colours
        if compound and (parts[-1] in ("colored", "coloured") or not colours.isdisjoint(parts)):
            yield tag_of("colour", token.word, prompt, words, place, place + 1)
