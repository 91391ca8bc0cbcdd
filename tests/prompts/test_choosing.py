"""Choices are balanced, cover tags, and hold out related prompts together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.prompts.choosing.balance import choose_balanced
from beholder.prompts.choosing.coverage import Coverage, coverage
from beholder.prompts.choosing.held_out import hold_out


def test_a_small_category_gives_all_it_has_and_the_others_share_the_rest() -> None:
    """10 of 8 a, 6 b, 1 c. One third each is 3, with 1 left for a: 4, 3, 1; two are left for a and b: 5, 4, 1."""
    categories = ["a"] * 8 + ["b"] * 6 + ["c"]
    choice = choose_balanced(categories, [frozenset()] * 15, 10, np.random.default_rng(0))
    assert choice.by_category == {"a": (5, 8), "b": (4, 6), "c": (1, 1)}
    assert len(choice.chosen) == 10


def test_prompts_with_tags_that_are_rare_so_far_come_first() -> None:
    tags = [frozenset({"red"}), frozenset({"red"}), frozenset({"blue"}), frozenset({"red", "green"})]
    choice = choose_balanced(["a"] * 4, tags, 2, np.random.default_rng(0))
    assert choice.chosen == (2, 3)  # 3 has two new tags, then 2 has one; 0 and 1 have half of one


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=30),
    st.integers(0, 40),
    st.integers(0, 2**32),
)
def test_laws_of_balance(categories: list[str], count: int, seed: int) -> None:
    tags = [frozenset({(category, number % 3)}) for number, category in enumerate(categories)]
    choice = choose_balanced(categories, tags, count, np.random.default_rng(seed))
    assert len(choice.chosen) == len(set(choice.chosen)) == min(count, len(categories))
    for first, (chosen, _) in choice.by_category.items():
        for second, (others, size) in choice.by_category.items():
            assert chosen <= others + 1 or others == size, (first, second)


def test_coverage_counts_a_label_once_per_prompt() -> None:
    labels = [[("colour", "red"), ("colour", "red")], [("colour", "red")], [("colour", "blue")]]
    assert coverage(labels, [0, 2], [2]) == [
        Coverage("colour", "blue", 1, 1, 1),
        Coverage("colour", "red", 2, 1, 0),
    ]


def test_related_prompts_are_on_the_same_side_and_the_proportion_is_right() -> None:
    ids = [f"p{number}" for number in range(4000)]
    pairs = [(number, number + 1) for number in range(0, 2000, 2)]
    held = hold_out(ids, pairs, 0.25)
    assert all(held[first] == held[second] for first, second in pairs)
    # 3,000 groups: standard error of the proportion of groups sqrt(.25 · .75 / 3000) = .008
    assert abs(np.mean(held) - 0.25) < 0.04
    assert hold_out(ids, pairs, 0.25) == held
    assert hold_out(ids, pairs, 0.25, salt="other") != held
    assert not any(hold_out(ids, pairs, 0.0))
    assert all(hold_out(ids, pairs, 1.0))


def test_a_prompt_stays_on_its_side_when_unrelated_ones_are_added() -> None:
    ids = [f"p{number}" for number in range(200)]
    more = [*ids, *(f"q{number}" for number in range(200))]
    assert hold_out(more, [], 0.3)[:200] == hold_out(ids, [], 0.3)


class SaltedTag:
    """A tag whose place in a set depends on a salt, as that of a text depends on Python's hash seed."""

    salt = 0

    def __init__(self, name: int) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash((self.name * 2654435761, SaltedTag.salt))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SaltedTag) and other.name == self.name


def test_the_choice_does_not_depend_on_the_order_of_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = set()
    for salt in range(12):
        monkeypatch.setattr(SaltedTag, "salt", salt)
        rng = np.random.default_rng(3)
        tags = [frozenset(SaltedTag(int(k)) for k in rng.integers(0, 25, 9)) for _ in range(120)]
        choices.add(choose_balanced(["a"] * 120, tags, 60, rng).chosen)
    assert len(choices) == 1
