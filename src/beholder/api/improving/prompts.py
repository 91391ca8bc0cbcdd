"""The prompts and seeds of an improvement of a generator, and the real images that it is watched by."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.images.decode import decode_file
from beholder.improve.pictures import study_pictures
from beholder.study.study import load_study
from beholder.tables.store import Store

FEWEST_REFERENCES = 48
"""Real images below which they are not enough to be a reference."""


def study_prompts(folder: Path, most: int | None = None) -> list[str]:
    """The distinct prompts of a study's generated images, in random order by the study's seed."""
    distinct = list(dict.fromkeys(picture.prompt for picture in study_pictures(folder)))
    order = np.random.default_rng([load_study(folder).seed, 43]).permutation(len(distinct))
    return [distinct[int(place)] for place in order][:most]


def seeds_of(count: int, seed: int) -> list[int]:
    """So many seeds of images."""
    return [int(drawn) for drawn in np.random.SeedSequence([seed, 44]).generate_state(count)]


def real_images(folder: Path, most: int, size: tuple[int, int]) -> NDArray[np.uint8] | None:
    """About ``most`` real images of the study at a size (height, width); ``None`` where there are too few."""
    paths = Store(folder).read("images").filter(pl.col("real"))["path"].to_list()
    if len(paths) < FEWEST_REFERENCES:
        return None
    several = paths[: max(most, FEWEST_REFERENCES)]
    opened = (decode_file(folder / path).convert("RGB").resize((size[1], size[0])) for path in several)
    return np.stack([np.asarray(image, np.uint8) for image in opened])
