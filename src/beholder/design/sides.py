"""Which image stands on which side."""

from dataclasses import replace

import numpy as np

from beholder.design.drawn import Drawn


def counterbalance(hands: list[list[Drawn]], rng: np.random.Generator) -> list[list[Drawn]]:
    """Sides: an item shown several times alternates them, and so do the items of a stratum."""
    turn: dict[str, int] = {}
    first: dict[tuple[str, ...], int] = {}
    shown: dict[tuple[str, ...], int] = {}
    result: list[list[Drawn]] = []
    for hand in hands:
        sided: list[Drawn] = []
        for drawn in hand:
            images = drawn.item.images
            if len(images) == 2:
                if images not in first:
                    stratum = drawn.item.stratum
                    turn[stratum] = turn.get(stratum, int(rng.integers(2))) + 1
                    first[images] = turn[stratum]
                shown[images] = shown.get(images, 0) + 1
                flip = (first[images] + shown[images]) % 2 == 1
                images = images[::-1] if flip else images
            else:
                images = tuple(images[int(i)] for i in rng.permutation(len(images)))
            sided.append(replace(drawn, item=replace(drawn.item, images=images)))
        result.append(sided)
    return result
