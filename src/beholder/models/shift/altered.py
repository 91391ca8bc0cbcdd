"""Altered images: what a warning of unlike images is trained on, beside the images that it must not report.

Each kind takes an image and a random generator. Sizes are those of an image of 512 px, and smaller in proportion
for smaller ones; so are the strengths that are measured in pixels.
"""

import io
from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageFilter

Alteration = Callable[[Image.Image, np.random.Generator], Image.Image]

REFERENCE = 512
"""Pixels of the shortest side for which sizes and strengths are stated."""


def small(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """At 24 to 64 px."""
    return image.resize(square(image, int(rng.integers(24, 65))), Image.Resampling.BICUBIC)


def flat(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """In 3 to 11 colours, without small details."""
    smooth = image.resize(square(image, 256)).filter(ImageFilter.MedianFilter(5))
    return smooth.quantize(int(rng.integers(3, 12)), dither=Image.Dither.NONE).convert("RGB")


def noisy(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """With strong Gaussian noise."""
    pixels = np.asarray(image.resize(square(image, 256)), np.float64)
    strength = rng.uniform(30, 90)
    return as_image(pixels + rng.normal(0, strength, pixels.shape))


def enlarged(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """At 80 to 224 px, or enlarged again from that."""
    reduced = image.resize(square(image, int(rng.integers(80, 225))), Image.Resampling.BICUBIC)
    if rng.random() < 0.5:
        return reduced
    return reduced.resize(square(image, REFERENCE), Image.Resampling(int(rng.choice([0, 2, 3]))))


def in_lines(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Edges alone, in black on white or white on black."""
    edges = np.asarray(image.convert("L").filter(ImageFilter.FIND_EDGES)) > rng.integers(20, 70)
    ink = edges if rng.random() < 0.5 else ~edges
    return Image.fromarray((255 * ink).astype(np.uint8)).convert("RGB")


def compressed(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """As a JPEG of very low quality."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=int(rng.integers(2, 9)))
    return Image.open(file).convert("RGB")


def painted(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """In brush strokes: the most frequent colour around each pixel."""
    reduced = image.resize(square(image, int(rng.choice([192, 256, 384]))))
    return reduced.filter(ImageFilter.ModeFilter(int(rng.choice([7, 9, 11]))))


def in_palette(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """In 4 to 32 colours, with or without dithering."""
    dither = Image.Dither(int(rng.choice([0, 3])))
    reduced = image.resize(square(image, int(rng.choice([128, 256, 512]))))
    return reduced.quantize(int(rng.integers(4, 33)), dither=dither).convert("RGB")


def softened(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Blurred, by a pixel at least."""
    return image.filter(ImageFilter.GaussianBlur(max(float(rng.uniform(2, 6)) * scale_of(image), 1.0)))


ALTERATIONS: Mapping[str, Alteration] = {
    "small": small,
    "flat": flat,
    "noisy": noisy,
    "enlarged": enlarged,
    "lines": in_lines,
    "compressed": compressed,
    "painted": painted,
    "palette": in_palette,
    "softened": softened,
}
"""Kinds of altered images by name."""


def square(image: Image.Image, side: int) -> tuple[int, int]:
    """Return the size of a square of so many pixels, of an image whose shortest side has ``REFERENCE``."""
    scaled = max(round(side * scale_of(image)), 2)
    return scaled, scaled


def scale_of(image: Image.Image) -> float:
    """Return how large an image is, relative to the one that sizes are stated for; larger ones count as that."""
    return min(min(image.size) / REFERENCE, 1.0)


def as_image(pixels: np.ndarray) -> Image.Image:
    """Return levels as an image."""
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
