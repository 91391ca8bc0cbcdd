"""A balanced choice of prompts: equally many of each category, and as many different tags as possible.

Within a category prompts are chosen greedily: next comes the one whose tags are covered least so far, each tag
with the weight 1 / (1 + times covered), summed over the prompt's tags (a concave function of coverage, for which
greedy choice is within 1 − 1/e of the best). Ties are broken at random.
"""

import heapq
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Choice:
    """Positions of the chosen prompts in ascending order, and how many each category got of how many."""

    chosen: tuple[int, ...]
    by_category: dict[str, tuple[int, int]]


def choose_balanced(
    categories: Sequence[str], tags: Sequence[frozenset[Hashable]], count: int, rng: np.random.Generator
) -> Choice:
    """Choose prompts so that categories are equal and tags are covered.

    Args:
        categories: the category of each prompt.
        tags: its tags, as pairs of name and label, or whatever is to be covered.
        count: how many to choose; all, where there are not more.
        rng: breaks ties.

    Returns:
        The choice. A category with too few prompts gives all it has, and the others share the rest.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> choose_balanced(["a", "a", "a", "b"], [frozenset()] * 4, 2, rng).by_category
        {'a': (1, 3), 'b': (1, 1)}
    """
    members: dict[str, list[int]] = {}
    for position, category in enumerate(categories):
        members.setdefault(category, []).append(position)
    quotas = _quotas({category: len(positions) for category, positions in members.items()}, count)
    covered: Counter[Hashable] = Counter()
    chosen: list[int] = []
    for category in sorted(members):
        chosen += _cover(members[category], tags, quotas[category], covered, rng)
    return Choice(tuple(sorted(chosen)), {name: (quotas[name], len(members[name])) for name in sorted(members)})


def _quotas(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Share ``count`` out as equally as the sizes permit; what is left over goes to the first in the alphabet."""
    quotas = dict.fromkeys(sizes, 0)
    left = min(count, sum(sizes.values()))
    while left:
        open_categories = sorted(name for name in sizes if quotas[name] < sizes[name])
        each, extra = divmod(left, len(open_categories))
        for number, name in enumerate(open_categories):
            quotas[name] += min(each + (number < extra), sizes[name] - quotas[name])
        left = min(count, sum(sizes.values())) - sum(quotas.values())
    return quotas


def _cover(
    positions: Sequence[int],
    tags: Sequence[frozenset[Hashable]],
    quota: int,
    covered: Counter[Hashable],
    rng: np.random.Generator,
) -> list[int]:
    """Choose greedily; gains only shrink, so the old gain of a prompt bounds the new one (lazy greedy)."""
    order = rng.permutation(len(positions))

    def gain(position: int) -> float:
        return math.fsum(1 / (1 + covered[tag]) for tag in tags[position])  # whatever the order of a set

    queue = [(-gain(positions[place]), rank, positions[place]) for rank, place in enumerate(order)]
    heapq.heapify(queue)
    chosen: list[int] = []
    while len(chosen) < quota:
        _, rank, position = heapq.heappop(queue)
        now = -gain(position)
        if queue and now > queue[0][0]:
            heapq.heappush(queue, (now, rank, position))
            continue
        chosen.append(position)
        covered.update(tags[position])
    return chosen
