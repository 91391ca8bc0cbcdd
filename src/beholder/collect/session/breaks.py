"""Breaks that are offered within a block, so that no rater works for long without one.

Blocks end with a break in any case. A block of L trials, at s seconds each, is cut into round(L·s / (60·m)) parts
as equal as can be, with a break offered between them, where m is the setting ``break_minutes``.
"""

from collections.abc import Sequence
from itertools import groupby

from beholder.study.kinds.catalogue import AnyQuestion, kind_of

FEWEST_TRIALS = 5
"""No part between two breaks is planned shorter than this."""


def offered_breaks(question: AnyQuestion, blocks: Sequence[int], minutes: float) -> list[int]:
    """Return the positions in a plan before which a break is offered; ``blocks`` has the block of each trial."""
    if not minutes:
        return []
    part = max(60 * minutes / kind_of(question).traits.seconds, FEWEST_TRIALS)
    positions: list[int] = []
    start = 0
    for _, block in groupby(blocks):
        length = len(list(block))
        parts = max(round(length / part), 1)
        positions += [start + round(length * number / parts) for number in range(1, parts)]
        start += length
    return positions
