"""Random crops for training: a part with 90 to 100 % of the image's area."""

import math

import numpy as np
from PIL import Image

SCALE = (0.9, 1.0)
RATIO = (3 / 4, 4 / 3)
"""Width to height of the part that is cut out."""
ATTEMPTS = 10


def random_crop(image: Image.Image, rng: np.random.Generator, scale: tuple[float, float] = SCALE) -> Image.Image:
    """A part of the image at a random position, with a proportion of its area drawn uniformly from ``scale``.

    Its aspect ratio is log-uniform, as in *random resized crop*; where ten drawn parts do not fit into the image,
    the largest centred one with an allowed ratio is taken. The part is not resized here.
    """
    area = image.width * image.height
    for _ in range(ATTEMPTS):
        proportion = rng.uniform(*scale)
        ratio = math.exp(rng.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        width, height = round(math.sqrt(area * proportion * ratio)), round(math.sqrt(area * proportion / ratio))
        if 0 < width <= image.width and 0 < height <= image.height:
            left = int(rng.integers(0, image.width - width + 1))
            top = int(rng.integers(0, image.height - height + 1))
            return image.crop((left, top, left + width, top + height))
    return _centre_crop(image)


def _centre_crop(image: Image.Image) -> Image.Image:
    ratio = min(max(image.width / image.height, RATIO[0]), RATIO[1])
    width, height = min(image.width, round(image.height * ratio)), min(image.height, round(image.width / ratio))
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))
