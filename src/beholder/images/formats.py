"""Which files are opened as images, wherever beholder opens one, and what a damaged file raises."""

import struct
import zlib

FORMATS = ("PNG", "JPEG", "WEBP", "AVIF", "BMP", "TIFF", "GIF")
"""What Pillow may take a file for, whatever its name: nothing that runs another program."""

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".bmp", ".tif", ".tiff", ".gif")
"""How the names of such files end."""

LARGEST_PIXELS = 100_000_000

DAMAGE = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    RuntimeError,
    LookupError,
    EOFError,
    OverflowError,
    MemoryError,
    struct.error,
    zlib.error,
)
"""What Pillow raises on damaged files."""


class UndecodableError(Exception):
    """An image that cannot be decoded; the message is the reason."""
