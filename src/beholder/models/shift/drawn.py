"""Drawn images: shapes, running colours, and shaded shapes; a warning is trained on them as on altered ones."""

from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageDraw

from beholder.models.shift.altered import as_image

Drawing = Callable[[np.random.Generator], Image.Image]

OVERSAMPLED = 3
"""Times the side at which rendered images are drawn, before they are reduced: their edges are antialiased."""


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


def smooth(rng: np.random.Generator) -> Image.Image:
    """A few random colours that run into each other, with a little noise."""
    side, knots = int(rng.choice([128, 256, 512])), int(rng.integers(2, 9))
    field = Image.fromarray(rng.integers(0, 256, (knots, knots, 3), np.uint8))
    pixels = np.asarray(field.resize((side, side), Image.Resampling.BICUBIC), np.float64)
    return as_image(pixels + rng.normal(0, rng.uniform(0, 6), pixels.shape))


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
    return as_image(pixels + rng.normal(0, rng.choice([0.0, 1.0, 3.0]), pixels.shape))


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


DRAWINGS: Mapping[str, Drawing] = {"shapes": shapes, "smooth": smooth, "rendered": rendered}
"""Kinds of drawn images by name."""
