"""Lazy sequences: they behave as lists of the same items, in far less memory."""

import pickle
import tarfile
import tracemalloc
from io import BytesIO
from pathlib import Path

import pytest

from beholder.images.lazy import Chained, Lazy, Mapped
from beholder.images.packed import TOGETHER, Packed
from beholder.images.sources import ImageFile, find_images
from beholder.images.tar_images import TarImage

WORDS = ["", "a", "ä€😀", "\udcff", "two\nlines"]


def tar_of(path: Path, images: int) -> Path:
    with tarfile.open(path, "w") as archive:
        for number in range(images):
            member = tarfile.TarInfo(f"{number:06d}.png")
            member.size = 9
            archive.addfile(member, BytesIO(b"%09d" % number))
    return path


@pytest.mark.parametrize(
    "lazy",
    [
        Packed(WORDS),
        Chained([WORDS[:2], [], Packed(WORDS[2:])]),
        Mapped(WORDS.__getitem__, range(5)),
        Chained([Packed(["x", *WORDS, "y"])[1:6]]),
    ],
)
def test_as_a_list(lazy: Lazy[str]) -> None:
    assert list(lazy) == WORDS
    assert lazy == WORDS
    assert lazy == tuple(WORDS)
    assert lazy != WORDS[1:]
    assert lazy != [*WORDS[:4], "other"]
    assert [lazy[place] for place in range(-5, 5)] == WORDS * 2
    assert lazy[1:4] == WORDS[1:4]
    assert lazy[::-2][1:] == WORDS[::-2][1:]
    for beyond in (5, -6):
        with pytest.raises(IndexError):
            lazy[beyond]


def test_values_of_several_blocks() -> None:
    rows = [(f"{number}.png", number**4, None, number / 7) for number in range(2 * TOGETHER + 1)]
    packed = Packed(rows)
    assert list(packed) == rows
    assert [packed[place] for place in (0, TOGETHER - 1, TOGETHER, -1)] == [
        rows[place] for place in (0, TOGETHER - 1, TOGETHER, -1)
    ]
    assert packed[TOGETHER - 2 : TOGETHER + 2] == rows[TOGETHER - 2 : TOGETHER + 2]
    assert rows[-1] in packed
    assert None not in packed
    assert pickle.loads(pickle.dumps(packed)) == rows


def test_nothing_in_it() -> None:
    assert not Chained[str]([[], Packed([])])
    assert Packed([]) == []


def test_places_together(tmp_path: Path) -> None:
    tar = tar_of(tmp_path / "a.tar", 3)
    loose = tmp_path / "loose"
    loose.mkdir()
    for name in ("b.png", "a.png"):
        (loose / name).write_bytes(b"")
    images = find_images(loose, tar)
    assert images[:2] == [ImageFile(str(loose / name), loose / name) for name in ("a.png", "b.png")]
    assert [image.name for image in images[2:]] == [f"{tar}/{number:06d}.png" for number in range(3)]
    assert [image.load()[1] for image in images[2:]] == [b"%09d" % number for number in range(3)]
    last = images[-1]
    assert isinstance(last, TarImage)
    assert (last.size, last.suffix, last.prompt) == (9, ".png", None)
    assert pickle.loads(pickle.dumps(images)) == images


def test_a_listing_of_many_images_is_small(tmp_path: Path) -> None:
    tar = tar_of(tmp_path / "many.tar", 2_000)
    find_images(tar)
    tracemalloc.start()
    images = find_images(tar)
    own = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/beholder/images/*")])
    tracemalloc.stop()
    held = sum(trace.size for trace in own.traces)
    assert len(images) == 2_000
    assert held / len(images) < 16  # bytes; 243 as objects
