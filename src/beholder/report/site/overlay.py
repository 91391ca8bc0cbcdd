"""A heatmap in colours over its image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.images.thumbnail import SIDE, data_uri, shrunk

RAMPS: Mapping[str, tuple[str, ...]] = {
    "implausibility": ("#ffe08a", "#f4801f", "#c1121f", "#6a040f"),
    "misalignment": ("#b9f2ff", "#3ea6e0", "#1d4ed8", "#1e1b6b"),
}
"""Colours from a few raters to all of them, by aspect."""

OTHER = RAMPS["implausibility"]
"""For an aspect of another name."""

GROUND = 0.55
"""Proportion of the image's contrast that stays under a heatmap, so that colours and shapes both show."""

FAINT = 0.1
"""Below this proportion of raters a heatmap fades into the image: a model's is nowhere quite empty."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A heatmap over its image."""

    aspect: str
    source: str
    alt: str
    peak: float
    """Proportion of raters at the most marked place."""
    marked: float
    """Proportion of the image that anyone marked."""


def ramp_of(aspect: str) -> tuple[str, ...]:
    """The colours of an aspect."""
    return RAMPS.get(aspect, OTHER)


def draw_heatmap(
    heatmap: NDArray[np.floating], picture: Image.Image | None, aspect: str, *, side: int = SIDE
) -> Image.Image:
    """The heatmap (height, width) over a picture, which gives it its proportions; the longest side is ``side``."""
    small = Image.fromarray(np.rint(255 * np.asarray(heatmap, np.float64)).astype(np.uint8))
    grey = None
    if picture is not None:
        under = shrunk(picture, side)
        small = small.resize(under.size, Image.Resampling.BILINEAR)
        grey = np.asarray(under.convert("L"), dtype=np.float64) / 255
    else:
        small.thumbnail((side, side), Image.Resampling.BILINEAR)
    return blend(np.asarray(small, dtype=np.float64) / 255, grey, ramp_of(aspect))


def build_layer(
    heatmap: NDArray[np.floating], picture: Image.Image | None, aspect: str, alt: str, side: int = SIDE
) -> Layer:
    """The heatmap as it is embedded in the page."""
    return Layer(
        aspect,
        data_uri(draw_heatmap(heatmap, picture, aspect, side=side)),
        alt,
        float(heatmap.max()),
        float((heatmap > 0).mean()),
    )


def blend(heatmap: NDArray[np.float64], image: NDArray[np.float64] | None, ramp: Sequence[str]) -> Image.Image:
    """The heatmap in colours over the image in grey, or over even grey: both (height, width), from 0 to 1."""
    under = np.full(heatmap.shape, 0.8) if image is None else image
    grey = 255 * (1 - GROUND + GROUND * under)[..., None]  # (height, width, 1), paler than the image
    stops = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in ramp], dtype=np.float64)
    places = np.linspace(0, 1, len(stops))
    colours = np.stack([np.interp(heatmap, places, stops[:, channel]) for channel in range(3)], axis=-1)
    cover = ((0.55 + 0.3 * heatmap) * np.minimum(heatmap / FAINT, 1))[..., None]
    return Image.fromarray(np.rint(cover * colours + (1 - cover) * grey).astype(np.uint8))
