"""Altered and drawn images: what the warning of unlike images is trained on, beside images of AGIQA-3K.

Each group of kinds is drawn by a seed of its own, so that adding a group changes no other. None of them is made by
the renderer of the synthetic world.
"""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from beholder.images.in_order import batches

SEED, ALTERED, SHAPES, NOISY, MORE = 53, 150, 120, 60, 100
NAMES = ("small", "flat", "noisy", "shapes")
MORE_NAMES = ("smooth", "enlarged", "lines", "compressed", "painted")
RENDERED_NAMES = ("rendered", "palette", "softened")
COUNTS = (ALTERED, ALTERED, NOISY, SHAPES)
OVERSAMPLED = 3
"""Times the side at which rendered images are drawn, before they are reduced: their edges are antialiased."""


def altered_images(originals: Sequence[Path]) -> Iterator[Image.Image]:
    """Small, flat, noisy, and drawn images."""
    rng = np.random.default_rng(SEED)

    def some(count: int) -> Iterator[Image.Image]:
        for index in rng.choice(len(originals), count, replace=False):
            yield Image.open(originals[index]).convert("RGB")

    for image in some(ALTERED):
        side = int(rng.integers(24, 65))
        yield image.resize((side, side), Image.Resampling.BICUBIC)
    for image in some(ALTERED):
        smooth = image.resize((256, 256)).filter(ImageFilter.MedianFilter(5))
        yield smooth.quantize(int(rng.integers(3, 12)), dither=Image.Dither.NONE).convert("RGB")
    for image in some(NOISY):
        pixels = np.asarray(image.resize((256, 256)), np.float64)
        yield Image.fromarray(
            np.clip(pixels + rng.normal(0, rng.uniform(30, 90), pixels.shape), 0, 255).astype(np.uint8)
        )
    for _ in range(SHAPES):
        yield shapes(rng)


def more_altered_images(originals: Sequence[Path]) -> Iterator[Image.Image]:
    """Smooth, enlarged, drawn in lines, compressed and painted images, ``MORE`` of each."""
    rng = np.random.default_rng(SEED + 1)
    chosen = [originals[index] for index in rng.choice(len(originals), 4 * MORE, replace=False)]
    yield from (smooth(rng) for _ in range(MORE))
    for change, files in zip((enlarged, in_lines, compressed, painted), batches(chosen, MORE), strict=True):
        for file in files:
            yield change(Image.open(file).convert("RGB"), rng)


def smooth(rng: np.random.Generator) -> Image.Image:
    """A few random colours that run into each other, with a little noise."""
    side, knots = int(rng.choice([128, 256, 512])), int(rng.integers(2, 9))
    field = Image.fromarray(rng.integers(0, 256, (knots, knots, 3), np.uint8))
    pixels = np.asarray(field.resize((side, side), Image.Resampling.BICUBIC), np.float64)
    noise = rng.normal(0, rng.uniform(0, 6), pixels.shape)
    return Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8))


def enlarged(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """At 80 to 224 px, as such or enlarged again."""
    side = int(rng.integers(80, 225))
    small = image.resize((side, side), Image.Resampling.BICUBIC)
    return small if rng.random() < 0.5 else small.resize((512, 512), Image.Resampling(int(rng.choice([0, 2, 3]))))


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
    side = int(rng.choice([192, 256, 384]))
    return image.resize((side, side)).filter(ImageFilter.ModeFilter(int(rng.choice([7, 9, 11]))))


def shapes(rng: np.random.Generator) -> Image.Image:
    """Disks, rectangles and polygons of one colour each on one background."""
    side = int(rng.choice([128, 192, 256, 512]))
    image = Image.new("RGB", (side, side), colour(rng))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(1, 9))):
        (x, y), radius = rng.integers(0, side, 2).tolist(), int(rng.integers(side // 16, side // 2))
        box = (x - radius, y - radius, x + radius, y + radius)
        kind = rng.integers(0, 3)
        if kind == 0:
            draw.ellipse(box, fill=colour(rng))
        elif kind == 1:
            draw.rectangle(box, fill=colour(rng))
        else:
            corners = rng.integers(0, side, (int(rng.integers(3, 7)), 2)).tolist()
            draw.polygon([(across, down) for across, down in corners], fill=colour(rng))
    return image


def colour(rng: np.random.Generator) -> tuple[int, int, int]:
    red, green, blue = rng.integers(0, 256, 3).tolist()
    return red, green, blue


def rendered_images(originals: Sequence[Path]) -> Iterator[Image.Image]:
    """Rendered, reduced to a palette, and softened images, ``MORE`` of each."""
    rng = np.random.default_rng(SEED + 2)
    chosen = [originals[index] for index in rng.choice(len(originals), 2 * MORE, replace=False)]
    yield from (rendered(rng) for _ in range(MORE))
    for change, files in zip((in_palette, softened), batches(chosen, MORE), strict=True):
        for file in files:
            yield change(Image.open(file).convert("RGB"), rng)


def rendered(rng: np.random.Generator) -> Image.Image:
    """Shapes with shading and smooth edges on a background of running colours, with or without grain."""
    side = int(rng.choice([96, 128, 192, 256, 384, 512]))
    large = OVERSAMPLED * side
    image = running_colours(rng, large)
    for _ in range(int(rng.integers(1, 10))):
        mask = Image.new("L", (large, large), 0)
        draw_shape(ImageDraw.Draw(mask), rng, large)
        filling = running_colours(rng, large) if rng.random() < 0.6 else Image.new("RGB", image.size, colour(rng))
        image.paste(filling, (0, 0), mask)
    pixels = np.asarray(image.resize((side, side), Image.Resampling.BOX), np.float64)
    grain = rng.normal(0, rng.choice([0.0, 1.0, 3.0]), pixels.shape)
    return Image.fromarray(np.clip(pixels + grain, 0, 255).astype(np.uint8))


def running_colours(rng: np.random.Generator, side: int) -> Image.Image:
    """A gradient between the colours of two, three or four corners and edges."""
    knots = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    field = Image.fromarray(rng.integers(0, 256, (*knots, 3), np.uint8))
    return field.resize((side, side), Image.Resampling.BILINEAR)


def draw_shape(draw: ImageDraw.ImageDraw, rng: np.random.Generator, side: int) -> None:
    """An ellipse, a rectangle, a polygon or a line."""
    (x, y), (across, down) = rng.integers(0, side, 2).tolist(), rng.integers(side // 16, side // 2, 2).tolist()
    box, kind = (x - across, y - down, x + across, y + down), rng.integers(0, 4)
    if kind == 0:
        draw.ellipse(box, fill=255)
    elif kind == 1:
        draw.rounded_rectangle(box, int(rng.integers(0, min(across, down))), fill=255)
    elif kind == 2:
        angles = np.sort(rng.uniform(0, 2 * np.pi, int(rng.integers(3, 7))))
        draw.polygon([(x + across * np.cos(angle), y + down * np.sin(angle)) for angle in angles], fill=255)
    else:
        draw.line((x, y, x + across, y + down), fill=255, width=int(rng.integers(side // 64, side // 12)))


def in_palette(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """In 4 to 32 colours, with or without dithering."""
    dither = Image.Dither(int(rng.choice([0, 3])))
    side = int(rng.choice([128, 256, 512]))
    return image.resize((side, side)).quantize(int(rng.integers(4, 33)), dither=dither).convert("RGB")


def softened(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Blurred."""
    return image.filter(ImageFilter.GaussianBlur(float(rng.uniform(2, 6))))
