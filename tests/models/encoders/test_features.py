"""Features on disk: found by content, mapped into memory, whole after every kind of end."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.errors import StageError
from beholder.images.background import DEFAULT_BACKGROUND as GREY
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.features import open_features
from beholder.models.encoders.preprocessing import Preprocessing

ENCODER = Encoder("toy", "w" * 64, 5, Preprocessing("exact", 8, "box"), lambda images: images[:, 0, 0, :5])


def hashes(*numbers: int) -> list[bytes]:
    return [number.to_bytes(32, "big") for number in numbers]


def vectors(*numbers: int) -> NDArray[np.float32]:
    return np.array([[number + place / 10 for place in range(5)] for number in numbers], np.float32)


def written(folder: Path) -> Path:
    with open_features(folder, ENCODER, GREY) as file:
        file.append(hashes(1, 2), vectors(1, 2))
        file.append(hashes(3), vectors(3))
        return file.path


class TestKept:
    def test_found_again_by_hash(self, tmp_path: Path) -> None:
        written(tmp_path)
        with open_features(tmp_path, ENCODER, GREY) as file:
            assert file.rows == dict(zip(hashes(1, 2, 3), range(3), strict=True))
            np.testing.assert_array_equal(file.take(np.array([2, 0])), vectors(3, 1))
            file.append(hashes(4), vectors(4))
        with open_features(tmp_path, ENCODER, GREY) as file:
            np.testing.assert_array_equal(file.take(np.array([3, 1])), vectors(4, 2))

    def test_rows_in_order_are_a_view_of_the_file(self, tmp_path: Path) -> None:
        written(tmp_path)
        with open_features(tmp_path, ENCODER, GREY) as file:
            assert isinstance(file.take(np.array([1, 2])), np.memmap)
            assert file.take(np.array([], np.intp)).shape == (0, 5)

    def test_anyone_can_open_it(self, tmp_path: Path) -> None:
        path = written(tmp_path)
        np.testing.assert_array_equal(np.load(path, mmap_mode="r"), vectors(1, 2, 3))
        about = json.loads((path.parent / "about.json").read_text())
        assert about["weights"] == ENCODER.weights
        assert about["preprocessing"] == ENCODER.preprocessing.version

    def test_what_the_vectors_depend_on_has_a_file_of_its_own(self, tmp_path: Path) -> None:
        for encoder in (
            ENCODER,
            replace(ENCODER, weights="v" * 64),
            replace(ENCODER, name="toys"),
            replace(ENCODER, preprocessing=Preprocessing("exact", 8, "bicubic")),
        ):
            with open_features(tmp_path, encoder, GREY) as file:
                assert file.rows == {}
                file.append(hashes(1), vectors(1))
        assert len(list(tmp_path.iterdir())) == 4


class TestHalfWritten:
    """A kill can end a write after any byte: each such state is made here."""

    @pytest.mark.parametrize("lost", [1, 19, 20, 21, 45, 60, 100, 170])
    def test_vectors_cut_off(self, tmp_path: Path, lost: int) -> None:
        path = written(tmp_path)
        content = path.read_bytes()
        path.write_bytes(content[: len(content) - lost])
        with open_features(tmp_path, ENCODER, GREY) as file:
            complete_rows = max(3 - -(-lost // 20), 0)
            assert list(file.rows.values()) == list(range(complete_rows))
            file.append(hashes(9), vectors(9))
        np.testing.assert_array_equal(np.load(path), vectors(*range(1, complete_rows + 1), 9))

    @pytest.mark.parametrize("lost", [1, 31, 32, 33, 96])
    def test_hashes_cut_off(self, tmp_path: Path, lost: int) -> None:
        path = written(tmp_path)
        index = path.with_name("hashes.bin")
        index.write_bytes(index.read_bytes()[:-lost])
        with open_features(tmp_path, ENCODER, GREY) as file:
            complete_rows = 3 - -(-lost // 32)
            assert len(file.rows) == complete_rows
            file.append(hashes(9), vectors(9))
        np.testing.assert_array_equal(np.load(path), vectors(*range(1, complete_rows + 1), 9))

    def test_nothing_but_empty_files(self, tmp_path: Path) -> None:
        path = written(tmp_path)
        path.write_bytes(b"")
        with open_features(tmp_path, ENCODER, GREY) as file:
            assert file.rows == {}

    def test_a_header_from_before_the_last_rows(self, tmp_path: Path) -> None:
        path = written(tmp_path)
        content = path.read_bytes()
        path.write_bytes(content.replace(b"(3, 5)", b"(2, 5)"))
        assert len(np.load(path, mmap_mode="r")) == 2
        with open_features(tmp_path, ENCODER, GREY) as file:
            np.testing.assert_array_equal(file.take(np.arange(3)), vectors(1, 2, 3))


def _rows(folder: Path) -> int:
    with open_features(folder, ENCODER, GREY, wait=True) as file:
        return len(file.rows)


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked on Windows")
def test_a_second_writer_is_turned_away_or_waits(tmp_path: Path) -> None:
    path = written(tmp_path)
    holder = (
        "import fcntl, sys; file = open(sys.argv[1], 'ab'); fcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, path.with_name("hashes.bin")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with (
            pytest.raises(StageError, match="another process is writing"),
            open_features(tmp_path, ENCODER, GREY),
        ):
            pass
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(_rows, tmp_path)
            with pytest.raises(TimeoutError):
                waiting.result(0.1)
            process.kill()
            assert waiting.result(30) == 3
    with open_features(tmp_path, ENCODER, GREY) as file:  # gone with its process
        assert len(file.rows) == 3
