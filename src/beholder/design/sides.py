"""Which image stands on which side."""

from collections import Counter
from dataclasses import replace

import numpy as np

from beholder.design.items import DrawnTrial, Item


def counterbalance(hands: list[list[DrawnTrial]], rng: np.random.Generator) -> list[list[DrawnTrial]]:
    """Draw sides so that each pair, and each stratum of pairs, is shown either way round equally often.

    A pair shown several times alternates its sides. Where it is shown an odd number of times one showing is left
    over, and the left-over ones of a stratum alternate. So the two ways round differ by at most one showing, for
    each pair and for each stratum. More than two images are put in random order.
    """
    showings = Counter(drawn.item for hand in hands for drawn in hand)
    turns: dict[tuple[str, bool], int] = {}
    turn_of: dict[Item, int] = {}

    def sided(drawn: DrawnTrial) -> DrawnTrial:
        item = drawn.item
        if len(item.images) != 2:
            images = tuple(item.images[int(i)] for i in rng.permutation(len(item.images)))
            return replace(drawn, item=replace(item, images=images))
        if item not in turn_of:
            group = (item.stratum, showings[item] % 2 == 1)
            turns[group] = turns.get(group, int(rng.integers(2))) + 1
            turn_of[item] = turns[group]
        turn_of[item] += 1
        return replace(drawn, item=replace(item, images=item.images[::-1])) if turn_of[item] % 2 else drawn

    return [[sided(drawn) for drawn in hand] for hand in hands]
