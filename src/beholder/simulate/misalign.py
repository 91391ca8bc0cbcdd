"""Misalignment with the prompt: wrong objects, colours, counts, sizes and relations."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from beholder.simulate.grammar import COLOURS, COUNT_WORDS, JOINED, OBJECTS, RELATIONS, Attribute, Group, Request

_OPPOSITE = {"above": "below", "below": "above", "left of": "right of", "right of": "left of"}


@dataclass(frozen=True, slots=True)
class Misalignment:
    """What is rendered instead of the request, and which attributes of the prompt are therefore wrong."""

    painted: Request
    wrong: tuple[Attribute, ...]
    names: tuple[str, ...]  # one for each wrong attribute, as in "wrong colour: blue, not red"


def misalign(request: Request, rate: float, rng: np.random.Generator) -> Misalignment:
    """Alter each stated object, colour, count, size and relation with probability ``rate``.

    Settings and styles are always rendered as requested: otherwise the whole image would be misaligned.
    """
    painted, wrong, names = request, [], []
    alterable = [Attribute(name, i) for i in range(len(request.groups)) for name in _GROUP_ALTERATIONS]
    if rate > 0:
        for attribute, chance in zip(
            [*alterable, Attribute("relation")], rng.random(len(alterable) + 1), strict=True
        ):
            altered = alter(painted, attribute, rng) if chance < rate else painted
            if altered != painted:
                wrong.append(attribute)
                rendered, requested = _value(altered, attribute), _value(painted, attribute)
                names.append(f"wrong {attribute.name}: {rendered}, not {requested}")
                painted = altered
    return Misalignment(painted, tuple(wrong), tuple(names))


def alter(request: Request, attribute: Attribute, rng: np.random.Generator) -> Request:
    """Return the request with another value of one attribute, or as it was where the prompt does not state it."""
    if attribute.group is None:
        if attribute.name != "relation" or request.relation in ("", JOINED):
            return request
        opposite = rng.random() < 0.7
        others = tuple(r for r in RELATIONS if r not in (request.relation, _OPPOSITE[request.relation]))
        return replace(request, relation=_OPPOSITE[request.relation] if opposite else _pick(rng, others))
    group = request.groups[attribute.group]
    others_groups = request.groups[: attribute.group] + request.groups[attribute.group + 1 :]
    altered = _GROUP_ALTERATIONS[attribute.name](group, others_groups, rng)
    groups = tuple(altered if i == attribute.group else g for i, g in enumerate(request.groups))
    return replace(request, groups=groups)


def _wrong_object(group: Group, others: tuple[Group, ...], rng: np.random.Generator) -> Group:
    present = {group.kind, *(other.kind for other in others)}
    return replace(group, kind=_pick(rng, tuple(kind for kind in OBJECTS if kind not in present)))


def _wrong_colour(group: Group, others: tuple[Group, ...], rng: np.random.Generator) -> Group:
    """Half of the time the other group's colour leaks in, as it does in real generators."""
    leaks = tuple(other.colour for other in others if other.colour != group.colour)
    if leaks and rng.random() < 0.5:
        return replace(group, colour=leaks[0])
    return replace(group, colour=_pick(rng, tuple(colour for colour in COLOURS if colour != group.colour)))


def _wrong_count(group: Group, _others: tuple[Group, ...], rng: np.random.Generator) -> Group:
    near = [n for n in range(1, len(COUNT_WORDS) + 1) if 1 <= abs(n - group.count) <= 2]
    return replace(group, count=near[int(rng.integers(len(near)))])


def _wrong_size(group: Group, _others: tuple[Group, ...], _rng: np.random.Generator) -> Group:
    return replace(group, size={"small": "large", "large": "small", "": ""}[group.size])


_GROUP_ALTERATIONS: dict[str, Callable[[Group, tuple[Group, ...], np.random.Generator], Group]] = {
    "object": _wrong_object,
    "colour": _wrong_colour,
    "count": _wrong_count,
    "size": _wrong_size,
}


def _pick(rng: np.random.Generator, options: tuple[str, ...]) -> str:
    return options[int(rng.integers(len(options)))]


def _value(request: Request, attribute: Attribute) -> str:
    if attribute.group is None:
        return request.relation
    group = request.groups[attribute.group]
    values = {"object": group.kind, "colour": group.colour, "count": str(group.count), "size": group.size}
    return values[attribute.name]
