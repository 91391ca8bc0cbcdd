"""Whether what a generator returned is an image of the requested size."""

import hashlib
import io
from dataclasses import dataclass, field

from PIL import Image

from beholder.errors import WorkerError
from beholder.images.decode import decode
from beholder.images.formats import UndecodableError
from beholder.workers.messages import ImageRequest

SUFFIXES = {
    "PNG": ".png",
    "JPEG": ".jpg",
    "MPO": ".jpg",
    "WEBP": ".webp",
    "AVIF": ".avif",
    "BMP": ".bmp",
    "TIFF": ".tif",
    "GIF": ".gif",
}
"""Format of a file, as Pillow calls it -> how its name ends."""
QUOTED = 80


@dataclass(frozen=True, slots=True)
class CheckedImage:
    """An image that can be shown, as the bytes of its file."""

    content: bytes = field(repr=False)
    width: int
    height: int
    suffix: str
    sha256: str


def check_image(content: bytes, request: ImageRequest) -> CheckedImage:
    """Decode an image in full and compare its size with the requested one; a ``WorkerError`` says what is wrong.

    Call it within :func:`beholder.images.decode.quiet_pillow`.
    """
    try:
        width, height = decode(content).size
        with Image.open(io.BytesIO(content)) as image:
            suffix = SUFFIXES.get(image.format or "", ".png")
    except UndecodableError as error:
        raise WorkerError(f"not an image: {error}{_quoted(content)}", fault="not-an-image") from error
    wanted_size = (request.width or width, request.height or height)
    if wanted_size != (width, height):
        expected = f"{wanted_size[0]} × {wanted_size[1]}"
        raise WorkerError(f"wrong size: {width} × {height} pixels, expected {expected}", fault="wrong-size")
    return CheckedImage(content, width, height, suffix, hashlib.sha256(content).hexdigest())


def _quoted(content: bytes) -> str:
    """Quote the beginning where it is text: the message of a service, or a page."""
    try:
        text = content[: 4 * QUOTED].decode().strip()
    except UnicodeDecodeError:
        return ""
    if not text or (not text.isprintable() and not text.replace("\n", " ").isprintable()):
        return ""
    return f"; it begins: {text[:QUOTED]!r}"
