"""What a prompt can ask for in the synthetic world, and how it is expressed in English.

A :class:`Request` is one or two groups of objects, the relation between them, a setting and a style::

    three small red stars above a large blue house, in a meadow, cartoon style
    count size  colour object relation …             setting     style

:func:`prompt_text` writes a request as a prompt, :func:`parse_prompt` reads it back, and :func:`stated` gives the
words (positions in ``split_words``) that state each attribute.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from beholder.errors import FaultsError, UserError
from beholder.study.words import split_words

COUNT_WORDS = ("a", "two", "three", "four")
SIZES = ("small", "", "large")  # "" leaves the size unstated
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "white", "black")
PLURALS: Mapping[str, str] = MappingProxyType(
    {
        "ball": "balls",
        "bird": "birds",
        "boat": "boats",
        "car": "cars",
        "cat": "cats",
        "cone": "cones",
        "cube": "cubes",
        "fish": "fish",
        "flower": "flowers",
        "heart": "hearts",
        "house": "houses",
        "lamp": "lamps",
        "moon": "moons",
        "mug": "mugs",
        "mushroom": "mushrooms",
        "star": "stars",
        "tree": "trees",
    }
)
OBJECTS = tuple(PLURALS)
RELATIONS = ("above", "below", "left of", "right of")
JOINED = "and"  # two groups without a stated relation
SETTINGS = (
    "in a meadow",
    "in the desert",
    "on a wooden table",
    "under a night sky",
    "in the snow",
    "on a beach",
    "at sunset",
    "on a tiled floor",
)
STYLES = ("photo", "painting", "cartoon", "sketch")


class Attribute(NamedTuple):
    """One attribute that a prompt states: its name, and its group (0 or 1), or None for the whole image."""

    name: str  # object, colour, count, size, relation, setting or style
    group: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Some objects of one kind, one colour and one size."""

    count: int  # 1 … 4
    size: str  # one of SIZES; "" when unstated
    colour: str
    kind: str  # one of OBJECTS

    def faults(self) -> list[str]:
        """Return what of this group the synthetic world does not have; empty where all is valid."""
        faults = []
        if self.count not in range(1, len(COUNT_WORDS) + 1):
            faults.append(f"count is {self.count}, expected 1 to {len(COUNT_WORDS)}")
        faults += _unknown("size", self.size, SIZES)
        faults += _unknown("colour", self.colour, COLOURS)
        faults += _unknown("object", self.kind, OBJECTS)
        return faults


@dataclass(frozen=True, slots=True)
class Request:
    """A picture to be painted: one group, or two with a relation (or ``and``) between them."""

    groups: tuple[Group, ...]  # one or two
    relation: str  # one of RELATIONS or JOINED with two groups, "" with one
    setting: str
    style: str

    def __post_init__(self) -> None:
        faults = [fault for group in self.groups for fault in group.faults()]
        if len(self.groups) not in (1, 2):
            faults.append(f"{len(self.groups)} groups, expected one or two")
        faults += _unknown("relation", self.relation, (*RELATIONS, JOINED) if len(self.groups) == 2 else ("",))
        faults += _unknown("setting", self.setting, SETTINGS)
        faults += _unknown("style", self.style, STYLES)
        if faults:
            raise FaultsError("scene request", faults)


def _unknown(attribute: str, word: str, words: tuple[str, ...]) -> list[str]:
    return [] if word in words else [f"{attribute} is {word!r}, expected one of {', '.join(map(repr, words))}"]


def prompt_text(request: Request) -> str:
    """Return the request as an English prompt."""
    clauses = _clauses(request)
    return ", ".join(" ".join(phrase for phrase, _ in clause) for clause in clauses)


def stated(request: Request) -> dict[Attribute, tuple[int, ...]]:
    """Map each attribute the prompt states to the positions, in ``split_words``, of the words that state it."""
    positions: dict[Attribute, tuple[int, ...]] = {}
    start = 0
    for clause in _clauses(request):
        for phrase, attribute in clause:
            end = start + len(phrase.split())
            if attribute is not None:
                positions[attribute] = tuple(range(start, end))
            start = end
    return positions


