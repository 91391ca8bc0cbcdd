"""Images as raters see them: all encoded alike, stripped of everything but the pixels."""

import io
from pathlib import Path

CAP = 1024
"""Longest side where the study does not say."""

MEDIA_TYPE = "image/webp"
SUFFIX = ".webp"


def display_size(width: int, height: int, side: int) -> tuple[int, int]:
    """Size of an image as it is shown: no side above ``side``, never enlarged."""
    scale = min(side / max(width, height), 1.0)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def common_side(sizes: list[tuple[int, int]], setting: int) -> int:
    """The longest side for all images: as set, or that of the smallest one, so that size reveals nothing."""
    if setting:
        return setting
    return min([CAP, *(max(size) for size in sizes)])


def encode(path: Path, side: int, quality: int, background: str) -> bytes:
    """Decode, shrink, and encode without any metadata; UndecodableError where the file cannot be shown."""
    from PIL import Image  # noqa: PLC0415 - after the server has started

    from beholder.images.decode import decode_file  # noqa: PLC0415

    image = decode_file(path, background)
    size = display_size(image.width, image.height, side)
    if size != image.size:
        image = image.resize(size, Image.Resampling.LANCZOS)
    clean = Image.frombytes("RGB", image.size, image.tobytes())
    buffer = io.BytesIO()
    clean.save(buffer, "WEBP", quality=quality, method=4)
    return buffer.getvalue()


def is_whole(content: bytes) -> bool:
    """Whether an encoded image is as long as its header says: a crash of the machine may leave a part of it."""
    return content[:4] == b"RIFF" and int.from_bytes(content[4:8], "little") + 8 == len(content)
