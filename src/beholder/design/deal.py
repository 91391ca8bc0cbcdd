"""Dealing items to slots: each slot gets a subset of its own, and every item is used equally often."""

from collections import deque
from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray


def deal(strata: NDArray[np.int64], slots: int, each: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return item indices for each slot: (slots, each), no item twice in a slot.

    ``strata`` (items,) groups the items (by generator, or pair of generators). One order of the strata in which
    they alternate is repeated, slot after slot; each stratum has a deck of its own, shuffled again whenever it is
    used up. Hence every item is dealt equally often, or once more than another where
    ``slots × each`` is not a multiple of the items; and strata of one size occur in each slot, and in each run of
    a slot, equally often or once more. Needs at least ``each`` items.
    """
    if each > len(strata):
        raise ValueError(f"{each} items per slot from only {len(strata)}")
    turns = cycle(strata[alternating_shuffle(strata, rng)].tolist())
    decks = {int(stratum): _Deck(np.flatnonzero(strata == stratum), rng) for stratum in np.unique(strata)}
    hands = np.empty((slots, each), dtype=np.int64)
    for slot in range(slots):
        hand: dict[int, None] = {}
        for stratum in islice(turns, each):
            hand[decks[stratum].draw(hand)] = None
        hands[slot] = list(hand)
    return hands


class _Deck:
    """The items of one stratum, each dealt once before any is dealt again."""

    def __init__(self, items: NDArray[np.int64], rng: np.random.Generator) -> None:
        self._items, self._rng = items, rng
        self._waiting: deque[int] = deque()

    def draw(self, hand: dict[int, None]) -> int:
        """Return the next item that is not in the hand; those passed over stay first in line."""
        passed_over: list[int] = []
        while True:
            if not self._waiting:
                self._waiting.extend(self._rng.permutation(self._items).tolist())
            item = self._waiting.popleft()
            if item not in hand:
                self._waiting.extendleft(reversed(passed_over))
                return item
            passed_over.append(item)


def alternating_shuffle(strata: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a random order of all items in which every run holds the strata in about their proportions.

    Item j of a stratum of n is placed at (j + u) / n with one random u for the stratum, and the items are sorted
    by position: a systematic sample in every run. Strata alternate, so this is no order to show to raters.
    """
    order = rng.permutation(len(strata))
    shuffled = strata[order]
    position = np.empty(len(strata))
    for stratum in np.unique(strata):
        members = np.flatnonzero(shuffled == stratum)
        position[members] = (np.arange(len(members)) + rng.random()) / len(members)
    return order[np.argsort(position, kind="stable")]
