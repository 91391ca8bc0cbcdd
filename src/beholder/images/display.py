"""Images as raters see them: all encoded alike, stripped of everything but the pixels."""

import io
from pathlib import Path

from beholder.images.formats import DAMAGE, FORMATS, LARGEST_PIXELS

CAP = 1024
"""Longest side where the study does not say."""

SURROUND = (127, 127, 127)
MEDIA_TYPE = "image/webp"
SUFFIX = ".webp"


class UndisplayableError(Exception):
    """An image file that cannot be shown; the message is the reason."""


def display_size(width: int, height: int, side: int) -> tuple[int, int]:
    """Size of an image as it is shown: no side above ``side``, never enlarged."""
    scale = min(side / max(width, height), 1.0)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def common_side(sizes: list[tuple[int, int]], setting: int) -> int:
    """The longest side for all images: as set, or that of the smallest one, so that size gives nothing away."""
    if setting:
        return setting
    return min([CAP, *(max(size) for size in sizes)])


def encode(path: Path, side: int, quality: int) -> bytes:
    """Decode, turn upright, flatten on grey, shrink, and encode without any metadata; see UndisplayableError."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - after the server has started

    try:
        return _encoded(path, side, quality)
    except FileNotFoundError as error:
        raise UndisplayableError("no such file") from error
    except UnidentifiedImageError as error:
        raise UndisplayableError(f"not an image that can be read; known: {', '.join(FORMATS)}") from error
    except Image.DecompressionBombError as error:
        raise UndisplayableError(_too_large()) from error
    except DAMAGE as error:
        raise UndisplayableError(f"damaged or cut short ({error})") from error


def is_whole(content: bytes) -> bool:
    """Whether an encoded image is as long as its header says: a crash of the machine may leave a part of it."""
    return content[:4] == b"RIFF" and int.from_bytes(content[4:8], "little") + 8 == len(content)


def _encoded(path: Path, side: int, quality: int) -> bytes:
    from PIL import Image, ImageOps  # noqa: PLC0415

    with Image.open(path, formats=FORMATS) as raw:
        if raw.width * raw.height > LARGEST_PIXELS:
            raise UndisplayableError(_too_large())
        upright = ImageOps.exif_transpose(raw)
        if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
            layer = upright.convert("RGBA")
            flat = Image.new("RGB", layer.size, SURROUND)
            flat.paste(layer, mask=layer.getchannel("A"))
        else:
            flat = upright.convert("RGB")
        size = display_size(flat.width, flat.height, side)
        if size != flat.size:
            flat = flat.resize(size, Image.Resampling.LANCZOS)
        clean = Image.frombytes("RGB", flat.size, flat.tobytes())
    buffer = io.BytesIO()
    clean.save(buffer, "WEBP", quality=quality, method=4)
    return buffer.getvalue()


def _too_large() -> str:
    return f"larger than {LARGEST_PIXELS // 1_000_000} megapixels"
