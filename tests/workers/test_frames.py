"""Frames: what is packed is read back, and what is no frame is a fault with a reason."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.workers.frames import Frame, FrameError, pack_frame, read_frame

TEXTS = st.text(max_size=20)
HEADERS = st.dictionaries(TEXTS.filter(lambda key: key != "blobs"), TEXTS | st.integers() | st.booleans())


@given(st.lists(st.tuples(HEADERS, st.lists(st.binary(max_size=50)))))
def test_frames_are_read_back_one_after_the_other(messages: list[tuple[dict[str, object], list[bytes]]]) -> None:
    frames = [Frame(header, tuple(blobs)) for header, blobs in messages]
    stream = io.BytesIO(b"".join(map(pack_frame, frames)))
    assert [read_frame(stream) for _ in frames] == frames
    assert read_frame(stream) is None


@given(HEADERS, st.lists(st.binary(min_size=1, max_size=9), min_size=1), st.data())
def test_a_frame_cut_short_is_a_fault(header: dict[str, object], blobs: list[bytes], draw: st.DataObject) -> None:
    packed = pack_frame(Frame(header, tuple(blobs)))
    cut = draw.draw(st.integers(1, len(packed) - 1))
    with pytest.raises(FrameError, match="the stream ended within"):
        read_frame(io.BytesIO(packed[:cut]))


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (b"hello\n", "an object is expected, found: hello"),
        (b"[1]\n", "an object is expected"),
        (b'{"blobs": 3}\n', "'blobs' is 3; a list of lengths"),
        (b'{"blobs": [-1]}\n', "a list of lengths"),
        (b'{"blobs": [true]}\n', "a list of lengths"),
        (b'{"blobs": [6, 5]}\n', "announces 11 bytes; at most 10"),
        (b"\xff\n", "an object is expected"),
    ],
)
def test_what_is_no_frame(packed: bytes, message: str) -> None:
    with pytest.raises(FrameError, match=message):
        read_frame(io.BytesIO(packed), largest=10)


def test_a_number_that_json_lacks_is_refused_before_it_is_sent() -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        pack_frame(Frame({"score": float("nan")}))
