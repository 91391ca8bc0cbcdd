import os
import stat
from pathlib import Path

import pytest

from beholder.tables.atomic import write_atomically


def test_takes_the_place_when_the_block_ends_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "file.bin"
    with write_atomically(path) as file:
        file.write(b"first")
        assert not path.exists()
    assert path.read_bytes() == b"first"
    with write_atomically(path) as file:
        file.write(b"second")
        file.flush()
        assert path.read_bytes() == b"first"
    assert path.read_bytes() == b"second"


def test_an_error_leaves_the_old_file_and_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"old")

    def fail_halfway() -> None:
        with write_atomically(path) as file:
            file.write(b"half")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file[1].bin"
    own_file, others = (
        tmp_path / ".file[1].bin.x8k.tmp",
        [tmp_path / ".file1.bin.x8k.tmp", tmp_path / "file[1].bin.tmp"],
    )
    for left_over in (own_file, *others):
        left_over.write_bytes(b"half")
    with write_atomically(path) as file:
        file.write(b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


def test_others_may_read_it(tmp_path: Path) -> None:
    with write_atomically(tmp_path / "file.bin"):
        pass
    assert stat.S_IMODE((tmp_path / "file.bin").stat().st_mode) == 0o644


def test_the_bytes_are_on_the_disk_before_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, flushes = tmp_path / "file.bin", []
    flush = os.fsync

    def spy(handle: int) -> None:
        flushes.append((stat.S_ISDIR(os.fstat(handle).st_mode), os.fstat(handle).st_size, path.exists()))
        flush(handle)

    monkeypatch.setattr(os, "fsync", spy)
    with write_atomically(path) as file:
        file.write(b"12345")
    (file_flush, folder_flush) = flushes
    assert file_flush == (False, 5, False)  # all five bytes, before the rename
    assert folder_flush[0] is True
    assert folder_flush[2] is True  # the folder, after it
