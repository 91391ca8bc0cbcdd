"""Small copies of images, to be carried inside a page."""

import base64
import io
from pathlib import Path

from PIL import Image, WebPImagePlugin  # noqa: F401 - else Pillow imports forty formats to find this one

from beholder.images.decode import decode_file
from beholder.images.formats import UndecodableError

SIDE = 224
"""Longest side in pixels: shown at about 150, sharp on fine screens."""

QUALITY = 72


def thumbnail(path: Path, background: str, *, side: int = SIDE) -> str | None:
    """The image as a WebP data URI, at most ``side`` long; nothing where it cannot be decoded."""
    image = open_or_none(path, background)
    return None if image is None else data_uri(shrunk(image, side))


def open_or_none(path: Path, background: str) -> Image.Image | None:
    """The image, decoded; nothing where it cannot be."""
    try:
        return decode_file(path, background)
    except UndecodableError:
        return None


def shrunk(image: Image.Image, side: int) -> Image.Image:
    """A copy of the image, at most ``side`` long."""
    small = image.copy()
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    return small


def data_uri(image: Image.Image) -> str:
    """The image as WebP, in the form of an address."""
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=QUALITY, method=4)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
