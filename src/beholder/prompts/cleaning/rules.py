"""The rules by which style words are found in a prompt. A new rule is a function and a line in ``RULES``.

A rule looks at the *segments* of a prompt, the parts between commas, semicolons, full stops and bars, as prompts
of DiffusionDB are lists of keywords. A segment that consists of style words goes as a whole; within a sentence
nothing is cut but the parameters of a generator and the name of an artist after *by*.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import resources

from beholder.prompts.words.english import english_words

Span = tuple[int, int, str]
"""Start, end and the words that show why."""
Rule = Callable[[str], Iterator[Span]]

SEGMENT = re.compile(r"[^,;|.]+(?:\.(?=\d)[^,;|.]*)*")
PARAMETERS = re.compile(r"\s*--\w+(?:\s+[\d.:]+(?:\s?[a-z]{0,2})?)?")
WEIGHT = re.compile(r"::-?[\d.]*|(?<=\w):\d+\.\d+(?=\s*[)\]])|\(\(+|\)\)+|\[\[+|\]\]+|\{\{+|\}\}+")
JOINING = frozenset(["and", "with", "in", "of", "on", "very", "style", "art", "&", "at"])
"""Words that may stand between style words of one segment."""
MADE = "created|made|done|depicted|inspired|painted|drawn|illustrated|directed|designed|photographed|rendered"
WORK = "art|artwork|painting|illustration|drawing|photography|photo|sketch|render|work|print|poster|image"
BY = re.compile(
    rf"^\s*(?:and\s+)?(?:possibly\s+|as\s+)?(?:(?:(?:digital|fan|concept|key|cover|matte|oil)\s+)?(?:{WORK}|{MADE})\s+)?"
    r"by\s+(?P<names>.+?)\s*$",
    re.IGNORECASE,
)
STYLE_OF = re.compile(r"\s*\b(?:(?:in|with) the (?:art )?)?style of (?P<names>[^,;|.]+)$", re.IGNORECASE)
INNER_BY = re.compile(rf"\s+(?:(?:{MADE}) )?by (?P<names>[^,;|.]+)$")
NOT_NAMES = frozenset(
    [
        "a",
        "an",
        "the",
        "his",
        "her",
        "its",
        "their",
        "side",
        "night",
        "day",
        "sea",
        "fire",
        "water",
        "candlelight",
        "moonlight",
        "hand",
    ]
)
NAME_PARTICLES = frozenset(["and", "van", "von", "de", "da", "del", "der", "la", "le", "di", "el"])
NOT_IN_NAMES = frozenset(["a", "an", "the", "of", "in", "on", "with", "but", "for", "to", "from", "by", "or"])
MOST_NAMES = 8
"""Words of the names of artists, at most: *by greg rutkowski and alphonse mucha*."""


@cache
def style_words(rule: str) -> dict[str, list[tuple[str, ...]]]:
    """Return the phrases of a rule as tuples of words, by their first word, the longest first."""
    text = resources.files("beholder.prompts.words").joinpath("style_words.toml").read_text(encoding="utf-8")
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted((tuple(phrase.split()) for phrase in tomllib.loads(text)[rule]), key=len, reverse=True):
        by_first.setdefault(phrase[0], []).append(phrase)
    return by_first


def find_parameters(text: str) -> Iterator[Span]:
    """Yield parameters of a generator, such as ``--ar 16:9``."""
    for match in PARAMETERS.finditer(text):
        yield match.start(), match.end(), match.group().strip()


def find_weights(text: str) -> Iterator[Span]:
    """Yield weights such as ``::2`` and brackets of emphasis such as ``((…))``."""
    for match in WEIGHT.finditer(text):
        yield match.start(), match.end(), match.group().strip()


def find_listed(text: str, rule: str) -> Iterator[Span]:
    """Yield segments of a list of keywords that consist of the style words of a rule alone."""
    for segment in SEGMENT.finditer(text):
        words = segment.group().lower().strip(" !?()[]{}").split()
        evidence = _consists_of(words, rule)
        if evidence:
            yield segment.start(), segment.end(), ", ".join(evidence)


def find_artists(text: str) -> Iterator[Span]:
    """Yield artists: a segment *by …*, or a final *by …* or *in the style of …* with a name."""
    for segment in SEGMENT.finditer(text):
        whole = BY.match(segment.group())
        if whole and _are_names(whole["names"]) and segment.start() > 0:
            yield segment.start(), segment.end(), whole["names"]
            continue
        inner = STYLE_OF.search(segment.group()) or INNER_BY.search(segment.group())
        if inner is None:
            continue
        names = inner["names"]
        if _are_names(names) and segment.group()[: inner.start()].strip():
            yield segment.start() + inner.start(), segment.start() + inner.end(), names.strip()


def _consists_of(words: list[str], rule: str) -> list[str]:
    """Return the phrases of which the words consist, with joining words between; empty where they do not."""
    phrases: list[str] = []
    place = 0
    while place < len(words):
        listed = style_words(rule).get(words[place], ())
        phrase = next((phrase for phrase in listed if tuple(words[place : place + len(phrase)]) == phrase), None)
        if phrase is not None:
            phrases.append(" ".join(phrase))
            place += len(phrase)
        elif words[place] in JOINING:
            place += 1
        else:
            return []
    return phrases


def _are_names(text: str) -> bool:
    """Whether words are names: capitalised, or, in a prompt without capitals, mostly unknown to a dictionary."""
    words = re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text)
    if not words or len(words) > MOST_NAMES or words[0].lower() in NOT_NAMES:
        return False
    names = [word for word in words if word.lower() not in NAME_PARTICLES]
    if any(word[0].isupper() for word in names):
        return all(word[0].isupper() for word in names)
    parts = [part for word in names for part in word.split("-")]
    unknown = sum(part not in english_words() for part in parts)
    return unknown > 0 and unknown >= len(parts) / 2 and not NOT_IN_NAMES.intersection(parts)


RULES: dict[str, Rule] = {
    "parameters": find_parameters,
    "weights": find_weights,
    "quality": partial(find_listed, rule="quality"),
    "platform": partial(find_listed, rule="platform"),
    "renderer": partial(find_listed, rule="renderer"),
    "camera": partial(find_listed, rule="camera"),
    "artist": find_artists,
}
"""Rule -> the function that finds what it cuts."""
