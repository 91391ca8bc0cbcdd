"""Images in: what is taken, what is refused, and that every fault is in one list."""

import hashlib
import io
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from beholder.design.intake import Sources, gather_images
from beholder.images.inspection import UnusableFile, UsableFile, inspect_files
from beholder.tables.catalogue import TABLES
from beholder.tables.check import faults_in, reference_faults
from beholder.tables.prompt_id import prompt_id

RED = (200, 30, 30)


def noise(seed: int, size: tuple[int, int] = (12, 9)) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def paint(path: Path, seed: int = 0, size: tuple[int, int] = (12, 9)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise(seed, size).save(path)
    return path


def bomb(path: Path, side: int = 20_000) -> Path:
    """A PNG whose head claims side × side pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )
    return path


def only(file: Path) -> UsableFile | UnusableFile:
    (outcome,) = inspect_files([file])
    return outcome


def reason(file: Path) -> str:
    outcome = only(file)
    assert isinstance(outcome, UnusableFile)
    return outcome.reason


# Decoding


@pytest.mark.parametrize(
    ("mode", "suffix"),
    [
        ("RGB", ".png"),
        ("RGB", ".jpg"),
        ("CMYK", ".jpg"),
        ("L", ".jpeg"),
        ("I;16", ".png"),
        ("RGBA", ".png"),
        ("P", ".png"),
        ("1", ".png"),
        ("LA", ".png"),
        ("RGBA", ".webp"),
        ("RGB", ".avif"),
        ("RGB", ".bmp"),
        ("RGB", ".tif"),
        ("CMYK", ".tiff"),
        ("P", ".gif"),
    ],
)
def test_every_mode_and_format_is_read(tmp_path: Path, mode: str, suffix: str) -> None:
    file = tmp_path / f"a{suffix}"
    image = Image.new("I;16", (7, 5), 40_000) if mode == "I;16" else Image.new("RGB", (7, 5), RED).convert(mode)
    image.save(file)
    assert only(file) == UsableFile(7, 5, hashlib.sha256(file.read_bytes()).hexdigest())


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".tif"])
@pytest.mark.parametrize(
    ("orientation", "displayed_size"), [(1, (12, 9)), (3, (12, 9)), (6, (9, 12)), (8, (9, 12))]
)
def test_size_is_as_displayed(
    tmp_path: Path, suffix: str, orientation: int, displayed_size: tuple[int, int]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = tmp_path / f"a{suffix}"
    noise(1).save(file, exif=exif)
    outcome = only(file)
    assert isinstance(outcome, UsableFile)
    assert (outcome.width, outcome.height) == displayed_size


def test_damaged_exif_does_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "a.jpg"
    noise(1).save(file, exif=b"Exif\x00\x00MM\x00*\xff\xff\xff\xff")
    outcome = only(file)
    assert isinstance(outcome, UsableFile)
    assert (outcome.width, outcome.height) == (12, 9)


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".bmp", ".gif", ".avif", ".tif"])
def test_cut_short_is_noticed(tmp_path: Path, suffix: str) -> None:
    file = paint(tmp_path / f"a{suffix}", size=(64, 64))
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * 0.7)])
    assert reason(file)


def test_verify_alone_would_have_passed_a_cut_jpeg(tmp_path: Path) -> None:
    file = paint(tmp_path / "a.jpg", size=(64, 64))
    file.write_bytes(file.read_bytes()[:-900])
    with Image.open(file) as image:
        image.verify()
    assert "damaged or cut short" in reason(file)


def test_refusals_say_why(tmp_path: Path) -> None:
    text = tmp_path / "text.png"
    text.write_text("not an image")
    empty = tmp_path / "empty.png"
    empty.touch()
    moving = tmp_path / "moving.gif"
    noise(1).save(moving, save_all=True, append_images=[noise(2), noise(3)])
    assert "not an image that can be read" in reason(text)
    assert "0 bytes" in reason(empty)
    assert "holds 3 frames" in reason(moving)
    assert reason(tmp_path / "gone.png") == "no such file"
    assert reason(tmp_path) == "not a file"


@pytest.mark.parametrize("side", [10_001, 20_000, 60_000])
def test_bombs_are_refused_without_a_warning(tmp_path: Path, side: int) -> None:
    with warnings.catch_warnings(record=True) as escaped:
        warnings.simplefilter("always")
        assert "100 megapixels" in reason(bomb(tmp_path / "a.png", side))
    assert not escaped


def test_exactly_the_limit_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    Image.new("1", (10_000, 10_000)).save(file)
    assert isinstance(only(file), UsableFile)


def test_pillow_is_left_as_it_was(tmp_path: Path) -> None:
    before = Image.MAX_IMAGE_PIXELS
    inspect_files([paint(tmp_path / "a.png")])
    assert before == Image.MAX_IMAGE_PIXELS


def test_a_postscript_file_in_disguise_is_not_run(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    body = io.BytesIO()
    noise(1).save(body, "EPS")
    file.write_bytes(body.getvalue())
    assert "not an image that can be read" in reason(file)


def test_results_are_in_order_and_progress_is_told(tmp_path: Path) -> None:
    files = [paint(tmp_path / f"{i}.png", i, (5 + i, 5)) for i in range(20)]
    calls: list[tuple[int, int]] = []
    outcomes = inspect_files(files, lambda done, total: calls.append((done, total)))
    assert [o.width for o in outcomes if isinstance(o, UsableFile)] == list(range(5, 25))
    assert calls == [(i, 20) for i in range(1, 21)]


# Folders


def test_folders_become_tables(tmp_path: Path) -> None:
    paint(tmp_path / "in/photos/deep/one.JPG", 1)
    paint(tmp_path / "in/sdxl/two.png", 2, (20, 10))
    paint(tmp_path / "in/bad/three.png", 3)
    paint(tmp_path / "in/sdxl/.hidden/four.png", 4)
    (tmp_path / "in/sdxl/two.txt").write_text("a cat\n")
    sources = Sources(
        real=(tmp_path / "in/photos",),
        generated=(("sdxl", tmp_path / "in/sdxl"),),
        gold=(("bad", tmp_path / "in/bad"),),
    )
    intake = gather_images(sources, tmp_path / "study")
    assert intake.faults == ()
    assert intake.images.drop("sha256").rows() == [
        ("real/deep/one", "../in/photos/deep/one.JPG", "real", True, False, None, None, 12, 9),
        ("sdxl/two", "../in/sdxl/two.png", "sdxl", False, False, prompt_id("a cat"), None, 20, 10),
        ("bad/three", "../in/bad/three.png", "bad", False, True, None, None, 12, 9),
    ]
    assert intake.prompts.rows() == [(prompt_id("a cat"), "a cat")]
    for name, frame in (("images", intake.images), ("prompts", intake.prompts)):
        assert faults_in(frame, TABLES[name]) == []
    assert reference_faults(intake.images, TABLES["images"], {"prompts": intake.prompts}) == []
    assert not (tmp_path / "study").exists()


def test_prompt_id_is_the_hash_of_the_text() -> None:
    # printf 'a cat' | sha256sum | cut -c 1-12
    assert prompt_id("a cat") == hashlib.sha256(b"a cat").hexdigest()[:12]
    assert len(prompt_id("ein Bär")) == 12


def test_prompts_csv_goes_before_text_files(tmp_path: Path) -> None:
    for name in ("a", "sub/b", "c"):
        paint(tmp_path / f"g/{name}.png", ord(name[-1]))
        (tmp_path / f"g/{name}.txt").write_text("from the text file")
    (tmp_path / "g/prompts.csv").write_text('file,prompt,style\na.png,"a cat, asleep",photo\nsub/b.png,a dog,\n')
    intake = gather_images(Sources(generated=(("g", tmp_path / "g"),)), tmp_path / "study")
    assert intake.faults == ()
    assert [(entry.image, entry.prompt, entry.style) for entry in intake.entries] == [
        ("g/a", "a cat, asleep", "photo"),
        ("g/c", "from the text file", None),
        ("g/sub/b", "a dog", None),
    ]


@pytest.mark.parametrize("column", ["file", "image"])
def test_prompts_csv_names_files_by_either_column(tmp_path: Path, column: str) -> None:
    paint(tmp_path / "g/a.png")
    (tmp_path / "g/prompts.csv").write_text(f"{column},prompt\na.png,a cat\n")
    gathered = gather_images(Sources(generated=(("g", tmp_path / "g"),)), tmp_path / "study")
    assert gathered.faults == ()
    assert [entry.prompt for entry in gathered.entries] == ["a cat"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("file,prompt\nz.png,a cat\n", "lists 'z.png', which is no image here"),
        ("file,prompt\na.png,a cat\na.png,a dog\n", "lists 'a.png' more than once"),
        ("file\na.png\n", "column 'prompt' is missing"),
        ("file,prompt,mood\na.png,a cat,good\n", "column 'mood' is not known; known: file, prompt, style"),
        ("file,prompt\na.png,\n", "row 0: 'prompt' is blank"),
        ("", "cannot be read"),
    ],
)
def test_faults_of_prompts_csv(tmp_path: Path, content: str, expected: str) -> None:
    paint(tmp_path / "g/a.png")
    (tmp_path / "g/prompts.csv").write_text(content)
    (fault,) = gather_images(Sources(generated=(("g", tmp_path / "g"),)), tmp_path / "study").faults
    assert expected in fault


def test_all_faults_of_folders_are_in_one_list(tmp_path: Path) -> None:
    paint(tmp_path / "g/a.png", 1)
    paint(tmp_path / "g/a.jpg", 2)
    paint(tmp_path / "g/twin.png", 3)
    paint(tmp_path / "g/copy.png", 3)
    cut = paint(tmp_path / "g/cut.jpg", 4, (64, 64))
    cut.write_bytes(cut.read_bytes()[:-900])
    (tmp_path / "g/fake.png").write_text("text")
    (tmp_path / "g/drawn.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "g/latin.txt").write_bytes(b"caf\xe9")
    paint(tmp_path / "g/latin.png", 5)
    (tmp_path / "none").mkdir()
    sources = Sources(
        real=(tmp_path / "none", tmp_path / "gone", cut),
        generated=(
            ("g", tmp_path / "g"),
            ("g", tmp_path / "g"),
            ("real", tmp_path / "g"),
            ("../out", tmp_path / "g"),
        ),
    )
    intake = gather_images(sources, tmp_path / "study")
    text = "\n".join(intake.faults)
    for expected in (
        "generator 'g' is named 2 times",
        "a generator cannot be called 'real'",
        "generator '../out': use letters, digits",
        "none: no images here; looked for .png",
        "gone: no such folder",
        "cut.jpg: not a folder, nor a tar or Parquet file with images",
        "the same id 'g/a': ",
        "the same content: g/copy, g/twin",
        "cut.jpg: damaged or cut short",
        "fake.png: not an image that can be read",
        "drawn.svg: SVG is drawn by the browser",
        "latin.txt: cannot be read as UTF-8 text",
    ):
        assert expected in text
    assert len(set(intake.faults)) == len(intake.faults)


def test_nothing_given_and_nothing_to_judge(tmp_path: Path) -> None:
    assert gather_images(Sources(), tmp_path).faults == (
        "no images were given: name folders (generated, real), a manifest or generations",
    )
    paint(tmp_path / "r/a.png")
    (fault,) = gather_images(Sources(real=(tmp_path / "r",)), tmp_path / "study").faults
    assert "no generated images to be judged" in fault


def test_notes_tell_what_was_ignored_and_what_is_shared(tmp_path: Path) -> None:
    paint(tmp_path / "a/x.png", 1)
    paint(tmp_path / "b/x.png", 1)
    for name in ("meta.json", "more.json", "README"):
        (tmp_path / "a" / name).write_text("{}")
    intake = gather_images(Sources(generated=(("a", tmp_path / "a"), ("b", tmp_path / "b"))), tmp_path / "study")
    assert intake.faults == ()
    ignored, shared = intake.notes
    assert ignored.endswith("ignored what is no image (2 .json, 1 no suffix)")
    assert shared == "1 files are the same, byte for byte, under a and b"


def test_a_link_to_a_folder_is_told_and_not_followed(tmp_path: Path) -> None:
    paint(tmp_path / "g/a.png", 1)
    (tmp_path / "g/up").symlink_to(tmp_path)
    intake = gather_images(Sources(generated=(("g", tmp_path / "g"),)), tmp_path / "study")
    assert [entry.image for entry in intake.entries] == ["g/a"]
    assert intake.notes == (f"{tmp_path}/g/up: a link to a folder is not followed",)


def test_a_folder_that_cannot_be_searched_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", refuse)
    (fault,) = gather_images(Sources(generated=(("g", tmp_path),)), tmp_path / "study").faults
    assert "cannot be searched" in fault
    assert "Permission denied" in fault


def test_names_that_are_not_unicode_are_faults(tmp_path: Path) -> None:
    paint(tmp_path / "g/ok.png", 1)
    try:
        (tmp_path / "g/ok.png").rename(Path(f"{tmp_path}/g/caf\udce9.png"))
    except OSError:
        pytest.skip("the file system takes only UTF-8 names")
    (fault,) = gather_images(Sources(generated=(("g", tmp_path / "g"),)), tmp_path / "study").faults
    assert fault.endswith("the name is not valid UTF-8")
    fault.encode()


def test_copies_go_below_the_generator(tmp_path: Path) -> None:
    paint(tmp_path / "g/deep/a.png")
    intake = gather_images(Sources(generated=(("org/model", tmp_path / "g"),)), tmp_path / "study", copy=True)
    assert intake.images["path"].to_list() == ["images/org/model/deep/a.png"]
    assert intake.copies == {"images/org/model/deep/a.png": tmp_path / "g/deep/a.png"}


def test_stored_paths_hold_through_a_linked_study_folder(tmp_path: Path) -> None:
    paint(tmp_path / "g/a.png")
    (tmp_path / "far/away/study").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far/away/study")
    intake = gather_images(Sources(generated=(("g", tmp_path / "g"),)), tmp_path / "link")
    assert (tmp_path / "link" / intake.images["path"][0]).samefile(tmp_path / "g/a.png")


# Manifests


def manifest(folder: Path, text: str) -> Path:
    path = folder / "list.csv"
    path.write_text(text)
    return path


def test_a_manifest_in_csv_and_in_parquet(tmp_path: Path) -> None:
    for i, name in enumerate("abcd"):
        paint(tmp_path / f"in/{name}.png", i)
    text = (
        "path,generator,image,prompt,style,gold,real\n"
        "a.png,sdxl,first,a cat,photo,,\n"
        "b.png,real,,,,no,\n"
        "c.png,coco,,,,TRUE,yes\n"
        f"{tmp_path}/in/d.png,flux,,a cat,,0,false\n"
    )
    by_csv = gather_images(Sources(manifest=manifest(tmp_path / "in", text)), tmp_path / "study")
    frame = pl.read_csv(tmp_path / "in/list.csv").with_columns(
        gold=pl.Series([None, False, True, False]), real=pl.Series([None, None, True, False])
    )
    frame.write_parquet(tmp_path / "in/list.parquet")
    by_parquet = gather_images(Sources(manifest=tmp_path / "in/list.parquet"), tmp_path / "study")
    assert by_csv.faults == by_parquet.faults == ()
    assert by_csv.images.equals(by_parquet.images)
    assert by_csv.images.select("image", "path", "generator", "real", "gold", "style").rows() == [
        ("first", "../in/a.png", "sdxl", False, False, "photo"),
        ("real/b", "../in/b.png", "real", True, False, None),
        ("real/c", "../in/c.png", "real", True, True, None),
        ("flux/d", "../in/d.png", "flux", False, False, None),
    ]
    assert by_csv.prompts["text"].to_list() == ["a cat"]


def test_all_faults_of_a_manifest_are_in_one_list(tmp_path: Path) -> None:
    home = tmp_path / "in"
    paint(tmp_path / "outside.png", 1)
    paint(home / "a.png", 2)
    (home / "link.png").symlink_to(tmp_path / "outside.png")
    (home / "loop.png").symlink_to(home / "loop.png")
    rows = [
        "a.png,g,same,",
        "a.png,h,same,",
        "../outside.png,g,,",
        "link.png,g,,",
        "loop.png,g,,",
        "gone.png,g,,",
        "a.svg,g,,",
        "a.txt,g,,",
        "a.png,g,,maybe",
        ",g,,",
        "a.png,,,",
        "a.png,real,,false",
    ]
    path = manifest(home, "path,generator,image,real\n" + "\n".join(rows) + "\n")
    faults = gather_images(Sources(manifest=path), tmp_path / "study").faults
    text = "\n".join(faults)
    for expected in (
        "the same id 'same': ",
        "row 2: '../outside.png' leads out of the manifest's folder",
        "row 3: 'link.png' leads out of the manifest's folder",
        "gone.png: no such file",
        "row 6: 'a.svg': SVG is drawn by the browser",
        "row 7: 'a.txt': '.txt' is not taken as an image",
        "row 8: 'real' is 'maybe', expected true or false",
        "row 9: 'path' is blank",
        "row 10: 'generator' is blank",
        "row 11: the generator is 'real', yet 'real' is false",
    ):
        assert expected in text
    assert "loop.png" in text


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "list.csv",
            "path,generator,mood\na.png,g,good\n",
            "column 'mood' is not known; known: path, generator, image",
        ),
        ("list.csv", "file,generator\na.png,g\n", "column 'path' is missing"),
        ("list.csv", "path,generator\n", "lists no images"),
        ("list.csv", "", "cannot be read"),
        ("list.csv", "path,generator\na.png,g,h,i\n", "cannot be read"),
        ("list.parquet", "nonsense", "cannot be read"),
        ("list.json", "{}", "a manifest is a .csv or a .parquet file"),
    ],
)
def test_a_manifest_that_is_none(tmp_path: Path, name: str, content: str, expected: str) -> None:
    paint(tmp_path / "a.png")
    (tmp_path / name).write_text(content)
    assert expected in "\n".join(gather_images(Sources(manifest=tmp_path / name), tmp_path / "study").faults)


def test_a_missing_manifest(tmp_path: Path) -> None:
    (fault,) = gather_images(Sources(manifest=tmp_path / "gone.csv"), tmp_path / "study").faults
    assert "gone.csv: cannot be read" in fault


def test_a_generator_in_a_folder_and_in_the_manifest(tmp_path: Path) -> None:
    paint(tmp_path / "in/a.png", 1)
    paint(tmp_path / "g/b.png", 2)
    path = manifest(tmp_path / "in", "path,generator\na.png,g\n")
    sources = Sources(generated=(("g", tmp_path / "g"),), manifest=path)
    (fault,) = gather_images(sources, tmp_path / "study").faults
    assert "generator 'g' is named 2 times" in fault


def test_two_images_for_one_place_of_the_copy(tmp_path: Path) -> None:
    paint(tmp_path / "in/b/c.png", 1)
    paint(tmp_path / "in/c.png", 2)
    path = manifest(tmp_path / "in", "path,generator,image\nb/c.png,a,one\nc.png,a/b,two\n")
    assert gather_images(Sources(manifest=path), tmp_path / "study").faults == ()
    (fault,) = gather_images(Sources(manifest=path), tmp_path / "study", copy=True).faults
    assert fault == "the same place for the copy 'images/a/b/c.png': one, two"
