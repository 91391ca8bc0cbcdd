"""Repositories of a hub that is served on this machine: fetched by its own client, scored, and never written."""

import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from huggingface_hub import constants
from PIL import Image

from beholder.cli.main import main
from beholder.errors import StorageError
from beholder.storage.hub_address import HubAddress, hub_address, is_hub

COMMIT = "0123456789" * 4
ADDRESS = "hf://datasets/lab/pictures"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of the dataset ``lab/pictures``, and a server that answers for them as the hub does."""
    folder = tmp_path / "repository"
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "README.md").write_text("# Pictures\n")
    for number, name in enumerate(("data/0.png", "data/deep/1.png", "other.png")):
        Image.new("RGB", (8, 8), (80 * number, 40, 0)).save(folder / name)

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
            if path.startswith("/api/datasets/lab/pictures/tree/"):
                sizes = [(name, (folder / name).stat().st_size) for name in names]
                self.reply(
                    json.dumps([{"type": "file", "path": n, "size": s, "oid": "0"} for n, s in sizes]).encode()
                )
            elif path.startswith("/api/datasets/lab/pictures"):
                siblings = [{"rfilename": name} for name in names]
                self.reply(json.dumps({"id": "lab/pictures", "sha": COMMIT, "siblings": siblings}).encode())
            elif path.startswith(f"/datasets/lab/pictures/resolve/{COMMIT}/"):
                self.reply((folder / path.partition(f"{COMMIT}/")[2]).read_bytes())
            else:
                self.reply(b"", 404)

        def do_HEAD(self) -> None:
            self.do_GET()

        def reply(self, content: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            if status == 404:
                self.send_header("X-Error-Code", "RepoNotFound")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        endpoint = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache of the hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield folder
        server.shutdown()


def brightness(capsys: pytest.CaptureFixture[str], place: str) -> list[float]:
    capsys.readouterr()
    assert main(["score", place, "--scorer", "brightness", "--json"]) == 0
    return [row["brightness"] for row in json.loads(capsys.readouterr().out)["scores"]]


def test_a_repository_is_a_source_of_images(hub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert brightness(capsys, ADDRESS) == brightness(capsys, str(hub))
    assert brightness(capsys, f"{ADDRESS}@main/data") == brightness(capsys, str(hub / "data"))
    assert brightness(capsys, f"{ADDRESS}/other.png") == brightness(capsys, str(hub / "other.png"))
    assert main(["copy", f"{ADDRESS}/data", str(tmp_path / "copied")]) == 0
    assert (tmp_path / "copied" / "deep" / "1.png").read_bytes() == (hub / "data" / "deep" / "1.png").read_bytes()


def test_what_is_not_there_is_said_in_a_sentence(hub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hub.is_dir()
    assert main(["score", "hf://datasets/lab/nothing", "--scorer", "brightness"]) == 2
    assert "hf://datasets/lab/nothing cannot be fetched from the Hugging Face hub" in capsys.readouterr().err
    assert main(["score", f"{ADDRESS}/nowhere", "--scorer", "brightness"]) == 2
    assert "has nothing at 'nowhere'" in capsys.readouterr().err


def test_nothing_is_written_to_the_hub(hub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    distance = ["distance", str(hub), str(hub), "--metric", "kernel", "--encoder", "pixel-statistics"]
    assert main([*distance, "--features", ADDRESS]) == 2
    assert f"{ADDRESS} is only read" in capsys.readouterr().err
    assert brightness(capsys, ADDRESS) == brightness(capsys, str(hub))
    cached = Path(constants.HF_HUB_CACHE, "datasets--lab--pictures", "snapshots", COMMIT)
    assert not [path for path in cached.rglob("*") if path.is_file() and not path.is_symlink()]
    assert main(["copy", str(hub), ADDRESS]) == 2
    assert "the hub is only read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("hf://datasets/lab/images@v1/data/train", HubAddress("dataset", "lab/images", "v1", "data/train")),
        ("hf://lab/model", HubAddress("model", "lab/model", None, "")),
        ("hf://spaces/lab/demo/", HubAddress("space", "lab/demo", None, "")),
    ],
)
def test_the_parts_of_an_address(address: str, parts: HubAddress) -> None:
    assert is_hub(address)
    assert hub_address(address) == parts


@pytest.mark.parametrize("address", ["hf://datasets/lab", "hf://lab", "hf://datasets/lab/x/../../y"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(StorageError, match="expected hf://datasets/OWNER/NAME/PATH"):
        hub_address(address)
