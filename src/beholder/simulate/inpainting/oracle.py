"""Inpainters that know the synthetic world: one that errs never, and one that errs at a known rate.

An image and the same image without implausible regions are equal outside these regions, so the picture without
them is what a perfect inpainter paints. What is left of a region outside the mask stays, with the area that is
left: the ground truth after any repair is exact. The erring inpainter adds a flaw of its own in the mask, with a
probability that is set.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beholder.errors import UserError
from beholder.simulate.flaws import FLAWS, Mask, Spot, spoil
from beholder.simulate.inpainting.origins import Origin, pixel_key
from beholder.simulate.painter import GroundTruth, Painting, Region, to_bytes

ERROR = 0.5
"""Probability that the erring inpainter adds a flaw."""

SMALLEST_SPOT = 0.05
"""Radius of the smallest flaw that it adds, as a proportion of the side."""


@dataclass(frozen=True, slots=True)
class _Known:
    """An image that was painted or repaired: where it comes from, and the regions that it has now."""

    origin: Origin
    regions: tuple[Region, ...]


class WorldInpainter:
    """Paints masked parts of synthetic images again, and knows the ground truth of what it painted."""

    def __init__(self, origins: Iterable[Origin] = (), *, error: float = 0.0) -> None:
        """``error`` is the probability that a flaw is added within the mask; 0: an exact oracle."""
        if not 0 <= error <= 1:
            raise UserError(f"the error of an inpainter is {error}, expected a probability from 0 to 1")
        self._error = error
        self._known: dict[str, _Known] = {}
        self._painted: tuple[Origin, Painting] | None = None
        for origin in origins:
            self.know(origin)

    @property
    def identity(self) -> str:
        """Its name and its rate of errors."""
        return f"world-erring@{self._error}" if self._error else "world-exact"

    def know(self, origin: Origin) -> NDArray[np.uint8]:
        """Note how an image was painted, and return it."""
        painting = self._paint(origin)
        pixels = to_bytes(painting.spoiled)
        self._known[pixel_key(pixels)] = _Known(origin, painting.regions)
        return pixels

    def truth(self, pixels: NDArray[np.uint8]) -> GroundTruth:
        """Return the ground truth of an image that it knows or has painted."""
        known_image = self._find(pixels)
        return self._paint(known_image.origin).truth(known_image.regions)

    def possible(self, pixels: NDArray[np.uint8]) -> GroundTruth:
        """Return the ground truth if nothing were implausible any more."""
        return self._paint(self._find(pixels).origin).truth(())

    def inpaint(
        self,
        images: Sequence[NDArray[np.uint8]],
        masks: Sequence[Mask],
        prompts: Sequence[str],  # noqa: ARG002 - it knows what the images show
        seeds: Sequence[int],
    ) -> list[NDArray[np.uint8]]:
        """Return the images without what was implausible within the masks."""
        return [self._inpaint(image, mask, seed) for image, mask, seed in zip(images, masks, seeds, strict=True)]

    def _inpaint(self, image: NDArray[np.uint8], mask: Mask, seed: int) -> NDArray[np.uint8]:
        known_image = self._find(image)
        painting = self._paint(known_image.origin)
        regions = [
            replace(region, mask=rest) for region in known_image.regions if (rest := region.mask & ~mask).any()
        ]
        patch = painting.plain
        rng = np.random.default_rng([seed, 17])
        if mask.any() and rng.random() < self._error:
            patch, flaw = _add_flaw(painting, mask, rng)
            regions.append(flaw)
        after = np.where(mask[..., None], to_bytes(patch), image)
        self._known[pixel_key(after)] = replace(known_image, regions=tuple(regions))
        return after

    def _find(self, pixels: NDArray[np.uint8]) -> _Known:
        known_image = self._known.get(pixel_key(pixels))
        if known_image is None:
            raise UserError(
                "an image that the synthetic world did not paint: its inpainters know only images of the demo, of "
                "generators of kind painter, and what they repaired themselves"
            )
        return known_image

    def _paint(self, origin: Origin) -> Painting:
        """Paint again; the last painting is reused, as several tries and the truth ask for the same."""
        if self._painted is None or self._painted[0] != origin:
            self._painted = (origin, origin.paint())
        return self._painted[1]


def _add_flaw(painting: Painting, mask: Mask, rng: np.random.Generator) -> tuple[NDArray[np.float32], Region]:
    """Return the plain picture with one new flaw about a pixel of the mask, and the flaw as far as it shows."""
    size = mask.shape[0]
    rows, columns = np.nonzero(mask)
    place = int(rng.integers(len(rows)))
    radius = max(SMALLEST_SPOT, float(np.sqrt(mask.mean() / np.pi) * rng.uniform(0.6, 1.2)))
    label = int(painting.labels[rows[place], columns[place]])
    spot = Spot((columns[place] + 0.5) / size, (rows[place] + 0.5) / size, radius, label)
    name = tuple(FLAWS)[int(rng.integers(len(FLAWS)))]
    severity = max(0.05, float(rng.beta(3.6, 2.4)))  # .6 on average
    pixels, region = spoil(name, painting.plain, painting.labels, spot, severity, rng)
    return pixels, Region(name, severity, region & mask)
