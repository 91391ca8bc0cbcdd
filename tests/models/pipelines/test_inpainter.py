"""Nothing outside the mask comes from an inpainter."""

from collections.abc import Sequence

import numpy as np
import pytest

from beholder.errors import UserError
from beholder.models.pipelines.inpainter import Mask, Pixels, inpaint_within


class Black:
    """Paints everything black, mask or not."""

    identity = "black"

    def __init__(self, size: int = 4) -> None:
        self.size = size

    def inpaint(
        self, images: Sequence[Pixels], masks: Sequence[Mask], prompts: Sequence[str], seeds: Sequence[int]
    ) -> list[Pixels]:
        assert len(images) == len(masks) == len(prompts) == len(seeds)
        return [np.zeros((self.size, self.size, 3), np.uint8) for _ in images]


def test_pixels_outside_the_mask_are_put_back() -> None:
    image = np.full((4, 4, 3), 200, np.uint8)
    mask = np.zeros((4, 4), np.bool_)
    mask[1, 2] = True
    (after,) = inpaint_within(Black(), [image], [mask], ["a cat"], [1])
    assert after[1, 2].tolist() == [0, 0, 0]
    assert np.array_equal(after[~mask], image[~mask])
    assert inpaint_within(Black(), [], [], [], []) == []


def test_an_inpainter_that_changes_the_size_is_refused() -> None:
    with pytest.raises(UserError, match="another size"):
        inpaint_within(Black(8), [np.zeros((4, 4, 3), np.uint8)], [np.ones((4, 4), np.bool_)], ["a cat"], [1])
