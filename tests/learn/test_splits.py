"""Splits: laws on generated studies, leaks by hand."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import SplitError
from beholder.learn.recipe import By, Splitting
from beholder.learn.splits import Item, Role, Split, find_leaks, refuse_leaks, split


def items(prompts: int, generators: int) -> list[Item]:
    return [
        Item(f"g{g}/{p}", f"Prompt {p}", f"g{g}", f"sha-{g}-{p}")
        for p in range(prompts)
        for g in range(generators)
    ]


studies = st.tuples(st.integers(4, 12), st.integers(4, 6))
ways = st.sampled_from(["prompt", "generator", "both"])


@given(studies, ways, st.integers(1, 4), st.integers(0, 3))
def test_no_split_leaks_and_no_part_is_empty(size: tuple[int, int], by: By, folds: int, seed: int) -> None:
    images = items(*size)
    for each in split(images, Splitting(by=by, folds=folds, seed=seed)):
        assert find_leaks(each, images) == []
        assert {"train", "validation", "test"} <= set(each.roles.values())
        assert list(each.roles) == [item.image for item in images]
        if by != "both":
            assert "unused" not in each.roles.values()
        keys = {role: {_key(item, by) for item in images if each.roles[item.image] == role} for role in _ROLES}
        assert not keys["train"] & keys["test"]
        assert not keys["validation"] & (keys["test"] | keys["train"])


_ROLES: tuple[Role, ...] = ("train", "validation", "test")


def _key(item: Item, by: By) -> str | None:
    return item.generator if by == "generator" else item.prompt


@given(studies, st.integers(2, 4), st.sampled_from(["prompt", "generator"]))
def test_every_image_is_tested_in_exactly_one_fold(size: tuple[int, int], folds: int, by: By) -> None:
    images = items(*size)
    tested = Counter(image for each in split(images, Splitting(by=by, folds=folds)) for image in each.of("test"))
    assert tested == Counter(item.image for item in images)


def test_folds_are_about_equally_large() -> None:
    sizes = [len(each.of("test")) for each in split(items(50, 4), Splitting(folds=5))]
    assert sizes == [40] * 5


def test_proportions_are_of_prompts() -> None:
    (only_split,) = split(items(40, 4), Splitting(test=0.2, validation=0.25))
    # 8 of 40 prompts are tested, a quarter of the other 32 is for validation
    assert Counter(only_split.roles.values()) == {"test": 32, "validation": 32, "train": 96}


def test_the_seed_decides() -> None:
    images = items(20, 4)
    roles = [split(images, Splitting(seed=seed))[0].roles for seed in (0, 0, 1)]
    assert roles[0] == roles[1]
    assert roles[0] != roles[2]


def test_prompts_that_differ_in_case_and_spaces_stay_together() -> None:
    images = [
        Item(f"{p}-{spelling}", text, "g", f"{p}-{spelling}")
        for p in range(8)
        for spelling, text in enumerate((f"A cat {p}", f"a  CAT {p} "))
    ]
    (only_split,) = split(images, Splitting())
    assert all(only_split.roles[f"{p}-0"] == only_split.roles[f"{p}-1"] for p in range(8))


def test_copies_of_a_file_stay_together_also_under_other_prompts() -> None:
    images = [Item(f"i{n}", f"prompt {n}", "g", f"sha-{n // 2}") for n in range(20)]
    (only_split,) = split(images, Splitting())
    assert all(only_split.roles[f"i{n}"] == only_split.roles[f"i{n + 1}"] for n in range(0, 20, 2))


def test_leaks_by_hand() -> None:
    images = [
        Item("a", "One prompt", "g1", "s1"),
        Item("b", "one  prompt", "g2", "s2"),
        Item("c", "two", "g1", "s1"),
        Item("d", "three", "g3", "s4"),
    ]
    roles: dict[str, Role] = {"a": "train", "b": "test", "c": "validation", "d": "unused"}
    leaks = find_leaks(Split("both", 0, 0, 1, roles), images)
    assert leaks == [
        "file 's1' is in train and validation (images a, c)",
        "prompt 'one prompt' is in test and train (images a, b)",
        "generator 'g1' is in train and validation (images a, c)",
    ]
    assert find_leaks(Split("generator", 0, 0, 1, roles), images) == [leaks[0], leaks[2]]
    with pytest.raises(SplitError, match="3 faults"):
        refuse_leaks(Split("both", 0, 0, 1, roles), images)


def test_many_leaks_are_counted() -> None:
    images = [Item(f"i{n}", f"p{n // 2}", "g", f"s{n}") for n in range(20)]
    roles: dict[str, Role] = {f"i{n}": "train" if n % 2 else "test" for n in range(20)}
    leaks = find_leaks(Split("prompt", 0, 0, 1, roles), images)
    assert len(leaks) == 6
    assert leaks[-1] == "and 5 more prompts"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Splitting(by="generator"), "2 generators; at least 3"),
        (Splitting(folds=5), "4 prompts; at least 5"),
        (Splitting(by="both", folds=5), "2 faults"),
    ],
)
def test_too_little_to_split(settings: Splitting, message: str) -> None:
    with pytest.raises(SplitError, match=message):
        split(items(4, 2), settings)
