"""TFRecord files without TensorFlow: records in frames that guard their length and content.

A frame is ``u64le length · u32le masked CRC32C(length) · payload · u32le masked CRC32C(payload)``, with
masked(c) = rotate right 15 (c) + 0xa282ead8 (mod 2³²).
"""

import struct
from collections.abc import Iterable, Iterator
from functools import cache

from beholder.errors import TableError

_CASTAGNOLI = 0x82F63B78
"""The polynomial of CRC32C, bits reversed."""


def frame_records(payloads: Iterable[bytes]) -> Iterator[bytes]:
    """The frames of these payloads, one after another."""
    for payload in payloads:
        length = struct.pack("<Q", len(payload))
        yield length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def unframe_records(content: bytes, *, source: str) -> list[bytes]:
    """The payloads of a file's bytes; a broken frame ends the reading, since nothing after it can be found."""
    payloads: list[bytes] = []
    place = 0
    while place < len(content):
        payload = _payload(content, place)
        if isinstance(payload, str):
            raise TableError(source, [f"record {len(payloads)} at byte {place:,}: {payload}"])
        payloads.append(payload)
        place += 16 + len(payload)
    return payloads


def masked_crc(data: bytes) -> int:
    """The checksum as it stands in the file."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """Castagnoli's CRC, two bytes at a time, and the last alone where it is left over."""
    crc, table = 0xFFFFFFFF, _table_of_two()
    for (two,) in struct.iter_unpack("<H", data[: len(data) & ~1]):
        crc = (crc >> 16) ^ table[(crc ^ two) & 0xFFFF]
    if len(data) & 1:
        crc = (crc >> 8) ^ _TABLE[(crc ^ data[-1]) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _payload(content: bytes, place: int) -> bytes | str:
    """The payload of the frame at a place, or what is wrong with it."""
    head = content[place : place + 12]
    if len(head) < 12:
        return "the file ends within the length"
    (length,), (check,) = struct.unpack("<Q", head[:8]), struct.unpack("<I", head[8:])
    if masked_crc(head[:8]) != check:
        return "the checksum of the length does not fit; is this a TFRecord file?"
    payload, end = content[place + 12 : place + 12 + length], content[place + 12 + length : place + 16 + length]
    if len(payload) < length or len(end) < 4:
        return f"the file ends within the record of {length:,} bytes"
    if masked_crc(payload) != struct.unpack("<I", end)[0]:
        return "the checksum of the content does not fit: the file is damaged"
    return payload


def _entry(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ (_CASTAGNOLI if value & 1 else 0)
    return value


@cache
def _table_of_two() -> tuple[int, ...]:
    """What two bytes add to the checksum: the first through the table, then the second."""
    return tuple((once >> 8) ^ _TABLE[(once ^ second) & 0xFF] for second in range(256) for once in _TABLE)


_TABLE = tuple(_entry(value) for value in range(256))