def _clauses(request: Request) -> list[list[tuple[str, Attribute | None]]]:
    """Return what stands between the commas, as phrases with the attribute each one states."""
    phrases = _group_phrases(request.groups[0], 0)
    if len(request.groups) == 2:
        attribute = None if request.relation == JOINED else Attribute("relation")
        phrases += [(request.relation, attribute), *_group_phrases(request.groups[1], 1)]
    return [
        phrases,
        [(request.setting, Attribute("setting"))],
        [(request.style, Attribute("style")), ("style", None)],
    ]


def _group_phrases(group: Group, index: int) -> list[tuple[str, Attribute | None]]:
    count = COUNT_WORDS[group.count - 1]
    if group.count == 1 and (group.size or group.colour)[0] in "aeiou":
        count = "an"
    phrases: list[tuple[str, Attribute | None]] = [(count, Attribute("count", index))]
    if group.size:
        phrases.append((group.size, Attribute("size", index)))
    phrases.append((group.colour, Attribute("colour", index)))
    noun = group.kind if group.count == 1 else PLURALS[group.kind]
    return [*phrases, (noun, Attribute("object", index))]


def parse_prompt(text: str) -> Request:
    """Read a prompt of this grammar back into the request it says; the inverse of :func:`prompt_text`."""
    words = list(split_words(text))
    groups = [_take_group(words, text)]
    relation = next((r for r in (*RELATIONS, JOINED) if words[: len(r.split())] == r.split()), "")
    if relation:
        del words[: len(relation.split())]
        groups.append(_take_group(words, text))
    if len(words) < 3 or words[-1] != "style":
        raise _misread(text, " ".join(words) or "the end", "a setting and a style, as in 'at sunset, photo style'")
    return Request(tuple(groups), relation, " ".join(words[:-2]), words[-2])


def _take_group(words: list[str], text: str) -> Group:
    """Read a group off the front of ``words``, and take its words away."""
    rest = list(words)
    count = rest.pop(0) if rest else ""
    size = rest.pop(0) if rest and rest[0] in SIZES else ""
    colour = rest.pop(0) if rest else ""
    noun = rest.pop(0) if rest else ""
    number = 1 if count == "an" else COUNT_WORDS.index(count) + 1 if count in COUNT_WORDS else 0
    names = {(kind if number == 1 else plural): kind for kind, plural in PLURALS.items()}
    if number == 0 or colour not in COLOURS or noun not in names:
        raise _misread(
            text, " ".join(words) or "the end", "count, size, colour and object, as in 'two small red balls'"
        )
    words[:] = rest
    return Group(number, size, colour, names[noun])


def _misread(text: str, words: str, expected: str) -> UserError:
    return UserError(f"prompt {text!r}: found {words!r}, expected {expected}")


def draw_request(rng: np.random.Generator) -> Request:
    """Draw a request: two groups of different objects with probability .6, everything else uniformly."""
    pair = rng.random() < 0.6
    first = _draw_group(rng, OBJECTS)
    setting, style = _pick(rng, SETTINGS), _pick(rng, STYLES)
    if not pair:
        return Request((first,), "", setting, style)
    second = _draw_group(rng, tuple(kind for kind in OBJECTS if kind != first.kind))
    return Request((first, second), _pick(rng, (*RELATIONS, JOINED)), setting, style)


def _draw_group(rng: np.random.Generator, kinds: tuple[str, ...]) -> Group:
    count = 1 + int(rng.integers(len(COUNT_WORDS)))
    return Group(count, _pick(rng, SIZES), _pick(rng, COLOURS), _pick(rng, kinds))


def _pick(rng: np.random.Generator, options: tuple[str, ...]) -> str:
    return options[int(rng.integers(len(options)))]


def count_prompts() -> int:
    """Return how many distinct prompts :func:`draw_request` can draw: singles, and pairs of different objects."""
    per_object = len(COUNT_WORDS) * len(SIZES) * len(COLOURS)
    singles = len(OBJECTS) * per_object
    pairs = len(OBJECTS) * (len(OBJECTS) - 1) * per_object**2 * (len(RELATIONS) + 1)
    return (singles + pairs) * len(SETTINGS) * len(STYLES)


def draw_requests(count: int, rng: np.random.Generator) -> tuple[Request, ...]:
    """Draw ``count`` requests, no two of which have the same prompt."""
    if not 0 <= count <= count_prompts() // 2:
        raise UserError(f"cannot draw {count} distinct prompts: expected 0 to {count_prompts() // 2}")
    drawn: dict[Request, None] = {}
    while len(drawn) < count:
        drawn[draw_request(rng)] = None
    return tuple(drawn)
