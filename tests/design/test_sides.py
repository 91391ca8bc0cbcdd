"""Sides: each pair, and each pair of generators, either way round equally often."""

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beholder.design.deal import deal
from beholder.design.items import DrawnTrial, Item
from beholder.design.sides import counterbalance


def dealt(pairs: int, strata: int, slots: int, each: int, seed: int) -> list[list[DrawnTrial]]:
    items = [Item((f"a{i}", f"b{i}"), f"stratum {i % strata}") for i in range(pairs)]
    numbers = np.asarray([i % strata for i in range(pairs)], dtype=np.int64)
    hands = deal(numbers, slots, min(each, pairs), np.random.default_rng(seed))
    return [[DrawnTrial(items[int(i)], "test", 1.0) for i in hand] for hand in hands]


@given(
    pairs=st.integers(1, 12),
    strata=st.integers(1, 4),
    slots=st.integers(1, 9),
    each=st.integers(1, 12),
    seed=st.integers(0, 999),
)
def test_no_pair_and_no_stratum_is_lopsided(pairs: int, strata: int, slots: int, each: int, seed: int) -> None:
    hands = dealt(pairs, strata, slots, each, seed)
    sided = counterbalance(hands, np.random.default_rng(seed))
    lean: Counter[str] = Counter()
    by_stratum: Counter[str] = Counter()
    for hand, before in zip(sided, hands, strict=True):
        for drawn, original in zip(hand, before, strict=True):
            assert set(drawn.item.images) == set(original.item.images)
            way = 1 if drawn.item.images[0].startswith("a") else -1
            lean[original.item.images[0]] += way
            by_stratum[original.item.stratum] += way
    assert all(abs(difference) <= 1 for difference in lean.values())
    assert all(abs(difference) <= 1 for difference in by_stratum.values())


def test_the_first_showing_may_be_either_way() -> None:
    first = {counterbalance(dealt(1, 1, 1, 1, 0), np.random.default_rng(s))[0][0].item.images for s in range(20)}
    assert first == {("a0", "b0"), ("b0", "a0")}


def test_more_images_come_in_every_order() -> None:
    hand = [[DrawnTrial(Item(("x", "y", "z"), "all"), "test", 1.0)] for _ in range(600)]
    rng = np.random.default_rng(0)
    orders = Counter(drawn[0].item.images for drawn in counterbalance(hand, rng))
    # six orders of 100 each on average; SD = √(600 · 1/6 · 5/6) = 9.1
    assert len(orders) == 6
    assert all(abs(count - 100) < 4 * 9.1 for count in orders.values())


def test_single_images_are_left_alone() -> None:
    hand = [[DrawnTrial(Item(("x",), "all"), "test", 0.5)]]
    assert counterbalance(hand, np.random.default_rng(0)) == hand


def test_a_rater_does_not_see_a_generator_on_one_side_only() -> None:
    sided = counterbalance(dealt(60, 1, 10, 20, 3), np.random.default_rng(3))
    left: dict[int, int] = defaultdict(int)
    for slot, hand in enumerate(sided):
        left[slot] = sum(drawn.item.images[0].startswith("a") for drawn in hand)
    assert all(4 <= count <= 16 for count in left.values())  # of 20, mean 10, SD at most √5
