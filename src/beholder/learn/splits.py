"""What is trained on and what is held out: split by prompt, by generator or by both, without a leak.

A model that has seen a prompt, or a generator, knows something about its other images. So images go to one side
together: all of one prompt (by its text, whatever its id), and all copies of one file. What a split lets through
all the same is listed by :func:`leaks`, and refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from beholder.errors import SplitError
from beholder.learn.recipe import By, Splitting

Role = Literal["train", "validation", "test", "unused"]
ROLES: tuple[Role, ...] = ("train", "validation", "test", "unused")

SHOWN = 5
"""Leaks of a kind that are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Item:
    """An image, as far as a split needs to know it."""

    image: str
    prompt: str | None
    """The text of its prompt."""
    generator: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Split:
    """The role of every image."""

    by: By
    seed: int
    fold: int
    folds: int
    roles: Mapping[str, Role]

    def of(self, role: Role) -> list[str]:
        """The images in that role, in the order of the items."""
        return [image for image, found in self.roles.items() if found == role]


def split(items: Sequence[Item], wanted: Splitting) -> list[Split]:
    """One split, or one for each fold, all free of leaks; an error where there is too little to split."""
    _check(items, wanted)
    prompts, generators = _families(items), _numbered([one.generator for one in items])
    rng = np.random.default_rng([wanted.seed, 20])
    if wanted.folds == 1:
        portions = [_held_out(prompts, wanted.test, rng), _held_out(generators, wanted.test, rng)]
        tested = [(portions[0], portions[1])]
    else:
        of_prompts, of_generators = (_folds(groups, wanted.folds, rng) for groups in (prompts, generators))
        tested = [(of_prompts == fold, of_generators == fold) for fold in range(wanted.folds)]
    found = []
    for fold, (by_prompt, by_generator) in enumerate(tested):
        rng = np.random.default_rng([wanted.seed, 21, fold])
        watched = [
            _held_out(groups, wanted.validation, rng, among=~test)
            for groups, test in ((prompts, by_prompt), (generators, by_generator))
        ]
        roles = _roles(wanted.by, (by_prompt, by_generator), (watched[0], watched[1]))
        named = {one.image: role for one, role in zip(items, roles, strict=True)}
        found.append(Split(wanted.by, wanted.seed, fold, wanted.folds, named))
    for one in found:
        refuse_leaks(one, items)
    return found


def refuse_leaks(split: Split, items: Sequence[Item]) -> None:
    """Stop where a split leaks, or leaves a side empty."""
    used = set(split.roles.values())
    faults = leaks(split, items)
    faults += [f"no image is left for {role}" for role in ROLES[:3] if role not in used]
    if faults:
        raise SplitError(f"split by {split.by}, fold {split.fold + 1} of {split.folds}", faults)


def leaks(split: Split, items: Sequence[Item]) -> list[str]:
    """What is on two sides of the split and must not be: files, and prompts or generators or both."""
    found = _shared("file", ((one.sha256, one.image) for one in items), split)
    if split.by in ("prompt", "both"):
        named = ((_plain(one.prompt), one.image) for one in items if one.prompt is not None)
        found += _shared("prompt", named, split)
    if split.by in ("generator", "both"):
        found += _shared("generator", ((one.generator, one.image) for one in items), split)
    return found


def _shared(what: str, named: Iterable[tuple[str, str]], split: Split) -> list[str]:
    """Each thing whose images have more than one role, as a sentence; what is unused leaks nowhere."""
    seen: dict[str, dict[Role, str]] = {}
    for thing, image in named:
        role = split.roles.get(image, "unused")
        if role != "unused":
            seen.setdefault(thing, {}).setdefault(role, image)
    leaking = {thing: roles for thing, roles in seen.items() if len(roles) > 1}
    told = [
        f"{what} {thing[:60]!r} is in {' and '.join(sorted(roles))} (images {', '.join(roles.values())})"
        for thing, roles in list(leaking.items())[:SHOWN]
    ]
    more = len(leaking) - SHOWN
    return [*told, f"and {more} more {what}s"] if more > 0 else told


def _check(items: Sequence[Item], wanted: Splitting) -> None:
    least = max(wanted.folds, 3)
    prompts = int(_families(items).max()) + 1 if items else 0
    counts = {"prompt": prompts, "generator": len({one.generator for one in items})}
    asked = ("prompt", "generator") if wanted.by == "both" else (wanted.by,)
    faults = [f"{counts[what]} {what}s; at least {least} are needed" for what in asked if counts[what] < least]
    if faults:
        advice = "Train, validation and test need one each. Ask for fewer folds, or split by something else."
        raise SplitError(f"split by {wanted.by}", faults, advice=advice)


def _roles(
    by: By,
    tested: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    watched: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> list[Role]:
    """Roles from what is held out of prompts and of generators; by both, an image must fit on both counts."""
    single = [
        np.where(test, "test", np.where(watch, "validation", "train"))
        for test, watch in zip(tested, watched, strict=True)
    ]
    if by == "prompt":
        chosen = single[0]
    elif by == "generator":
        chosen = single[1]
    else:
        chosen = np.where(single[0] == single[1], single[0], "unused")
    known = {str(role): role for role in ROLES}
    return [known[str(role)] for role in chosen]


def _families(items: Sequence[Item]) -> NDArray[np.int64]:
    """The family of each image: images of one prompt, and copies of one file, belong together."""
    parent = list(range(len(items)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[tuple[str, str], int] = {}
    for place, one in enumerate(items):
        keys = [("file", one.sha256)]
        keys += [("prompt", _plain(one.prompt))] if one.prompt is not None else []
        for key in keys:
            here, there = root(place), root(first.setdefault(key, place))
            parent[max(here, there)] = min(here, there)
    return _numbered([str(root(place)) for place in range(len(items))])


def _plain(prompt: str | None) -> str:
    """A prompt as it counts: case and spaces make no difference."""
    return " ".join((prompt or "").casefold().split())


def _numbered(names: Sequence[str]) -> NDArray[np.int64]:
    """Numbers from 0 in the order of first occurrence."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], np.int64)


def _held_out(
    groups: NDArray[np.int64], share: float, rng: np.random.Generator, among: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Whether each image is of a group drawn for the test: a share of the groups, at least one and not all."""
    free = np.unique(groups if among is None else groups[among])
    count = min(max(round(share * len(free)), 1), max(len(free) - 1, 0))
    return np.isin(groups, rng.permutation(free)[:count])


def _folds(groups: NDArray[np.int64], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of each image; groups in random order go to the fold with the fewest images so far."""
    sizes = np.bincount(groups)
    load, place = np.zeros(folds), np.zeros(len(sizes), np.int64)
    for group in rng.permutation(len(sizes)):
        place[group] = int(load.argmin())
        load[place[group]] += sizes[group]
    return place[groups]
