"""Drawn images: shapes, running colours, shaded and textured shapes, which a warning is trained on, too.

Each kind draws a square of so many pixels, or of a side that is drawn as well.
"""

from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageDraw

from beholder.models.shift.altered import as_image
from beholder.models.shift.textures import textured

Drawing = Callable[[np.random.Generator, int | None], Image.Image]

SIDES = (96, 128, 192, 256, 384, 512)
"""Pixels of images whose side is drawn."""
OVERSAMPLED = 3
"""Times the side at which rendered images are drawn, before they are reduced: their edges are antialiased."""


def shapes(rng: np.random.Generator, side: int | None = None) -> Image.Image:
    """Disks, rectangles and polygons of one colour each on one background."""
    side = side or int(rng.choice([128, 192, 256, 512]))
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


def smooth(rng: np.random.Generator, side: int | None = None) -> Image.Image:
    """A few random colours that run into each other, with a little noise."""
    side, knots = side or int(rng.choice([128, 256, 512])), int(rng.integers(2, 9))
    field = Image.fromarray(rng.integers(0, 256, (knots, knots, 3), np.uint8))
    pixels = np.asarray(field.resize((side, side), Image.Resampling.BICUBIC), np.float64)
    return as_image(pixels + rng.normal(0, rng.uniform(0, 6), pixels.shape))


def rendered(rng: np.random.Generator, side: int | None = None) -> Image.Image:
    """Shapes with shading and smooth edges on a background of running colours, with or without grain."""
    side = side or int(rng.choice(SIDES))
    large = OVERSAMPLED * side
    image = running_colours(rng, large)
    for _ in range(int(rng.integers(1, 10))):
        mask = Image.new("L", (large, large), 0)
        draw_shape(ImageDraw.Draw(mask), rng, large)
        filling = running_colours(rng, large) if rng.random() < 0.6 else Image.new("RGB", image.size, colour(rng))
        image.paste(filling, (0, 0), mask)
    pixels = np.asarray(image.resize((side, side), Image.Resampling.BOX), np.float64)
    return as_image(pixels + rng.normal(0, rng.choice([0.0, 1.0, 3.0]), pixels.shape))


def patterned(rng: np.random.Generator, side: int | None = None) -> Image.Image:
    """Shapes with textures and smooth edges on a background with one; some of them are shaded."""
    side = side or int(rng.choice(SIDES))
    image = textured(rng, side, *contrasting(rng))
    for _ in range(int(rng.integers(1, 10))):
        mask = Image.new("L", (OVERSAMPLED * side, OVERSAMPLED * side), 0)
        draw_shape(ImageDraw.Draw(mask), rng, OVERSAMPLED * side)
        filling = textured(rng, side, *contrasting(rng))
        if rng.random() < 0.5:
            filling = Image.blend(filling, running_colours(rng, side), float(rng.uniform(0.2, 0.6)))
        image.paste(filling, (0, 0), mask.resize(image.size, Image.Resampling.BOX))
    return image


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


def colour(rng: np.random.Generator) -> tuple[int, int, int]:
    """Return a random colour."""
    red, green, blue = rng.integers(0, 256, 3).tolist()
    return red, green, blue


def contrasting(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a random colour, and one that differs from it a little or much."""
    first = np.array(colour(rng), np.float64)
    return first, first + rng.uniform(0.1, 1) * (np.array(colour(rng)) - first)


DRAWINGS: Mapping[str, Drawing] = {
    "shapes": shapes,
    "smooth": smooth,
    "rendered": rendered,
    "patterned": patterned,
}
"""Kinds of drawn images by name."""
