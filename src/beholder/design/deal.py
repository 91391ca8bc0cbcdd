"""Dealing items to people: everyone their own subset, every item equally often."""

from collections import deque

import numpy as np
from numpy.typing import NDArray


def deal(strata: NDArray[np.int64], slots: int, each: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Item numbers for each slot: (slots, each), no item twice in a slot.

    ``strata`` (items,) groups the items (by generator, or pair of generators). The items are dealt in passes; a
    pass holds every item once, shuffled so that the strata alternate. Hence every item is dealt equally often, or
    once more than another where ``slots × each`` is not a multiple of the items, and the strata are as even as can
    be within each slot. Needs at least ``each`` items.
    """
    if each > len(strata):
        raise ValueError(f"{each} items a slot from only {len(strata)}")
    hands = np.empty((slots, each), dtype=np.int64)
    waiting: deque[int] = deque()
    for slot in range(slots):
        hand: dict[int, None] = {}
        passed_over: list[int] = []
        while len(hand) < each:
            if not waiting:
                waiting.extend(alternating_shuffle(strata, rng).tolist())
            item = waiting.popleft()
            if item in hand:
                passed_over.append(item)
            else:
                hand[item] = None
        waiting.extendleft(reversed(passed_over))
        hands[slot] = list(hand)
    return hands


def alternating_shuffle(strata: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A random order of all items in which every run holds the strata in about their shares.

    Item j of a stratum of n is placed at (j + u) / n with one random u for the stratum, and the items are sorted
    by place: a systematic sample in every run. Strata alternate, so this is no order to show to people.
    """
    order = rng.permutation(len(strata))
    shuffled = strata[order]
    place = np.empty(len(strata))
    for stratum in np.unique(strata):
        members = np.flatnonzero(shuffled == stratum)
        place[members] = (np.arange(len(members)) + rng.random()) / len(members)
    return order[np.argsort(place, kind="stable")]
