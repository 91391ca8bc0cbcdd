"""People's heatmaps at the size that a network gives, kept while there is room."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beholder.feedback.heatmap import decode_heatmap
from beholder.images.resize import resize_floats
from beholder.learn.rich.examples import RichExample, RichJudged
from beholder.models.rich_feedback.augment import Maps

CACHE_BYTES = 500_000_000
"""Maps that are kept in memory once they have been decoded and resized."""


class SizedMaps:
    """The heatmaps of images, ``side`` pixels square."""

    def __init__(self, judged: RichJudged, side: int, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._judged = judged
        self._side = side
        self._room = cache_bytes
        self._kept: dict[tuple[str, str], NDArray[np.float32]] = {}

    def of(self, one: RichExample, aspects: Sequence[str]) -> Maps:
        """Of one image, (aspects, side, side); nan for an aspect that was not asked for."""
        maps = np.full((len(aspects), self._side, self._side), np.nan, np.float32)
        for place, aspect in enumerate(aspects):
            if aspect in one.mapped:
                maps[place] = self._one(one.image, aspect)
        return maps

    def decoded(self, one: RichExample, aspects: Sequence[str]) -> Maps:
        """Of one image as people made them, (aspects, height, width); nan for an aspect that was not asked for."""
        found = {
            aspect: decode_heatmap(self._judged.maps[one.image, aspect])
            for aspect in aspects
            if aspect in one.mapped
        }
        shape = next((each.shape for each in found.values()), (1, 1))
        maps = np.full((len(aspects), *shape), np.nan, np.float32)
        for place, aspect in enumerate(aspects):
            if aspect in found:
                maps[place] = found[aspect]
        return maps

    def _one(self, image: str, aspect: str) -> NDArray[np.float32]:
        if (image, aspect) in self._kept:
            return self._kept[image, aspect]
        made: NDArray[np.float32] = sized(
            decode_heatmap(self._judged.maps[image, aspect])[None].astype(np.float32), self._side
        )[0]
        if made.nbytes <= self._room:
            self._room -= made.nbytes
            self._kept[image, aspect] = made
        return made


def sized(maps: Maps, side: int) -> Maps:
    """Maps (n, height, width), ``side`` pixels square; nan where they were."""
    made = np.full((len(maps), side, side), np.nan, np.float32)
    for place, one in enumerate(maps):
        if one.shape == (side, side):
            made[place] = one
        elif not np.isnan(one).any():
            made[place] = np.clip(resize_floats(one[..., None], side, side, "bilinear")[..., 0], 0, 1)
    return made
