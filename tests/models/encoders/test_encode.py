"""From pictures to features: every content once, all that is broken in one list, whole after a kill."""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.errors import ImageError
from beholder.images.decode import decode
from beholder.images.sources import ArrayImage, find_images
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode
from beholder.models.encoders.encoder import Encoder

SCRIPT = Path(__file__).with_name("encode_slowly.py")
PIXEL = load_encoder("pixel")


class Counted:
    """An encoder that remembers how many images went through it."""

    def __init__(self) -> None:
        self.images = 0
        self.lock = threading.Lock()

    def encoder(self) -> Encoder:
        return replace(PIXEL, network=self._network)

    def _network(self, images: NDArray[np.float32]) -> NDArray[np.float32]:
        with self.lock:
            self.images += len(images)
        return PIXEL.network(images)


@pytest.fixture
def counted() -> Counted:
    return Counted()


class TestResult:
    def test_vectors_are_those_of_the_images_in_their_order(self, photographs: Path) -> None:
        encoded = encode(find_images(photographs), PIXEL)
        files = sorted(photographs.iterdir())
        expected = PIXEL.encode(np.asarray(decode(file.read_bytes())) for file in files)
        np.testing.assert_array_equal(encoded.vectors, expected)
        assert encoded.names == tuple(str(file) for file in files)
        assert (encoded.file, encoded.broken) == (None, ())
        assert encoded.encoder == "pixel@none"

    @pytest.mark.parametrize("workers", [1, 2, 5])
    def test_the_number_of_workers_does_not_matter(self, photographs: Path, workers: int, tmp_path: Path) -> None:
        encoded = encode(find_images(photographs), PIXEL, folder=tmp_path, workers=workers)
        np.testing.assert_array_equal(encoded.vectors, encode(find_images(photographs), PIXEL).vectors)
        assert encoded.rows.tolist() == list(range(24))

    def test_kept_vectors_lie_where_it_says(self, photographs: Path, tmp_path: Path) -> None:
        encoded = encode(find_images(photographs), PIXEL, folder=tmp_path)
        assert encoded.file is not None
        assert isinstance(encoded.vectors, np.memmap)
        np.testing.assert_array_equal(np.load(encoded.file)[encoded.rows], encoded.vectors)

    def test_progress_ends_at_the_end(self, photographs: Path) -> None:
        calls: list[tuple[int, int]] = []
        encode(find_images(photographs), PIXEL, progress=lambda done, of: calls.append((done, of)))
        assert calls == sorted(calls)
        assert calls[-1] == (24, 24)

    def test_no_pictures(self) -> None:
        assert encode([], PIXEL).vectors.shape == (0, 3072)


class TestOnce:
    def test_a_second_run_computes_nothing(self, photographs: Path, tmp_path: Path, counted: Counted) -> None:
        first = encode(find_images(photographs), counted.encoder(), folder=tmp_path)
        assert counted.images == 24
        again = encode(find_images(photographs), counted.encoder(), folder=tmp_path)
        assert counted.images == 24
        np.testing.assert_array_equal(first.vectors, again.vectors)

    def test_only_what_is_new_is_computed(self, photographs: Path, tmp_path: Path, counted: Counted) -> None:
        encode(find_images(f"{photographs}/*.png"), counted.encoder(), folder=tmp_path)
        encoded = encode(find_images(photographs), counted.encoder(), folder=tmp_path)
        assert counted.images == 24
        np.testing.assert_array_equal(encoded.vectors, encode(find_images(photographs), PIXEL).vectors)

    def test_copies_are_encoded_once_under_any_name(
        self, photographs: Path, tmp_path: Path, counted: Counted
    ) -> None:
        copies = shutil.copytree(photographs, tmp_path / "copies")
        encoded = encode(find_images(copies, photographs, copies), counted.encoder())
        assert counted.images == 24
        assert len(encoded.names) == 72
        np.testing.assert_array_equal(encoded.vectors[:24], encoded.vectors[24:48])

    def test_a_changed_file_is_computed_again(self, photographs: Path, tmp_path: Path, counted: Counted) -> None:
        copies = shutil.copytree(photographs, tmp_path / "copies")
        encode(find_images(copies), counted.encoder(), folder=tmp_path / "features")
        shutil.copy(copies / "00.png", copies / "04.png")
        (copies / "08.png").write_bytes((copies / "08.png").read_bytes() + b" ")
        encode(find_images(copies), counted.encoder(), folder=tmp_path / "features")
        assert counted.images == 25  # 04 is now 00, which is known; 08 has another content


