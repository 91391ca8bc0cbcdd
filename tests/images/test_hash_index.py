"""A file is hashed again where anything about it changed, and only then."""

import hashlib
import os
from pathlib import Path

import pytest

from beholder.images import hash_index
from beholder.images.hash_index import HashIndex, stamp_of
from beholder.images.sources import ImageFile
from beholder.models.encoders.identify import identify_all


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[ImageFile]:
    """Two files that count as old enough to be remembered."""
    monkeypatch.setattr(hash_index, "RECENT", 0)
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    for path in paths:
        path.write_bytes(path.name.encode())
    return [ImageFile(path.stem, path) for path in paths]


def test_an_unchanged_file_is_not_read_again(
    files: list[ImageFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = identify_all(files, 1, HashIndex.load(tmp_path / "files.json"))
    assert first == [hashlib.sha256(name).digest() for name in (b"a.png", b"b.png")]
    monkeypatch.setattr(Path, "read_bytes", _only_the_index(Path.read_bytes))
    assert identify_all(files, 1, HashIndex.load(tmp_path / "files.json")) == first


def _only_the_index(read: object) -> object:
    def read_bytes(path: Path) -> bytes:
        assert path.name == "files.json", f"{path} was read"
        return read(path)  # type: ignore[operator, no-any-return]

    return read_bytes


def test_a_changed_file_is_hashed_again_even_with_its_old_times(files: list[ImageFile], tmp_path: Path) -> None:
    identify_all(files, 1, HashIndex.load(tmp_path / "files.json"))
    path = files[0].path
    times = path.stat()
    path.write_bytes(b"A.png")  # the same size
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert identify_all(files, 1, HashIndex.load(tmp_path / "files.json"))[0] == hashlib.sha256(b"A.png").digest()


def test_a_file_that_just_changed_is_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"a")
    index = HashIndex.load(tmp_path / "files.json")
    identify_all([ImageFile("a", path)], 1, index)
    assert index.find(path) is None
    assert not (tmp_path / "files.json").exists()


def test_what_is_missing_or_damaged_counts_as_unknown(files: list[ImageFile], tmp_path: Path) -> None:
    files[1].path.unlink()
    index = HashIndex.load(tmp_path / "files.json")
    assert identify_all(files, 1, index)[1] == "no such file"
    assert stamp_of(files[1].path) is None
    assert index.find(files[1].path) is None
    (tmp_path / "files.json").write_text('{"a": [1]}')
    assert HashIndex.load(tmp_path / "files.json").entries == {}
