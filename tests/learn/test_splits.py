"""Splits: laws on generated studies, leaks by hand."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import SplitError
from beholder.learn.recipe import By, Splitting
from beholder.learn.splits import Item, Role, Split, leaks, refuse_leaks, split


def items(prompts: int, generators: int) -> list[Item]:
    return [
        Item(f"g{g}/{p}", f"Prompt {p}", f"g{g}", f"sha-{g}-{p}")
        for p in range(prompts)
        for g in range(generators)
    ]


studies = st.tuples(st.integers(4, 12), st.integers(4, 6))
ways = st.sampled_from(["prompt", "generator", "both"])


@given(studies, ways, st.integers(1, 4), st.integers(0, 3))
def test_no_split_leaks_and_all_sides_are_there(size: tuple[int, int], by: By, folds: int, seed: int) -> None:
    there = items(*size)
    for one in split(there, Splitting(by=by, folds=folds, seed=seed)):
        assert leaks(one, there) == []
        assert {"train", "validation", "test"} <= set(one.roles.values())
        assert list(one.roles) == [item.image for item in there]
        if by != "both":
            assert "unused" not in one.roles.values()
        on_side = {role: {_key(item, by) for item in there if one.roles[item.image] == role} for role in _SIDES}
        assert not on_side["train"] & on_side["test"]
        assert not on_side["validation"] & (on_side["test"] | on_side["train"])


_SIDES: tuple[Role, ...] = ("train", "validation", "test")


def _key(item: Item, by: By) -> str | None:
    return item.generator if by == "generator" else item.prompt


@given(studies, st.integers(2, 4), st.sampled_from(["prompt", "generator"]))
def test_every_image_is_tested_in_exactly_one_fold(size: tuple[int, int], folds: int, by: By) -> None:
    there = items(*size)
    tested = Counter(image for one in split(there, Splitting(by=by, folds=folds)) for image in one.of("test"))
    assert tested == Counter(item.image for item in there)


def test_folds_are_about_equally_large() -> None:
    sizes = [len(one.of("test")) for one in split(items(50, 4), Splitting(folds=5))]
    assert sizes == [40] * 5


def test_shares_are_of_prompts() -> None:
    (one,) = split(items(40, 4), Splitting(test=0.2, validation=0.25))
    # 8 of 40 prompts are tested, a quarter of the other 32 is for validation
    assert Counter(one.roles.values()) == {"test": 32, "validation": 32, "train": 96}


def test_the_seed_decides() -> None:
    there = items(20, 4)
    roles = [split(there, Splitting(seed=seed))[0].roles for seed in (0, 0, 1)]
    assert roles[0] == roles[1]
    assert roles[0] != roles[2]


def test_prompts_that_differ_in_case_and_spaces_stay_together() -> None:
    there = [
        Item(f"{p}-{way}", text, "g", f"{p}-{way}")
        for p in range(8)
        for way, text in enumerate((f"A cat {p}", f"a  CAT {p} "))
    ]
    (one,) = split(there, Splitting())
    assert all(one.roles[f"{p}-0"] == one.roles[f"{p}-1"] for p in range(8))


def test_copies_of_a_file_stay_together_also_under_other_prompts() -> None:
    there = [Item(f"i{n}", f"prompt {n}", "g", f"sha-{n // 2}") for n in range(20)]
    (one,) = split(there, Splitting())
    assert all(one.roles[f"i{n}"] == one.roles[f"i{n + 1}"] for n in range(0, 20, 2))


def test_leaks_by_hand() -> None:
    there = [
        Item("a", "One prompt", "g1", "s1"),
        Item("b", "one  prompt", "g2", "s2"),
        Item("c", "two", "g1", "s1"),
        Item("d", "three", "g3", "s4"),
    ]
    roles: dict[str, Role] = {"a": "train", "b": "test", "c": "validation", "d": "unused"}
    found = leaks(Split("both", 0, 0, 1, roles), there)
    assert found == [
        "file 's1' is in train and validation (images a, c)",
        "prompt 'one prompt' is in test and train (images a, b)",
        "generator 'g1' is in train and validation (images a, c)",
    ]
    assert leaks(Split("generator", 0, 0, 1, roles), there) == [found[0], found[2]]
    with pytest.raises(SplitError, match="3 faults"):
        refuse_leaks(Split("both", 0, 0, 1, roles), there)


def test_many_leaks_are_counted() -> None:
    there = [Item(f"i{n}", f"p{n // 2}", "g", f"s{n}") for n in range(20)]
    roles: dict[str, Role] = {f"i{n}": "train" if n % 2 else "test" for n in range(20)}
    found = leaks(Split("prompt", 0, 0, 1, roles), there)
    assert len(found) == 6
    assert found[-1] == "and 5 more prompts"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Splitting(by="generator"), "2 generators; at least 3"),
        (Splitting(folds=5), "4 prompts; at least 5"),
        (Splitting(by="both", folds=5), "2 faults"),
    ],
)
def test_too_little_to_split(wanted: Splitting, message: str) -> None:
    with pytest.raises(SplitError, match=message):
        split(items(4, 2), wanted)
