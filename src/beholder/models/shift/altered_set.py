"""The altered and drawn images that the warning of a model is trained against: as many of each kind."""

from collections.abc import Callable, Iterator

import numpy as np
from PIL import Image

from beholder.models.shift.altered import ALTERATIONS, REFERENCE
from beholder.models.shift.drawn import DRAWINGS

MOST_EACH, FEWEST_EACH = 40, 4
"""Altered images of each kind, and half of the drawn ones; fewer where originals are few."""
FEWEST_PIXELS = 8
"""The side of the smallest drawing, also where originals are smaller."""


def altered_set(
    read: Callable[[int], Image.Image], originals: int, rng: np.random.Generator
) -> Iterator[tuple[str, int | None, Image.Image]]:
    """Yield the kind, the number of the original (``None`` of a drawn image) and the image.

    ``read`` returns one of the originals. Each kind has a random generator of its own. Of each kind of drawn
    images there are twice as many, and half of them are as large as an original: drawings must be recognised by
    more than the traces of being enlarged.
    """
    kinds = len(ALTERATIONS) + len(DRAWINGS)
    each = min(max(originals // kinds, FEWEST_EACH), MOST_EACH)
    own = rng.spawn(kinds)
    for (kind, alter), of_kind in zip(ALTERATIONS.items(), own, strict=False):
        for number in of_kind.permutation(originals)[:each].tolist():
            yield kind, number, alter(read(number), of_kind)
    for (kind, draw), of_kind in zip(DRAWINGS.items(), own[len(ALTERATIONS) :], strict=True):
        shortest = [min(read(number).size) for number in of_kind.permutation(originals)[:each].tolist()]
        sides = [min(max(side, FEWEST_PIXELS), REFERENCE) for side in shortest]
        for side in sides:
            yield kind, None, draw(of_kind, None)
            yield kind, None, draw(of_kind, side)
