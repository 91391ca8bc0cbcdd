"""Counterfactual pairs: a prompt again with one word replaced by its counterpart, everything else the same."""

import re
from collections.abc import Iterator, Mapping, Sequence

from beholder.prompts.identities import find_identities, identity_swaps
from beholder.prompts.tags.tagger import tag_prompt
from beholder.prompts.tags.tokens import tokenise
from beholder.prompts.writing.new_prompt import NewPrompt

_COLOURS = {"red": "blue", "blue": "red", "green": "yellow", "yellow": "green", "black": "white", "white": "black"}
_COLOURS |= {"purple": "orange", "orange": "purple", "pink": "brown", "brown": "pink"}

SWAPS: dict[str, Mapping[str, str]] = {
    "colour": _COLOURS,
    "size": {"small": "large", "large": "small", "big": "small", "tiny": "huge", "huge": "tiny"},
    "count": {"two": "three", "three": "two", "four": "five", "five": "four", "six": "seven", "seven": "six"},
    "spatial": {
        "left of": "right of",
        "right of": "left of",
        "to the left": "to the right",
        "to the right": "to the left",
        "above": "below",
        "below": "above",
        "under": "on top of",
        "on top of": "under",
        "in front of": "behind",
        "behind": "in front of",
        "inside": "outside",
        "outside": "inside",
    },
    "person": {
        "man": "woman",
        "woman": "man",
        "men": "women",
        "women": "men",
        "boy": "girl",
        "girl": "boy",
        "boys": "girls",
        "girls": "boys",
        "king": "queen",
        "queen": "king",
        "father": "mother",
        "mother": "father",
        "husband": "wife",
        "wife": "husband",
        "actor": "actress",
        "actress": "actor",
        "he": "she",
        "she": "he",
        "his": "her",
        "himself": "herself",
        "herself": "himself",
    },
}
"""Tag -> word -> its counterpart. One word of a tag is replaced, but all of the tag ``person``."""

SWAPS |= identity_swaps()

ARTICLE = re.compile(r"\b([Aa])n? $")


def swap(text: str, parent: str, kinds: Sequence[str] = tuple(SWAPS)) -> Iterator[NewPrompt]:
    """Yield the counterfactual prompts of a prompt, one for each kind that has a counterpart in it.

    Args:
        text: the seed prompt.
        parent: its id, which becomes the group of the pair.
        kinds: names of :data:`SWAPS`.

    Example:
        >>> [new.text for new in swap("a red car left of a man and his dog", "p", ["colour", "person"])]
        ['a blue car left of a man and his dog', 'a red car left of a woman and her dog']
    """
    tags = tag_prompt(text)
    quotes = tokenise(text).quotes
    for kind in kinds:
        spans = [(tag.start, tag.end) for tag in tags if tag.name == kind and tag.evidence.lower() in SWAPS[kind]]
        spans += [
            (each.start, each.end)
            for each in find_identities(text)
            if each.dimension == kind and each.evidence.lower() in SWAPS[kind]
        ]
        if not spans:
            continue
        spans = sorted({*spans, *_pronouns(text, quotes)}) if kind == "person" else spans[:1]
        change = f"{kind}: {text[spans[0][0] : spans[0][1]]} -> {_counterpart(text, spans[0], kind)}"
        yield NewPrompt(_replaced(text, spans, kind), parent, "swap", change, parent)


def _pronouns(text: str, quotes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"\b(he|she|his|himself|herself)\b", text, re.IGNORECASE):
        if not any(start <= match.start() < end for start, end in quotes):
            yield match.span()


def _replaced(text: str, spans: Sequence[tuple[int, int]], kind: str) -> str:
    """Replace the words, and the article before each of them where it needs another."""
    for span in reversed(spans):
        word = _counterpart(text, span, kind)
        vowel = word[0].lower() in "aeiou" and not word.lower().startswith("eu")
        before = ARTICLE.sub(r"\1n " if vowel else r"\1 ", text[: span[0]])
        text = before + word + text[span[1] :]
    return text


def _counterpart(text: str, span: tuple[int, int], kind: str) -> str:
    word = text[span[0] : span[1]]
    other = SWAPS[kind][word.lower()]
    return other[0].upper() + other[1:] if word[0].isupper() else other
