"""Small copies of images, to be carried inside the page."""

import base64
import io
from pathlib import Path

from PIL import Image, ImageOps, UnidentifiedImageError

SIDE = 224
"""Longest side in pixels: shown at about 150, sharp on fine screens."""

QUALITY = 72


def thumbnail(path: Path, *, side: int = SIDE) -> str | None:
    """The image as a WebP data URI, upright and at most ``side`` long; nothing where it cannot be read."""
    small = opened(path)
    if small is None:
        return None
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    return data_uri(small)


def opened(path: Path) -> Image.Image | None:
    """The image upright, in colour; nothing where it cannot be read."""
    try:
        with Image.open(path) as image:
            return ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError):
        return None


def data_uri(image: Image.Image) -> str:
    """The image as WebP, in the form of an address."""
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=QUALITY, method=4)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
