"""Images, and networks so small that they load and run at once; nothing is fetched."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub's library is imported; it would try each call for long

from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="session")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 files of different sizes and kinds, smooth enough to survive compression."""
    folder = tmp_path_factory.mktemp("photographs")
    rng = np.random.default_rng(3)
    for number in range(24):
        height, width = (int(side) for side in rng.integers(40, 90, 2))
        coarse = rng.integers(0, 256, (4, 5, 3), dtype=np.uint8)
        image = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        image.save(folder / f"{number:02d}.{('png', 'jpg', 'webp', 'avif')[number % 4]}")
    return folder
