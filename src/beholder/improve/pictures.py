"""The images of a study that are improved, and those that settings are chosen on: other prompts, at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from beholder.errors import UserError, unknown_name
from beholder.improve.critic import Pixels, read_image
from beholder.study.study import load_study
from beholder.tables.store import Store

DEVELOPMENT = 0.25
"""Proportion of the prompts that settings are chosen on."""

MOST_DEVELOPMENT = 32
"""Images that settings are chosen on, at most."""


@dataclass(frozen=True, slots=True)
class StudyPicture:
    """A generated image of a study."""

    image: str
    prompt: str
    generator: str
    path: Path

    def read(self, background: str) -> Pixels:
        """Its pixels."""
        return read_image(self.path, background)


@dataclass(frozen=True, slots=True)
class SplitPictures:
    """Images to choose settings on, and images to improve; no prompt has both."""

    development: tuple[StudyPicture, ...]
    improved: tuple[StudyPicture, ...]


def study_pictures(folder: Path, generator: str | None = None) -> list[StudyPicture]:
    """Return the generated images of a study with prompts, of one generator or of all."""
    load_study(folder)
    store = Store(folder)
    images = store.read("images").filter(~pl.col("real") & ~pl.col("gold"))
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    generators = sorted(images["generator"].unique())
    if generator is not None and generator not in generators:
        raise UserError(unknown_name("generator", generator, generators))
    pictures = [
        StudyPicture(row["image"], texts[row["prompt"]], row["generator"], folder / row["path"])
        for row in images.iter_rows(named=True)
        if row["prompt"] in texts and generator in (None, row["generator"])
    ]
    if not pictures:
        raise UserError(f"{folder} has no generated images with prompts: there is nothing to improve")
    return pictures


def original_size(folder: Path) -> tuple[int | None, int | None]:
    """Return width and height of the study's images where all are alike."""
    sizes = Store(folder).read("images").select("width", "height").unique().rows()
    return sizes[0] if len(sizes) == 1 else (None, None)


def split_pictures(
    pictures: Sequence[StudyPicture], rng: np.random.Generator, *, most: int | None = None
) -> SplitPictures:
    """Split images by prompt into those that settings are chosen on, and at most ``most`` that are improved."""
    prompts = list(dict.fromkeys(picture.prompt for picture in pictures))
    if len(prompts) < 4:
        raise UserError(f"{len(prompts)} prompts; at least 4 are needed to choose settings on other images")
    order = rng.permutation(len(prompts))
    count = max(round(DEVELOPMENT * len(prompts)), 1)
    chosen = {prompts[place] for place in order[:count]}
    development = [picture for picture in pictures if picture.prompt in chosen]
    improved = [picture for picture in pictures if picture.prompt not in chosen]
    return SplitPictures(
        tuple(_sample(development, MOST_DEVELOPMENT, rng)),
        tuple(_sample(improved, most or len(improved), rng)),
    )


def _sample(pictures: list[StudyPicture], most: int, rng: np.random.Generator) -> list[StudyPicture]:
    if len(pictures) <= most:
        return pictures
    return [pictures[place] for place in sorted(rng.choice(len(pictures), most, replace=False).tolist())]
