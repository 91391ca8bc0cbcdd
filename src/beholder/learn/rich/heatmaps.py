"""The raters' heatmaps at the size of a network's output, cached in memory."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beholder.feedback.heatmap import decode_heatmap
from beholder.images.resize import resize_floats
from beholder.learn.rich.examples import RichExample, RichLabels
from beholder.models.rich_feedback.augment import Maps

CACHE_BYTES = 1_000_000_000
"""Size limit of the decoded and resized heatmaps that are cached in memory."""


class HeatmapCache:
    """The heatmaps of images, ``side`` pixels square."""

    def __init__(self, rich_labels: RichLabels, side: int, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._rich_labels = rich_labels
        self._side = side
        self._bytes_left = cache_bytes
        self._resized: dict[tuple[str, str], NDArray[np.float16]] = {}

    def resized(self, example: RichExample, aspects: Sequence[str]) -> Maps:
        """Return the heatmaps of one image, (aspects, side, side); nan for an aspect that was not asked for."""
        maps = np.full((len(aspects), self._side, self._side), np.nan, np.float32)
        for index, aspect in enumerate(aspects):
            if aspect in example.mapped:
                maps[index] = self._heatmap(example.image, aspect)
        return maps

    def original(self, example: RichExample, aspects: Sequence[str]) -> Maps:
        """Return the heatmaps of one image at their own size, (aspects, height, width); nan as above."""
        heatmaps = {
            aspect: decode_heatmap(self._rich_labels.maps[example.image, aspect])
            for aspect in aspects
            if aspect in example.mapped
        }
        shape = next((heatmap.shape for heatmap in heatmaps.values()), (1, 1))
        maps = np.full((len(aspects), *shape), np.nan, np.float32)
        for index, aspect in enumerate(aspects):
            if aspect in heatmaps:
                maps[index] = heatmaps[aspect]
        return maps

    def _heatmap(self, image: str, aspect: str) -> NDArray[np.float16]:
        """Return the heatmap at half precision, which holds four times as many levels as its file."""
        if (image, aspect) in self._resized:
            return self._resized[image, aspect]
        original = decode_heatmap(self._rich_labels.maps[image, aspect])[None].astype(np.float32)
        heatmap: NDArray[np.float16] = resize_maps(original, self._side)[0].astype(np.float16)
        if heatmap.nbytes <= self._bytes_left:
            self._bytes_left -= heatmap.nbytes
            self._resized[image, aspect] = heatmap
        return heatmap


def resize_maps(maps: Maps, side: int) -> Maps:
    """Return maps (n, height, width) resized to ``side`` pixels square; nan where they were nan."""
    resized = np.full((len(maps), side, side), np.nan, np.float32)
    for index, heatmap in enumerate(maps):
        if heatmap.shape == (side, side):
            resized[index] = heatmap
        elif not np.isnan(heatmap).any():
            resized[index] = np.clip(resize_floats(heatmap[..., None], side, side, "bilinear")[..., 0], 0, 1)
    return resized
