"""Places of images: folders, globs, manifests, tar files and arrays lead to the same pictures."""

import hashlib
import tarfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from beholder.errors import ImageError
from beholder.images import arrays
from beholder.images.sources import ArrayImage, ImageFile, find_images, named_files, read_pixels
from beholder.tables.catalogue import TABLES
from beholder.tables.csv_text import escape_texts


def contents(*places: str | Path) -> list[bytes]:
    return [picture.load()[0] for picture in find_images(*places)]


@pytest.fixture
def expected(photographs: Path) -> list[bytes]:
    return [hashlib.sha256(file.read_bytes()).digest() for file in sorted(photographs.iterdir())]


class TestFiles:
    def test_a_folder_with_subfolders_in_the_order_of_names(self, photographs: Path, tmp_path: Path) -> None:
        for name in ("b/2.png", "b/1.PNG", "a.png", ".hidden.png", ".git/3.png", "notes.txt"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes((photographs / "00.png").read_bytes())
        names = [Path(source.name).relative_to(tmp_path).as_posix() for source in find_images(tmp_path)]
        assert names == ["a.png", "b/1.PNG", "b/2.png"]

    def test_a_glob(self, photographs: Path) -> None:
        assert len(find_images(f"{photographs}/*.jpg")) == 6
        assert len(find_images(f"{photographs.parent}/**/0*.png")) >= 3

    def test_a_file_whose_name_looks_like_a_glob(self, photographs: Path, tmp_path: Path) -> None:
        (tmp_path / "[1].png").write_bytes((photographs / "00.png").read_bytes())
        assert len(find_images(tmp_path / "[1].png")) == 1

    def test_several_places(self, photographs: Path) -> None:
        assert [
            Path(source.name).name for source in find_images(photographs / "03.avif", photographs / "01.jpg")
        ] == [
            "03.avif",
            "01.jpg",
        ]

    def test_files_under_names_of_ones_own(self, photographs: Path, expected: list[bytes]) -> None:
        (source,) = named_files(["a/0"], [photographs / "00.png"])
        assert source.name == "a/0"
        assert source.load()[0] == expected[0]


class TestManifests:
    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_paths_are_relative_to_the_manifest(self, photographs: Path, kind: str, expected: list[bytes]) -> None:
        names = sorted(file.name for file in photographs.iterdir())
        listed = pl.DataFrame({"path": [f"{photographs.name}/{name}" for name in names], "image": names})
        path = photographs.parent / f"manifest.{kind}"
        (listed.write_csv if kind == "csv" else listed.write_parquet)(path)
        assert contents(path) == expected
        assert [source.name for source in find_images(path)] == names

    def test_our_own_export_is_read_back_as_it_was(self, photographs: Path, tmp_path: Path) -> None:
        image = (photographs / "00.png").read_bytes()
        for name in ("=1.png", "'=2.png"):
            (tmp_path / name).write_bytes(image)
        rows: list[dict[str, object]] = [{"image": name, "path": name} for name in ("=1.png", "'=2.png")]
        exported = tmp_path / "images.csv"
        escape_texts(TABLES["images"].frame(rows)).write_csv(exported)
        assert "'=1.png" in exported.read_text(encoding="utf-8")
        assert [source.name for source in find_images(exported)] == ["=1.png", "'=2.png"]
        assert len(contents(exported)) == 2
        listed = tmp_path / "list.csv"  # somebody's own list is taken at its word
        pl.DataFrame({"path": ["'=2.png"]}).write_csv(listed)
        assert [source.name for source in find_images(listed)] == ["'=2.png"]

    def test_without_the_column(self, tmp_path: Path) -> None:
        (tmp_path / "list.csv").write_text("file,prompt\na.png,cat\n")
        with pytest.raises(ImageError, match=r"a column 'path' is expected; found: file, prompt"):
            find_images(tmp_path / "list.csv")

    def test_rows_without_a_path(self, tmp_path: Path) -> None:
        (tmp_path / "list.csv").write_text("path,prompt\na.png,cat\n,dog\n,owl\n")
        with pytest.raises(ImageError, match="rows without a path: 2, 3"):
            find_images(tmp_path / "list.csv")

    def test_a_damaged_table(self, tmp_path: Path) -> None:
        (tmp_path / "list.parquet").write_bytes(b"PAR1 no")
        with pytest.raises(ImageError, match="cannot be read as a table"):
            find_images(tmp_path / "list.parquet")


class TestTar:
    def test_members_in_their_order(self, photographs: Path, tmp_path: Path, expected: list[bytes]) -> None:
        with tarfile.open(tmp_path / "shard.tar", "w") as archive:
            for file in sorted(photographs.iterdir()):
                archive.add(file, f"deep/{file.name}")
            archive.add(__file__, "deep/notes.txt")
        assert contents(tmp_path / "shard.tar") == expected

    def test_a_compressed_one(self, photographs: Path, tmp_path: Path) -> None:
        with tarfile.open(tmp_path / "shard.tar", "w:gz") as archive:
            archive.add(photographs / "00.png")
        with pytest.raises(ImageError, match="unpack one that is compressed"):
            find_images(tmp_path / "shard.tar")


class TestArrays:
    IMAGES = np.random.default_rng(0).integers(0, 256, (5, 6, 7, 3), dtype=np.uint8)

    def test_an_npz_that_unpacks_to_too_much_is_not_unpacked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bomb = tmp_path / "bomb.npz"
        np.savez_compressed(bomb, images=np.zeros((400, 100, 100, 3), np.uint8))
        assert bomb.stat().st_size < 50_000  # 12 MB unpacked
        monkeypatch.setattr(arrays, "_mapped", lambda *_: pytest.fail("was unpacked"))
        with monkeypatch.context() as patch:
            patch.setattr(arrays, "LARGEST_UNPACKED", 10_000_000)
            with pytest.raises(ImageError, match=r"unpacks to .* GiB; at most"):
                find_images(bomb)
        monkeypatch.setattr(arrays, "SPARED", 1 << 60)
        with pytest.raises(ImageError, match=r"GiB free. Set TMPDIR"):
            find_images(bomb)

    def test_an_entry_gives_no_more_than_it_declares(self, tmp_path: Path) -> None:
        honest, lying = tmp_path / "honest.npz", tmp_path / "lying.npz"
        np.savez_compressed(honest, images=np.zeros((40, 100, 100, 3), np.uint8))
        size = np.zeros((40, 100, 100, 3), np.uint8).nbytes + 128
        content = honest.read_bytes()
        assert content.count(size.to_bytes(4, "little")) >= 1
        lying.write_bytes(content.replace(size.to_bytes(4, "little"), (500).to_bytes(4, "little")))
        with pytest.raises(ImageError, match="cannot be read as arrays"):
            find_images(lying)

    @pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
    def test_npz_beside_labels(self, save: object, tmp_path: Path) -> None:
        assert callable(save)
        save(tmp_path / "a.npz", arr_0=self.IMAGES, labels=np.arange(5))
        sources = find_images(tmp_path / "a.npz")
        assert [source.name for source in sources] == [f"{tmp_path}/a.npz/arr_0[{row}]" for row in range(5)]
        for source, image in zip(sources, self.IMAGES, strict=True):
            np.testing.assert_array_equal(read_pixels(source.load()[1]), image)

    def test_npy_in_either_order(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", self.IMAGES)
        np.save(tmp_path / "b.npy", np.asfortranarray(self.IMAGES))
        assert contents(tmp_path / "a.npy") == contents(tmp_path / "b.npy")

    def test_grey_and_transparent(self) -> None:
        grey = np.array([[0, 9]], np.uint8)
        assert np.asarray(read_pixels(grey)).tolist() == [[[0] * 3, [9] * 3]]
        assert np.asarray(read_pixels(grey[..., None])).tolist() == [[[0] * 3, [9] * 3]]
        clear = np.array([[[200, 0, 100, 51]]], np.uint8)
        assert np.asarray(read_pixels(clear, "#ffffff")).tolist() == [[[244, 204, 224]]]  # as in files

    def test_the_hash_knows_the_shape(self) -> None:
        flat = np.zeros((2, 8, 3), np.uint8)
        assert ArrayImage("a", flat).load()[0] != ArrayImage("a", flat.reshape(4, 4, 3)).load()[0]

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.zeros((2, 4, 4, 3), np.float32), "holds float32; bytes"),
            (np.zeros((2, 3, 8, 8), np.uint8), r"has the shape \(2, 3, 8, 8\)"),
            (np.zeros((2, 4), np.uint8), r"has the shape \(2, 4\)"),
            (np.zeros((0, 4, 4, 3), np.uint8), "no images here"),
        ],
    )
    def test_what_holds_no_images(self, array: NDArray[np.generic], message: str, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(ImageError, match=message):
            find_images(tmp_path / "a.npy")

    def test_labels_only(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "a.npz", labels=np.arange(3))
        with pytest.raises(ImageError, match="holds no array of images"):
            find_images(tmp_path / "a.npz")

    def test_damaged(self, tmp_path: Path) -> None:
        (tmp_path / "a.npz").write_bytes(b"PK no")
        (tmp_path / "b.npy").write_bytes(b"no")
        with pytest.raises(ImageError, match=r"(?s)a\.npz.*b\.npy") as caught:
            find_images(tmp_path / "a.npz", tmp_path / "b.npy")
        assert len(caught.value.faults) == 2


def test_all_wrong_places_are_listed_at_once(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "page.html").touch()
    with pytest.raises(ImageError) as caught:
        find_images(tmp_path / "nowhere", tmp_path / "empty", tmp_path / "page.html", f"{tmp_path}/*.png")
    reasons = [fault.partition(": ")[2] for fault in caught.value.faults]
    assert reasons[0] == "no such file or folder"
    assert reasons[1].startswith("no images here")
    assert reasons[2].startswith("'.html' is not taken")
    assert reasons[3].startswith("no images here")


def test_no_place() -> None:
    with pytest.raises(ImageError, match="no place was named"):
        find_images()


def test_a_path_to_a_file_is_not_opened_to_be_listed(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("path\nmissing.png\n")
    assert find_images(tmp_path / "list.csv") == [ImageFile("missing.png", tmp_path / "missing.png")]
