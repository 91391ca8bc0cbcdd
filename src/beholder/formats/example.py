"""``tf.train.Example`` by hand: a few names, each with bytes, floats or whole numbers.

Example {1: Features {1: {1: name, 2: Feature {1: bytes {1: …} | 2: floats {1: …} | 3: ints {1: …}}} …}}
in protocol buffers: a key is a varint ``number << 3 | type`` with type 0 a varint, 1 eight bytes, 2 a length and
so many bytes, 5 four bytes. Numbers in a list are packed or not; both are read, packed is written.
"""

import struct
from collections.abc import Iterator, Mapping

Value = tuple[bytes, ...] | tuple[float, ...] | tuple[int, ...]
"""The values of one name; all of one type."""

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5


def encode_example(features: Mapping[str, Value]) -> bytes:
    """The bytes of an Example; names in order, so that the same content gives the same bytes."""
    inner = b""
    for name in sorted(features):
        entry = _field(1, name.encode()) + _field(2, _feature(features[name]))
        inner += _field(1, entry)
    return _field(1, inner)


def decode_example(content: bytes) -> dict[str, Value]:
    """Names and values of an Example; a ``ValueError`` where the bytes are none."""
    values_by_name: dict[str, Value] = {}
    for features in _parts(content, 1):
        for entry in _parts(features, 1):
            names, values = list(_parts(entry, 1)), list(_parts(entry, 2))
            if len(names) != 1 or len(values) > 1:
                raise ValueError("a feature without a name or with two values")
            values_by_name[names[0].decode()] = _values(values[0]) if values else ()
    return values_by_name


def _feature(values: Value) -> bytes:
    if all(isinstance(value, bytes) for value in values):
        return _field(1, b"".join(_field(1, value) for value in values if isinstance(value, bytes)))
    if all(isinstance(value, int) for value in values):
        return _field(3, _field(1, b"".join(_varint(int(value) & 0xFFFFFFFFFFFFFFFF) for value in values)))
    return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))


def _values(feature: bytes) -> Value:
    """The values of a Feature, whichever list it holds."""
    for number, kind, content in _fields(feature):
        if kind != _BYTES or not isinstance(content, bytes):
            raise ValueError(f"a feature of wire type {kind}")
        if number == 1:
            return tuple(_parts(content, 1))
        if number == 2:
            return tuple(float(x) for part in _numbers(content) for x in _floats(part))
        if number == 3:
            return tuple(x for part in _numbers(content) for x in _integers(part))
    return ()


def _numbers(content: bytes) -> Iterator[bytes | int]:
    for number, _, part in _fields(content):
        if number == 1:
            yield part


def _floats(part: bytes | int) -> tuple[float, ...]:
    if isinstance(part, int) or len(part) % 4:
        raise ValueError("floats that are no multiple of four bytes")
    return struct.unpack(f"<{len(part) // 4}f", part)


def _integers(part: bytes | int) -> list[int]:
    if isinstance(part, int):
        return [_signed(part)]
    integers, place = [], 0
    while place < len(part):
        value, place = _read_varint(part, place)
        integers.append(_signed(value))
    return integers


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _parts(content: bytes, field_number: int) -> Iterator[bytes]:
    """The byte fields of this number."""
    for number, kind, part in _fields(content):
        if number == field_number and kind == _BYTES and isinstance(part, bytes):
            yield part


def _fields(content: bytes) -> Iterator[tuple[int, int, bytes | int]]:
    """Number, wire type and content of every field."""
    place = 0
    while place < len(content):
        key, place = _read_varint(content, place)
        kind = key & 7
        if kind == _VARINT:
            value, place = _read_varint(content, place)
            yield key >> 3, kind, value
            continue
        if kind == _BYTES:
            length, place = _read_varint(content, place)
        elif kind in (_EIGHT, _FOUR):
            length = 8 if kind == _EIGHT else 4
        else:
            raise ValueError(f"wire type {kind}")
        if place + length > len(content):
            raise ValueError("a field that is longer than what holds it")
        yield key >> 3, kind, content[place : place + length]
        place += length


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the top bit says that more follow."""
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _read_varint(content: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(content):
            raise ValueError("a number that is cut off")
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, place
    raise ValueError("a number of more than ten bytes")
