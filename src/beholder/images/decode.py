"""From an image file to the pixels that raters, scorers, encoders and the report all get: 8-bit RGB.

The rules, all of them pinned by tests:

- The rotation in the EXIF data is applied; a damaged EXIF block is ignored.
- What is transparent is flattened on the background that the study names; middle grey where it names none.
- 16 bits per channel are cut to the upper 8, in grey as in colour.
- Grey, palette and CMYK become RGB by Pillow's plain formulas; ICC profiles are not applied.
- JPEGs are decoded in full: the quicker decoding at a reduced size (*draft*) gives other pixels.
- Animations are refused: a still image is expected.
"""

import io
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.formats import DAMAGE, FORMATS, LARGEST_PIXELS, UndecodableError


def decode_file(path: Path, background: str = DEFAULT_BACKGROUND) -> Image.Image:
    """The image of a file, as :func:`decode` gives it."""
    return decode(read_file(path), background)


def read_file(path: Path) -> bytes:
    """The bytes of a file; UndecodableError where there is none, or where it cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UndecodableError("not a file")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UndecodableError("no such file") from error
    except OSError as error:
        raise UndecodableError(f"cannot be read ({error.strerror or error})") from error


def decode(content: bytes, background: str = DEFAULT_BACKGROUND) -> Image.Image:
    """The image in RGB, upright and flat; call it within :func:`quiet_pillow`."""
    with opened(content) as image:
        image.load()
        return flatten(_upright(image), background)


@contextmanager
def opened(content: bytes) -> Iterator[Image.Image]:
    """The image as Pillow opens it, if it is one that is allowed; damage that shows within is UndecodableError."""
    if not content:
        raise UndecodableError("the file is empty (0 bytes)")
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            frames = 1 if image.format == "MPO" else getattr(image, "n_frames", 1)
            if frames > 1:
                raise UndecodableError(f"holds {frames} frames; a still image is expected")
            if image.width * image.height > LARGEST_PIXELS:
                raise UndecodableError(_too_large())
            yield image
    except UnidentifiedImageError as error:
        raise UndecodableError(f"not an image that can be read; known: {', '.join(FORMATS)}") from error
    except Image.DecompressionBombError as error:
        raise UndecodableError(_too_large()) from error
    except DAMAGE as error:
        raise UndecodableError(f"damaged or cut short ({error})") from error


def flatten(image: Image.Image, background: str = DEFAULT_BACKGROUND) -> Image.Image:
    """The image in RGB, on the background where it is transparent."""
    if image.mode in ("I;16", "I;16L", "I;16B", "I;16N", "I"):
        return _upper_bits(image).convert("RGB")
    if image.mode == "F":
        raise UndecodableError("holds floating-point pixels of unknown range; save it with 8 or 16 bits")
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        layer = image.convert("RGBA")
        flat = Image.new("RGB", layer.size, background)
        flat.paste(layer, mask=layer.getchannel("A"))
        return flat
    return image if image.mode == "RGB" else image.convert("RGB")


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Pillow's warnings silenced; set once around all threads, as the filters are those of the whole process."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\b")
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        yield


def _upright(image: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(image)
    except DAMAGE:
        return image


def _upper_bits(image: Image.Image) -> Image.Image:
    values = np.asarray(image)
    if values.min() < 0 or values.max() > 0xFFFF:
        raise UndecodableError("holds 32-bit pixels of unknown range; save it with 8 or 16 bits")
    return Image.fromarray((values.astype(np.uint16) >> 8).astype(np.uint8))


def _too_large() -> str:
    return f"larger than {LARGEST_PIXELS // 1_000_000} megapixels"
