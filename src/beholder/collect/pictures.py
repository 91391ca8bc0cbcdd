"""Images as people get them: all re-encoded alike, stripped of everything but the pixels."""

import io
import tempfile
from pathlib import Path

CACHE = "cache"
CAP = 1024
"""Longest side where the study does not say."""

LARGEST_PIXELS = 100_000_000
SURROUND = (127, 127, 127)
MEDIA_TYPE = "image/webp"


def served_size(width: int, height: int, side: int) -> tuple[int, int]:
    """Size of an image as it is served: no side above ``side``, never enlarged."""
    scale = min(side / max(width, height), 1.0)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def common_side(sizes: list[tuple[int, int]], wanted: int) -> int:
    """The longest side for all images: as set, or that of the smallest one, so that size gives nothing away."""
    if wanted:
        return wanted
    return min([CAP, *(max(size) for size in sizes)])


def served_bytes(folder: Path, path: str, sha256: str, side: int, quality: int) -> bytes:
    """The image as WebP; made once, then kept in the study folder under the hash of its content."""
    kept = folder / CACHE / f"{sha256}-{side}-{quality}.webp"
    if kept.is_file():
        return kept.read_bytes()
    content = encode(folder / path, side, quality)
    kept.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=kept.parent, prefix=".", delete=False) as file:
        file.write(content)
    Path(file.name).replace(kept)  # several threads may have made the same
    return content


def encode(path: Path, side: int, quality: int) -> bytes:
    """Decode, turn upright, flatten on grey, shrink, and encode without any metadata."""
    from PIL import Image, ImageOps  # noqa: PLC0415 - after the server has started

    with Image.open(path) as raw:
        if raw.width * raw.height > LARGEST_PIXELS:
            raise OSError(f"{path} has {raw.width} × {raw.height} pixels; at most {LARGEST_PIXELS:,} are served")
        upright = ImageOps.exif_transpose(raw)
        if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
            layer = upright.convert("RGBA")
            flat = Image.new("RGB", layer.size, SURROUND)
            flat.paste(layer, mask=layer.getchannel("A"))
        else:
            flat = upright.convert("RGB")
        size = served_size(flat.width, flat.height, side)
        if size != flat.size:
            flat = flat.resize(size, Image.Resampling.LANCZOS)
        clean = Image.frombytes("RGB", flat.size, flat.tobytes())
    buffer = io.BytesIO()
    clean.save(buffer, "WEBP", quality=quality, method=4)
    return buffer.getvalue()
