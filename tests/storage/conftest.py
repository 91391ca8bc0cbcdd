"""One S3-compatible server for all tests of storage.

They share a bucket: the server keeps volumes for each, and has few.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.storage.s3_server import s3_server

from beholder.cli.main import main


@pytest.fixture(scope="session")
def s3_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with s3_server(tmp_path_factory.mktemp("s3")) as variables:
        yield variables


@pytest.fixture
def one_machine(s3_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of the server, and the cache of a machine that has fetched nothing yet."""
    for name, text in s3_environment.items():
        monkeypatch.setenv(name, text)
    cache = tmp_path / "cache of one machine"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return cache


@pytest.fixture
def study(one_machine: Path) -> Path:
    """A study of two generators on this machine, whose images are in folders beside it."""
    tmp_path = one_machine.parent
    folder, generated = tmp_path / "study", []
    for shade, generator in enumerate(("aurora", "borealis")):
        images = tmp_path / generator
        images.mkdir()
        for number in range(4):
            Image.new("RGB", (8, 8), (40 * number, 99 * shade, 0)).save(images / f"{number}.png")
        rows = [f"{number}.png,a red circle and {number} dots" for number in range(4)]
        (images / "prompts.csv").write_text("\n".join(["file,prompt", *rows]) + "\n")
        generated.append(f"--generated={generator}={images}")
    assert main(["new", "mos", str(folder), *generated, "--raters", "5", "--trials", "8"]) == 0
    return folder
