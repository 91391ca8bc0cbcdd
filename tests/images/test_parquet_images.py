"""Images in Parquet files: found, named, read some rows at a time, and unpacked."""

import pickle
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from beholder.errors import ImageError
from beholder.images import parquet_images
from beholder.images.parquet_images import ParquetImage, images_in_parquet
from beholder.images.sources import captions, find_images, read_pixels
from beholder.images.tar_shards import unpack

STRUCT = pl.Struct({"bytes": pl.Binary, "path": pl.String})


def picture(shade: int, form: str = "PNG") -> bytes:
    written = BytesIO()
    Image.new("RGB", (4, 4), (shade, 0, 0)).save(written, form)
    return written.getvalue()


def write(path: Path, *shades: int, **columns: list[str | None]) -> list[bytes]:
    contents = [picture(shade) for shade in shades]
    images = pl.Series([{"bytes": content, "path": None} for content in contents], dtype=STRUCT)
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame({"image": images, **columns}).write_parquet(path, row_group_size=2)
    return contents


def test_rows_are_images_in_order_with_names_and_prompts(tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    contents = write(path, 1, 2, 3, image_id=["a/0", "a/1", None], prompt=["one", None, "three"])
    images = find_images(path)
    assert [image.name for image in images] == ["a/0", "a/1", f"{path}[2]"]
    assert [image.load()[1] for image in images] == contents
    assert captions(images) == ["one", None, "three"]
    assert read_pixels(images[2].load()[1]).getpixel((0, 0)) == (3, 0, 0)
    assert pickle.loads(pickle.dumps(images[1])).load() == images[1].load()  # as workers get it


def test_some_rows_are_read_at_a_time_and_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.parquet"
    contents = write(path, *range(10))
    monkeypatch.setattr(parquet_images, "PORTION_BYTES", path.stat().st_size // 3)
    read: list[tuple[int, int]] = []
    scan = pl.LazyFrame.slice

    def watched(frame: pl.LazyFrame, offset: int, length: int | None = None) -> pl.LazyFrame:
        read.append((offset, length or 0))
        return scan(frame, offset, length)

    monkeypatch.setattr(pl.LazyFrame, "slice", watched)
    images = find_images(path)
    assert read == []
    assert [image.load()[1] for image in images] == contents
    assert read == [(0, 3), (3, 3), (6, 3), (9, 3)]


def test_a_file_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    write(path, 1)
    find_images(path)[0].load()
    path.unlink()
    contents = write(path, 2)
    assert [image.load()[1] for image in find_images(path)] == contents


def test_shards_of_a_folder_are_found_where_there_are_no_loose_images(tmp_path: Path) -> None:
    contents = write(tmp_path / "data" / "train-0.parquet", 1, 2) + write(tmp_path / "data" / "train-1.parquet", 3)
    write(tmp_path / ".cache" / "x.parquet", 9)
    pl.DataFrame({"answer": ["yes"]}).write_parquet(tmp_path / "answers.parquet")
    assert [image.load()[1] for image in find_images(tmp_path)] == contents
    (tmp_path / "loose.png").write_bytes(picture(7))
    assert [image.load()[1] for image in find_images(tmp_path)] == [picture(7)]


def test_bytes_without_a_struct_and_other_names_of_columns(tmp_path: Path) -> None:
    pl.DataFrame({"jpg": [picture(5, "JPEG")], "caption": ["five"]}).write_parquet(tmp_path / "a.parquet")
    photos = pl.Series([{"bytes": picture(6), "path": "6.png"}], dtype=STRUCT)
    pl.DataFrame({"photo": photos, "hash": [b"\x00"]}).write_parquet(tmp_path / "b.parquet")
    first, second = find_images(tmp_path)
    assert first.load()[1] == picture(5, "JPEG")
    assert second.load()[1] == picture(6)
    assert captions([first, second]) == ["five", None]


def test_a_manifest_stays_one_and_what_is_neither_says_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(picture(1))
    pl.DataFrame({"image": ["Cat"], "path": ["cat.png"]}).write_parquet(tmp_path / "listed.parquet")
    assert images_in_parquet(tmp_path / "listed.parquet") is None
    assert [image.name for image in find_images(tmp_path / "listed.parquet")] == ["Cat"]
    pl.DataFrame({"answer": ["yes"]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(ImageError, match="a column 'path' is expected, or a column 'image' with the bytes"):
        find_images(tmp_path / "other.parquet")


def test_faults_are_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ImageError, match=r"broken\.parquet cannot be read as a table"):
        find_images(path)
    photos = pl.Series([{"bytes": picture(6), "path": None}], dtype=STRUCT)
    pl.DataFrame({"before": photos, "after": photos}).write_parquet(tmp_path / "two.parquet")
    with pytest.raises(ImageError, match="several columns hold images: before, after; call"):
        find_images(tmp_path / "two.parquet")
    gone = pl.Series([{"bytes": None, "path": "elsewhere.png"}, None], dtype=STRUCT)
    pl.DataFrame({"image": gone}).write_parquet(tmp_path / "gone.parquet")
    for image in find_images(tmp_path / "gone.parquet"):
        with pytest.raises(OSError, match="has no bytes"):
            image.load()


def test_rows_become_loose_files_named_by_their_content(tmp_path: Path) -> None:
    source = tmp_path / "shards" / "train.parquet"
    source.parent.mkdir()
    contents = [picture(1, "JPEG"), picture(2), picture(3)]
    images = pl.Series([{"bytes": content, "path": None} for content in [*contents, None]], dtype=STRUCT)
    names = ["a/0", "a/1.png", None, "a/lost"]
    pl.DataFrame({"image": images, "image_id": names, "text": ["one", None, None, None]}).write_parquet(source)
    out = tmp_path / "loose"
    with pytest.raises(ImageError, match="a/lost: cannot be read"):
        unpack(find_images(source), out)
    files = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.[jp][pn]g")}
    assert files == dict(zip(["a/0.jpg", "a/1.png", "train-000000002.png"], contents, strict=True))
    assert (out / "prompts.csv").read_text().split() == ["file,prompt", "a/0.jpg,one"]


def test_many_images_are_listed_without_an_object_for_each(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", *([0] * 50))
    images = find_images(tmp_path / "train.parquet")
    assert len(images[10:40]) == 30
    assert isinstance(images[49], ParquetImage)
