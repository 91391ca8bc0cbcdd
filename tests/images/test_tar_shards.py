"""Images in tar files of WebDataset's layout: written, read in place, and unpacked."""

import json
import tarfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.errors import ImageError
from beholder.images.folders import search_folder
from beholder.images.sources import ArrayImage, ImageFile, captions, find_images
from beholder.images.tar_shards import Sample, unpack, write_shards


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    rng, folder, listed = np.random.default_rng(0), tmp_path / "loose", []
    folder.mkdir()
    for number in range(5):
        path = folder / f"{number}.v2.{'png' if number % 2 else 'jpg'}"
        Image.fromarray(rng.integers(0, 256, (6, 5, 3), np.uint8)).save(path)
        prompt = None if number == 3 else f"a cat, “{number}”"
        listed.append(Sample(f"aurora/{number}.v2", ImageFile(path.name, path), prompt, {"generator": "aurora"}))
    return listed


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, BytesIO(content))


def png() -> bytes:
    written = BytesIO()
    Image.new("RGB", (3, 2)).save(written, "png")
    return written.getvalue()


def test_what_was_written_is_read_in_place(samples: list[Sample], tmp_path: Path) -> None:
    paths = write_shards(samples, tmp_path / "shards", 2)
    assert [path.name for path in paths] == ["000000.tar", "000001.tar", "000002.tar"]
    images = find_images(tmp_path / "shards")
    assert [image.name for image in images] == [sample.image for sample in samples]
    assert captions(images) == [sample.prompt for sample in samples]
    assert [image.load() for image in images] == [sample.source.load() for sample in samples]
    with tarfile.open(paths[0]) as tar:
        assert tar.getnames()[:3] == ["000000000.jpg", "000000000.txt", "000000000.json"]
        about = tar.extractfile("000000000.json")
        assert about is not None
        assert json.load(about) == {"image": "aurora/0.v2", "prompt": "a cat, “0”", "generator": "aurora"}


def test_equal_images_make_equal_bytes(samples: list[Sample], tmp_path: Path) -> None:
    both = [write_shards(samples, tmp_path / name, 3) for name in ("first", "second")]
    assert [path.read_bytes() for path in both[0]] == [path.read_bytes() for path in both[1]]


def test_loose_files_again_with_their_prompts(samples: list[Sample], tmp_path: Path) -> None:
    write_shards(samples, tmp_path / "shards", 2)
    assert unpack(find_images(tmp_path / "shards"), tmp_path / "again") == 5
    entries = search_folder(tmp_path / "again", "g").entries
    assert [entry.prompt for entry in entries] == [sample.prompt for sample in samples]
    assert [entry.file.read_bytes() for entry in entries] == [sample.source.load()[1] for sample in samples]
    assert str(entries[0].below) == "aurora/0.v2.jpg"


def test_tars_of_others(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        add(tar, "b/x.png", png())
        add(tar, "b/x.json", b'{"caption": "from a caption"}')
        add(tar, "b/y.left.png", png())  # the key of WebDataset ends at the first dot
        add(tar, "b/y.txt", b"from a text\n")
        add(tar, "b/z.png", png())
        add(tar, "b/z.json", b"[1, 2]")
        add(tar, "b/z.txt", b"\xff\xfe")
        add(tar, "b/.hidden.png", png())
    images = find_images(tmp_path / "a.tar")
    assert [image.name for image in images] == [f"{tmp_path}/a.tar/b/{name}.png" for name in ("x", "y.left", "z")]
    assert captions(images) == ["from a caption", "from a text", None]


def test_pixels_become_files_and_names_stay_in_the_folder(tmp_path: Path) -> None:
    pixels = np.zeros((2, 3, 3), np.uint8)
    names = ["../../escape", "/"]
    write_shards([Sample(name, ArrayImage(name, pixels)) for name in names], tmp_path / "shards", 10)
    unpack(find_images(tmp_path / "shards"), tmp_path / "deep" / "again")
    again = tmp_path / "deep" / "again"
    assert sorted(path.name for path in again.iterdir()) == ["escape.png", "image.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "shards"]


def test_every_missing_file_is_named_and_nothing_is_left(samples: list[Sample], tmp_path: Path) -> None:
    for number in (1, 4):
        (tmp_path / "loose" / f"{number}.v2.{'png' if number % 2 else 'jpg'}").unlink()
    with pytest.raises(ImageError, match=r"aurora/1\.v2(.|\n)*aurora/4\.v2"):
        write_shards(samples, tmp_path / "shards", 2)
    assert not list((tmp_path / "shards").iterdir())


def test_a_folder_with_loose_images_has_no_tars(samples: list[Sample], tmp_path: Path) -> None:
    write_shards(samples, tmp_path / "loose", 5)
    assert len(find_images(tmp_path / "loose")) == 5
    assert all(isinstance(image, ImageFile) for image in find_images(tmp_path / "loose"))


def test_equal_names_are_refused(samples: list[Sample], tmp_path: Path) -> None:
    write_shards([samples[0], samples[0]], tmp_path / "shards", 1)
    with pytest.raises(ImageError, match=r"aurora/0\.v2\.jpg: more than one image"):
        unpack(find_images(tmp_path / "shards"), tmp_path / "again")
