"""The frames of TFRecord and the bytes of tf.train.Example, against values worked out elsewhere."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import TableError
from beholder.formats.example import Value, decode_example, encode_example
from beholder.formats.tfrecord import crc32c, frame_records, masked_crc, unframe_records


def test_crc32c_has_its_published_check_values() -> None:
    """RFC 3720, B.4, and the check value of the Castagnoli polynomial."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E
    assert crc32c(b"") == 0


def test_the_mask_is_a_rotation_and_a_sum() -> None:
    """0xE3069283 rotated right by 15: low 15 bits 0x1283 to the top, 0x1C60D below.

    0xE3069283 >> 15 = 0x1C60D; (0xE3069283 << 17) mod 2³² = 0x25060000; or: 0x2507C60D;
    + 0xA282EAD8 = 0xC78AB0E5.
    """
    assert masked_crc(b"123456789") == 0xC78AB0E5


def test_a_frame_by_hand() -> None:
    (frame,) = frame_records([b"abc"])
    assert frame[:8] == b"\x03\0\0\0\0\0\0\0"
    assert frame[8:12] == struct.pack("<I", masked_crc(frame[:8]))
    assert frame[12:15] == b"abc"
    assert len(frame) == 19


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_frames_come_back(payloads: list[bytes]) -> None:
    assert unframe_records(b"".join(frame_records(payloads)), source="x") == payloads


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda b: b[:5], "ends within the length"),
        (lambda b: b"\x09" + b[1:], "checksum of the length"),
        (lambda b: b[:-6], "ends within the record"),
        (lambda b: b[:12] + b"x" + b[13:], "checksum of the content"),
    ],
)
def test_a_damaged_file_is_told(spoil: object, message: str) -> None:
    content = b"".join(frame_records([b"first", b"second"]))
    second = content[:21] + spoil(content[21:])  # type: ignore[operator]
    with pytest.raises(TableError, match=message) as caught:
        unframe_records(second, source="file")
    assert "record 1 at byte 21" in str(caught.value)


def test_an_example_by_hand() -> None:
    """{a: bytes "x"}: Feature = 0A 03 (0A 01 78); entry = 0A 01 61, 12 05 …; then both wrappers."""
    feature = bytes.fromhex("0a030a0178")
    entry = bytes.fromhex("0a0161") + b"\x12\x05" + feature
    features = b"\x0a" + bytes([len(entry)]) + entry
    assert encode_example({"a": (b"x",)}) == b"\x0a" + bytes([len(features)]) + features


def test_a_float_by_hand() -> None:
    """0.5 is 00 00 00 3F; packed: 12 06 (0A 04 …)."""
    assert bytes.fromhex("12060a040000003f") in encode_example({"s": (0.5,)})


def test_lists_that_are_not_packed_are_read() -> None:
    floats = bytes.fromhex("120a0d0000003f0d0000803f")  # two fields of four bytes: 0.5, 1.0
    integers = bytes.fromhex("1a0408050807")  # two varints: 5, 7
    for feature, values in ((floats, (0.5, 1.0)), (integers, (5, 7))):
        entry = b"\x0a\x01s\x12" + bytes([len(feature)]) + feature
        features = b"\x0a" + bytes([len(entry)]) + entry
        assert decode_example(b"\x0a" + bytes([len(features)]) + features) == {"s": values}


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.one_of(
            st.lists(st.binary(max_size=300), min_size=1, max_size=3).map(tuple),
            st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=3).map(tuple),
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3).map(tuple),
        ),
        max_size=4,
    )
)
def test_examples_come_back(features: dict[str, Value]) -> None:
    assert decode_example(encode_example(features)) == features


@pytest.mark.parametrize("content", [b"\x0a\x05\x0a", b"\x0b", b"\x0a\xff", b"\x0a\x02\x0a\x00"])
def test_bytes_that_are_no_example_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"field|wire type|cut off|without a name"):
        decode_example(content)
