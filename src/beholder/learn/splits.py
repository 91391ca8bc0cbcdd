"""Splits into training, validation and test: by prompt, by generator or by both, without leaks.

A model that has seen a prompt, or a generator, knows something about its other images. So all images of one prompt
(by its text, whatever its id) and all copies of one file go to the same part. Leaks that a split still has are
listed by :func:`find_leaks`, and the split is refused.
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

LEAKS_NAMED = 5
"""Number of leaks of each kind that are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Item:
    """An image with what determines its part of a split."""

    image: str
    prompt: str | None
    """The text of its prompt."""
    generator: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Split:
    """The role of every image in one fold."""

    by: By
    seed: int
    fold: int
    folds: int
    roles: Mapping[str, Role]

    def of(self, role: Role) -> list[str]:
        """Return the images in that role, in the order of the items."""
        return [image for image, its_role in self.roles.items() if its_role == role]


def split(items: Sequence[Item], settings: Splitting) -> list[Split]:
    """Return one split per fold, all without leaks; an error if there are too few prompts or generators."""
    _check(items, settings)
    prompts, generators = _prompt_groups(items), _numbered([item.generator for item in items])
    rng = np.random.default_rng([settings.seed, 20])
    if settings.folds == 1:
        held_out = [_held_out(prompts, settings.test, rng), _held_out(generators, settings.test, rng)]
        test_masks = [(held_out[0], held_out[1])]
    else:
        prompt_folds, generator_folds = (_folds(groups, settings.folds, rng) for groups in (prompts, generators))
        test_masks = [(prompt_folds == fold, generator_folds == fold) for fold in range(settings.folds)]
    splits = []
    for fold, (by_prompt, by_generator) in enumerate(test_masks):
        rng = np.random.default_rng([settings.seed, 21, fold])
        validation_masks = [
            _held_out(groups, settings.validation, rng, among=~test)
            for groups, test in ((prompts, by_prompt), (generators, by_generator))
        ]
        roles = _roles(settings.by, (by_prompt, by_generator), (validation_masks[0], validation_masks[1]))
        role_by_image = {item.image: role for item, role in zip(items, roles, strict=True)}
        splits.append(Split(settings.by, settings.seed, fold, settings.folds, role_by_image))
    for each in splits:
        refuse_leaks(each, items)
    return splits


def refuse_leaks(split: Split, items: Sequence[Item]) -> None:
    """Raise an error if a split leaks or leaves a part empty."""
    used = set(split.roles.values())
    faults = find_leaks(split, items)
    faults += [f"no image is left for {role}" for role in ROLES[:3] if role not in used]
    if faults:
        raise SplitError(f"split by {split.by}, fold {split.fold + 1} of {split.folds}", faults)


def find_leaks(split: Split, items: Sequence[Item]) -> list[str]:
    """Return a sentence per leak: files, and prompts or generators or both, that are in two parts of the split."""
    faults = _leaks_of_kind("file", ((item.sha256, item.image) for item in items), split)
    if split.by in ("prompt", "both"):
        prompts = ((normalise_prompt(item.prompt), item.image) for item in items if item.prompt is not None)
        faults += _leaks_of_kind("prompt", prompts, split)
    if split.by in ("generator", "both"):
        faults += _leaks_of_kind("generator", ((item.generator, item.image) for item in items), split)
    return faults


def _leaks_of_kind(kind: str, keys_and_images: Iterable[tuple[str, str]], split: Split) -> list[str]:
    """Return a sentence per file, prompt or generator whose images have several roles besides unused."""
    roles_by_key: dict[str, dict[Role, str]] = {}
    for key, image in keys_and_images:
        role = split.roles.get(image, "unused")
        if role != "unused":
            roles_by_key.setdefault(key, {}).setdefault(role, image)
    leaking = {key: roles for key, roles in roles_by_key.items() if len(roles) > 1}
    sentences = [
        f"{kind} {key[:60]!r} is in {' and '.join(sorted(roles))} (images {', '.join(roles.values())})"
        for key, roles in list(leaking.items())[:LEAKS_NAMED]
    ]
    more = len(leaking) - LEAKS_NAMED
    return [*sentences, f"and {more} more {kind}s"] if more > 0 else sentences


def _check(items: Sequence[Item], settings: Splitting) -> None:
    minimum = max(settings.folds, 3)
    prompts = int(_prompt_groups(items).max()) + 1 if items else 0
    counts = {"prompt": prompts, "generator": len({item.generator for item in items})}
    kinds = ("prompt", "generator") if settings.by == "both" else (settings.by,)
    faults = [f"{counts[kind]} {kind}s; at least {minimum} are needed" for kind in kinds if counts[kind] < minimum]
    if faults:
        advice = "Train, validation and test need one each. Ask for fewer folds, or split by something else."
        raise SplitError(f"split by {settings.by}", faults, advice=advice)


def _roles(
    by: By,
    test_masks: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    validation_masks: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> list[Role]:
    """Return the roles; when split by both, an image is used only if prompt and generator have the same."""
    by_kind = [
        np.where(test, "test", np.where(validation, "validation", "train"))
        for test, validation in zip(test_masks, validation_masks, strict=True)
    ]
    if by == "prompt":
        chosen = by_kind[0]
    elif by == "generator":
        chosen = by_kind[1]
    else:
        chosen = np.where(by_kind[0] == by_kind[1], by_kind[0], "unused")
    role_by_name = {str(role): role for role in ROLES}
    return [role_by_name[str(role)] for role in chosen]


def _prompt_groups(items: Sequence[Item]) -> NDArray[np.int64]:
    """Return the group of each image: images of one prompt and copies of one file are in the same group."""
    parent = list(range(len(items)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first_index: dict[tuple[str, str], int] = {}
    for index, item in enumerate(items):
        keys = [("file", item.sha256)]
        keys += [("prompt", normalise_prompt(item.prompt))] if item.prompt is not None else []
        for key in keys:
            root_here, root_there = root(index), root(first_index.setdefault(key, index))
            parent[max(root_here, root_there)] = min(root_here, root_there)
    return _numbered([str(root(index)) for index in range(len(items))])


def normalise_prompt(prompt: str | None) -> str:
    """Return a prompt in normal form: case and spaces make no difference."""
    return " ".join((prompt or "").casefold().split())


def _numbered(names: Sequence[str]) -> NDArray[np.int64]:
    """Return numbers from 0 in the order of first occurrence."""
    number_by_name: dict[str, int] = {}
    return np.array([number_by_name.setdefault(name, len(number_by_name)) for name in names], np.int64)


def _held_out(
    groups: NDArray[np.int64], proportion: float, rng: np.random.Generator, among: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Return whether each image is in a held-out group; a proportion of the groups, at least one and not all."""
    candidates = np.unique(groups if among is None else groups[among])
    count = min(max(round(proportion * len(candidates)), 1), max(len(candidates) - 1, 0))
    return np.isin(groups, rng.permutation(candidates)[:count])


def _folds(groups: NDArray[np.int64], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each image; groups in random order go to the fold with the fewest images so far."""
    sizes = np.bincount(groups)
    images_in_fold, fold_of_group = np.zeros(folds), np.zeros(len(sizes), np.int64)
    for group in rng.permutation(len(sizes)):
        fold_of_group[group] = int(images_in_fold.argmin())
        images_in_fold[fold_of_group[group]] += sizes[group]
    return fold_of_group[groups]
