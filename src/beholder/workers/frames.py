"""Frames on the wire: one line of JSON, then the bytes that it announces.

::

    {"id": 7, "task": "score", "prompts": ["a cat"], "blobs": [51023]}\\n
    <51023 bytes>

``blobs`` lists the lengths of the byte strings that follow the line, one after the other; a frame without them may
leave it out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

LONGEST_LINE = 16_000_000
"""Bytes of the line of a frame, at most."""
LARGEST_FRAME = 1_000_000_000
"""Bytes of all blobs of a frame, at most."""

Header = Mapping[str, Any]
"""What the line of JSON holds."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A message: the content of its line, and its byte strings."""

    header: Header
    blobs: tuple[bytes, ...] = field(default=(), repr=False)


class FrameError(Exception):
    """Bytes that are not a frame; the message says why."""


def pack_frame(frame: Frame) -> bytes:
    """Return the bytes of a frame.

    >>> pack_frame(Frame({"id": 1}, (b"ab", b"c")))
    b'{"id":1,"blobs":[2,1]}\\nabc'
    """
    lengths = {"blobs": [len(blob) for blob in frame.blobs]} if frame.blobs else {}
    line = json.dumps({**frame.header, **lengths}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return b"".join([line.encode(), b"\n", *frame.blobs])


def read_frame(stream: IO[bytes], *, largest: int = LARGEST_FRAME) -> Frame | None:
    """Return the next frame of a stream, or ``None`` at its end; anything else is a :class:`FrameError`.

    >>> import io
    >>> read_frame(io.BytesIO(b'{"id":1,"blobs":[2,1]}\\nabc'))
    Frame(header={'id': 1})
    """
    line = stream.readline(LONGEST_LINE + 1)
    if not line:
        return None
    header = _header(line)
    lengths = header.pop("blobs", [])
    if not _are_lengths(lengths):
        raise FrameError(f"'blobs' is {_shortened(str(lengths))}; a list of lengths in bytes is expected")
    if sum(lengths) > largest:
        raise FrameError(f"announces {sum(lengths):,} bytes; at most {largest:,} are accepted")
    return Frame(header, tuple(_read_exactly(stream, length) for length in lengths))


def _header(line: bytes) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise FrameError(f"a line of more than {LONGEST_LINE:,} bytes")
    if not line.endswith(b"\n"):
        raise FrameError(f"the stream ended within a line ({_shortened(line.decode(errors='replace'))})")
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict):
        text = _shortened(line.decode(errors="replace").rstrip())
        raise FrameError(f"a line of JSON with an object is expected, found: {text}")
    return header


def _are_lengths(lengths: object) -> bool:
    return isinstance(lengths, Sequence) and all(type(length) is int and length >= 0 for length in lengths)


def _read_exactly(stream: IO[bytes], length: int) -> bytes:
    """Read so many bytes; raw streams may return fewer at a time."""
    parts: list[bytes] = []
    missing = length
    while missing:
        part = stream.read(missing)
        if not part:
            raise FrameError(f"the stream ended within a frame: {missing:,} of {length:,} bytes are missing")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _shortened(text: str, longest: int = 200) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
