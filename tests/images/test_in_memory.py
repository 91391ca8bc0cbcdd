"""Images in memory: whatever holds them, the same bytes."""

from typing import cast

import numpy as np
import pytest
import torch
from PIL import Image

from beholder.errors import UserError
from beholder.images.in_memory import InMemory, pixels_of

PIXELS = np.random.default_rng(0).integers(0, 256, (2, 5, 7, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    "batch",
    [
        PIXELS,
        PIXELS / 255,
        (PIXELS / 255).astype(np.float32),
        torch.from_numpy(PIXELS).permute(0, 3, 1, 2),
        torch.from_numpy(PIXELS).permute(0, 3, 1, 2) / 255,
        (torch.from_numpy(PIXELS).permute(0, 3, 1, 2) / 255).requires_grad_(),
        [Image.fromarray(pixels) for pixels in PIXELS],
        [PIXELS[0], torch.from_numpy(PIXELS[1]).permute(2, 0, 1)],
    ],
    ids=["bytes", "doubles", "floats", "tensor", "float tensor", "gradient", "pillow", "mixed"],
)
def test_all_give_the_same_bytes(batch: InMemory) -> None:
    pixels = pixels_of(batch)
    assert len(pixels) == 2
    assert all(own.dtype == np.uint8 for own in pixels)
    assert np.array_equal(np.stack(pixels), PIXELS)


def test_grey_and_transparent_images_become_opaque_rgb() -> None:
    (grey,) = pixels_of(PIXELS[0, ..., 0])
    assert np.array_equal(grey, np.repeat(PIXELS[0, ..., :1], 3, axis=2))
    (clear,) = pixels_of(np.zeros((4, 4, 4), np.uint8), "#ff8000")  # alpha 0: only the background is left
    assert clear[0, 0].tolist() == [255, 128, 0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (PIXELS.astype(np.int64), "found int64"),
        (PIXELS.astype(np.float64), "from 0 to 1; found 0 to 24[0-9]"),
        (np.full((2, 2, 3), np.nan), "from 0 to 1; found nan"),
        (np.zeros((2, 2, 2), np.uint8), "1, 3 or 4 channels"),
        (torch.zeros(2, 2), "channels, height, width"),
        ("picture.png", "found str"),
    ],
)
def test_what_is_no_image(wrong: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        pixels_of(cast("InMemory", wrong))