class TestBroken:
    @pytest.fixture
    def damaged(self, photographs: Path, tmp_path: Path) -> Path:
        folder = shutil.copytree(photographs, tmp_path / "damaged")
        (folder / "05.jpg").write_bytes(b"")
        (folder / "10.webp").write_bytes((folder / "10.webp").read_bytes()[:60])
        (folder / "22.webp").write_bytes((folder / "10.webp").read_bytes())
        (folder / "list.csv").write_text("path\n" + "\n".join(f"{n:02d}.{s}" for n, s in self.listed()))
        return folder

    def listed(self) -> list[tuple[int, str]]:
        return [(n, ("png", "jpg", "webp", "avif")[n % 4]) for n in range(26)]  # 24 and 25 are not there

    def test_all_of_them_stop_the_run(self, damaged: Path) -> None:
        with pytest.raises(ImageError) as caught:
            encode(find_images(damaged / "list.csv"), PIXEL)
        names = [fault.partition(":")[0] for fault in caught.value.faults]
        assert names == ["05.jpg", "10.webp", "22.webp", "24.png", "25.jpg"]
        assert "24.png: no such file" in caught.value.faults

    def test_nothing_is_encoded_once_the_end_is_known(self, damaged: Path, counted: Counted) -> None:
        with pytest.raises(ImageError):
            encode(find_images(damaged / "list.csv"), counted.encoder())
        assert counted.images == 0  # missing files are known before the first image is encoded

    def test_or_are_left_out_and_told(self, damaged: Path) -> None:
        encoded = encode(find_images(damaged / "list.csv"), PIXEL, skip_broken=True)
        assert [image.name for image in encoded.broken] == ["05.jpg", "10.webp", "22.webp", "24.png", "25.jpg"]
        assert encoded.broken[0].reason == "the file is empty (0 bytes)"
        assert len(encoded.names) == len(encoded.sha256) == len(encoded.vectors) == 21

    def test_what_was_computed_before_is_kept(self, damaged: Path, tmp_path: Path, counted: Counted) -> None:
        with pytest.raises(ImageError):
            encode(find_images(damaged), counted.encoder(), folder=tmp_path / "f", workers=1)
        before = counted.images
        assert before > 0
        encode(find_images(damaged), counted.encoder(), folder=tmp_path / "f", skip_broken=True)
        assert counted.images == 21

    def test_features_that_are_not_finite(self, photographs: Path) -> None:
        def network(images: NDArray[np.float32]) -> NDArray[np.float32]:
            vectors = PIXEL.network(images).copy()
            vectors[images.mean((1, 2, 3)) > 0.5] = np.nan
            return vectors

        bright = replace(PIXEL, network=network)
        with pytest.raises(ImageError, match="its features are not finite"):
            encode(find_images(photographs), bright)
        encoded = encode(find_images(photographs), bright, skip_broken=True)
        assert 0 < len(encoded.broken) < 24
        assert np.isfinite(encoded.vectors).all()

    def test_a_fault_of_ours_is_not_taken_for_a_broken_image(self, photographs: Path) -> None:
        def network(_: NDArray[np.float32]) -> NDArray[np.float32]:
            raise RuntimeError("out of memory")

        with pytest.raises(RuntimeError, match="out of memory"):
            encode(find_images(photographs), replace(PIXEL, network=network), skip_broken=True)


def test_memory_is_bounded() -> None:
    """However many pictures there are, only so many are decoded before their batch is encoded."""
    alive, most = 0, 0
    lock = threading.Lock()

    class Watched(ArrayImage):
        def load(self) -> tuple[bytes, NDArray[np.uint8]]:
            nonlocal alive, most
            with lock:
                alive += 1
                most = max(most, alive)
            return super().load()

    def network(images: NDArray[np.float32]) -> NDArray[np.float32]:
        nonlocal alive
        time.sleep(0.005)
        with lock:
            alive -= len(images)
        return PIXEL.network(images)

    pixels = np.random.default_rng(0).integers(0, 256, (400, 8, 8, 3), dtype=np.uint8)
    pictures = [Watched(str(row), pixels[row]) for row in range(400)]
    encode(pictures, replace(PIXEL, network=network), workers=2)
    # each picture was loaded once more, to be hashed: those 400 never went through the network
    assert most - 400 <= 2 * 16


@pytest.fixture(scope="module")
def many_images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "images.npy"
    np.save(path, np.random.default_rng(0).integers(0, 256, (160, 8, 8, 3), dtype=np.uint8))
    return path


class TestKilled:
    """The run of ``encode_slowly.py`` writes down each image that goes through its network."""

    @pytest.mark.parametrize("after", [0, 17, 60])
    def test_killed_and_run_again(self, many_images: Path, tmp_path: Path, after: int) -> None:
        log, features = tmp_path / "log", tmp_path / "features"
        command = [sys.executable, str(SCRIPT), str(many_images), str(features), str(log)]
        with subprocess.Popen(command) as process:
            _wait(lambda: log.exists() and len(log.read_text().splitlines()) > after)
            process.kill()
        assert process.returncode == -9
        killed_at = log.read_text().splitlines()
        assert after < len(killed_at) < 160
        stored_rows = sum(path.stat().st_size // 32 for path in features.glob("*/hashes.bin"))
        assert stored_rows <= len(killed_at)

        resumed = encode(find_images(many_images), _slow(log), folder=features)
        encoded = log.read_text().splitlines()
        assert len(encoded) == len(killed_at) + 160 - stored_rows  # what was on the disk did not go through again
        assert len(set(encoded)) == 160
        undisturbed = encode(find_images(many_images), PIXEL, folder=tmp_path / "undisturbed")
        np.testing.assert_array_equal(resumed.vectors, undisturbed.vectors)
        assert resumed.file is not None
        assert undisturbed.file is not None
        assert resumed.file.read_bytes() == undisturbed.file.read_bytes()


def _slow(log: Path) -> Encoder:
    def network(images: NDArray[np.float32]) -> NDArray[np.float32]:
        with log.open("a") as file:
            file.writelines(f"{image.sum():.9g}\n" for image in images)
        return PIXEL.network(images)

    return replace(PIXEL, network=network)


def _wait(reached: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < until, "the child did not get that far"
        time.sleep(0.002)
