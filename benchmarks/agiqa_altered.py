"""Altered and drawn images: what the warning of unlike images is trained on, beside images of AGIQA-3K.

Each group of kinds (:mod:`beholder.models.shift`) is drawn by a seed of its own, so that adding a group changes no
other. None of them is made by the renderer of the synthetic world.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from beholder.images.in_order import batches
from beholder.models.shift.altered import (
    REFERENCE,
    compressed,
    enlarged,
    flat,
    in_lines,
    in_palette,
    noisy,
    painted,
    small,
    softened,
)
from beholder.models.shift.drawn import DRAWINGS, patterned, rendered, shapes, smooth

SEED, ALTERED, SHAPES, NOISY, MORE = 53, 150, 120, 60, 100
NAMES = ("small", "flat", "noisy", "shapes")
MORE_NAMES = ("smooth", "enlarged", "lines", "compressed", "painted")
RENDERED_NAMES = ("rendered", "palette", "softened")
DRAWN_NAMES = ("patterned", "large")
COUNTS = (ALTERED, ALTERED, NOISY, SHAPES)


def altered_images(originals: Sequence[Path]) -> Iterator[Image.Image]:
    """Small, flat, noisy, and drawn images."""
    rng = np.random.default_rng(SEED)
    for change, count in ((small, ALTERED), (flat, ALTERED), (noisy, NOISY)):
        for index in rng.choice(len(originals), count, replace=False):
            yield change(Image.open(originals[index]).convert("RGB"), rng)
    yield from (shapes(rng) for _ in range(SHAPES))


def more_altered_images(originals: Sequence[Path]) -> Iterator[Image.Image]:
    """Smooth, enlarged, drawn in lines, compressed and painted images, ``MORE`` of each."""
    rng = np.random.default_rng(SEED + 1)
    chosen = [originals[index] for index in rng.choice(len(originals), 4 * MORE, replace=False)]
    yield from (smooth(rng) for _ in range(MORE))
    for change, files in zip((enlarged, in_lines, compressed, painted), batches(chosen, MORE), strict=True):
        for file in files:
            yield change(Image.open(file).convert("RGB"), rng)


def rendered_images(originals: Sequence[Path]) -> Iterator[Image.Image]:
    """Rendered, reduced to a palette, and softened images, ``MORE`` of each."""
    rng = np.random.default_rng(SEED + 2)
    chosen = [originals[index] for index in rng.choice(len(originals), 2 * MORE, replace=False)]
    yield from (rendered(rng) for _ in range(MORE))
    for change, files in zip((in_palette, softened), batches(chosen, MORE), strict=True):
        for file in files:
            yield change(Image.open(file).convert("RGB"), rng)


def drawn_images(_: Sequence[Path]) -> Iterator[Image.Image]:
    """Textured drawings, and drawings of every kind that are as large as the originals; ``MORE`` of either."""
    rng = np.random.default_rng(SEED + 3)
    yield from (patterned(rng) for _ in range(MORE))
    for draw in DRAWINGS.values():
        yield from (draw(rng, REFERENCE) for _ in range(MORE // len(DRAWINGS)))
