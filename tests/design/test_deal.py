"""Dealing items: everyone a subset, every item equally often, the strata evenly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.design.deal import alternating_shuffle, deal

sizes = st.lists(st.integers(1, 9), min_size=1, max_size=6)
seeds = st.integers(0, 2**32 - 1)


def strata_of(counts: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(counts)), counts)


@given(counts=sizes, slots=st.integers(1, 12), share=st.floats(0.01, 1), seed=seeds)
def test_laws(counts: list[int], slots: int, share: float, seed: int) -> None:
    strata = strata_of(counts)
    each = max(1, round(share * len(strata)))
    hands = deal(strata, slots, each, np.random.default_rng(seed))
    assert hands.shape == (slots, each)
    assert all(len(set(hand)) == each for hand in hands.tolist())  # no item twice in a hand
    dealt = np.bincount(hands.ravel(), minlength=len(strata))
    assert dealt.max() - dealt.min() <= 1
    assert (hands == deal(strata, slots, each, np.random.default_rng(seed))).all()


@given(strata=st.integers(1, 6), size=st.integers(1, 9), slots=st.integers(1, 9), data=st.data(), seed=seeds)
def test_strata_of_one_size_are_even_in_every_hand_and_every_run_of_it(
    strata: int, size: int, slots: int, data: st.DataObject, seed: int
) -> None:
    groups = strata_of([size] * strata)
    each = data.draw(st.integers(1, len(groups)))
    start = data.draw(st.integers(0, each - 1))
    for hand in deal(groups, slots, each, np.random.default_rng(seed)):
        for run in (hand, hand[start:]):
            counted = np.bincount(groups[run], minlength=strata)
            assert counted.max() - counted.min() <= 1


@given(counts=sizes, slots=st.integers(1, 9), share=st.floats(0.01, 1), seed=seeds)
def test_strata_of_any_size_stay_near_their_share(counts: list[int], slots: int, share: float, seed: int) -> None:
    strata = strata_of(counts)
    each = max(1, round(share * len(strata)))
    for hand in deal(strata, slots, each, np.random.default_rng(seed)):
        counted = np.bincount(strata[hand], minlength=len(counts))
        assert np.abs(counted - each * np.asarray(counts) / len(strata)).max() < 1 + len(counts) / 2


def test_whole_passes_deal_every_item_equally_often() -> None:
    # 6 slots × 5 items = 30 = 3 passes over 10 items
    hands = deal(strata_of([5, 5]), 6, 5, np.random.default_rng(0))
    assert np.bincount(hands.ravel()).tolist() == [3] * 10


def test_another_seed_deals_otherwise() -> None:
    strata = strata_of([20])
    first, second = (deal(strata, 2, 10, np.random.default_rng(seed)) for seed in (0, 1))
    assert (first != second).any()


def test_each_item_is_as_likely_as_any_other() -> None:
    # With 3 of 12 items in one hand each has the chance 1/4; over 4,000 deals, SE = √(.25·.75/4000) = .0068.
    strata = strata_of([2, 4, 6])
    rng = np.random.default_rng(1)
    drawn = np.concatenate([deal(strata, 1, 3, rng).ravel() for _ in range(4000)])
    shares = np.bincount(drawn, minlength=12) / 4000
    assert np.abs(shares - 0.25).max() < 4 * 0.0068


def test_refuses_more_than_there_is() -> None:
    with pytest.raises(ValueError, match="5 items per slot from only 4"):
        deal(strata_of([4]), 1, 5, np.random.default_rng(0))


@given(counts=sizes, seed=seeds)
def test_alternating_shuffle_is_an_order_of_all_items(counts: list[int], seed: int) -> None:
    strata = strata_of(counts)
    order = alternating_shuffle(strata, np.random.default_rng(seed))
    assert sorted(order.tolist()) == list(range(len(strata)))


def test_alternating_shuffle_of_two_equal_strata_alternates() -> None:
    strata = strata_of([50, 50])
    order = strata[alternating_shuffle(strata, np.random.default_rng(0))]
    assert (order[1:] != order[:-1]).all()
