"""Served images: encoded in advance, complete or by ranges, and broken ones reported."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.collect.conftest import SCREEN
from tests.collect.server.test_serving import free_port, process

from beholder.collect.database.address import default_url
from beholder.collect.display import served_images as pictures
from beholder.collect.display.cache import CACHE, take_lock
from beholder.collect.display.fill_cache import filling
from beholder.collect.server.serve import note_ready
from beholder.collect.server.service import Service
from beholder.errors import RefusedError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]
StudyFolder = Callable[..., Path]

QUESTION = RealismQuestion(name="q", design=Design(raters=2, trials=12))
IMAGES = 12 * 5  # three generators, gold and real ones


def first_image(visitor: Any) -> str:  # noqa: ANN401 - of conftest.py
    return f"/api/image/{visitor.trial['images'][0]['token']}"


def encoded(folder: Path) -> list[Path]:
    return sorted((folder / CACHE).glob("*.webp"))


def wait_until(happened: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class TestRequests:
    def test_head_has_the_headers_of_get_and_no_body(self, serve: Serve) -> None:
        visitor = serve(QUESTION).visitor().begin()
        got, head = visitor.client.get(first_image(visitor)), visitor.client.head(first_image(visitor))
        assert head.status_code == got.status_code == 200
        assert head.content == b""
        for name in ("content-length", "content-type", "cache-control", "accept-ranges"):
            assert head.headers[name] == got.headers[name]
        assert visitor.client.head("/api/image/" + "0" * 32).status_code == 404

    def test_one_range_is_served(self, serve: Serve) -> None:
        visitor = serve(QUESTION).visitor().begin()
        content = visitor.client.get(first_image(visitor)).content
        size = len(content)
        for asked_range, part in {
            "bytes=0-9": slice(0, 10),
            "bytes=5-": slice(5, size),
            "bytes=-7": slice(size - 7, size),
            f"bytes=-{size + 100}": slice(0, size),
            f"bytes=3-{size + 100}": slice(3, size),
            f"bytes={size - 1}-": slice(size - 1, size),
        }.items():
            reply = visitor.client.get(first_image(visitor), headers={"Range": asked_range})
            assert reply.status_code == 206
            assert reply.content == content[part]
            assert reply.headers["content-range"] == f"bytes {part.start}-{part.stop - 1}/{size}"

    def test_a_range_beyond_the_end_is_refused(self, serve: Serve) -> None:
        visitor = serve(QUESTION).visitor().begin()
        size = len(visitor.client.get(first_image(visitor)).content)
        for beyond in (f"bytes={size}-", "bytes=99999999-", "bytes=-0"):
            reply = visitor.client.get(first_image(visitor), headers={"Range": beyond})
            assert reply.status_code == 416
            assert reply.headers["content-range"] == f"bytes */{size}"

    @pytest.mark.parametrize("nonsense", ["bytes=9-3", "bytes=0-1,4-5", "bytes=-", "items=0-4", "x", "bytes=²-"])
    def test_what_is_no_single_range_gets_the_whole(self, serve: Serve, nonsense: str) -> None:
        visitor = serve(QUESTION).visitor().begin()
        content = visitor.client.get(first_image(visitor)).content
        reply = visitor.client.get(first_image(visitor), headers={"Range": nonsense.encode()})
        assert (reply.status_code, reply.content) == (200, content)
        both = {"Range": "bytes=0-4", "If-Range": '"some"'}
        assert visitor.client.get(first_image(visitor), headers=both).content == content

    def test_an_image_may_be_kept_by_the_browser_and_a_refusal_may_not(self, serve: Serve) -> None:
        visitor = serve(QUESTION).visitor().begin()
        assert visitor.client.get(first_image(visitor)).headers["cache-control"].startswith("private, max-age")
        assert visitor.client.get("/api/image/none").headers["cache-control"] == "no-store"


class TestFilling:
    def test_no_image_is_encoded_at_a_request(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        served = serve(QUESTION)
        assert len(encoded(served.folder)) == IMAGES

        def refuse(*_: object) -> bytes:
            raise AssertionError("an image was encoded at a request")

        monkeypatch.setattr(pictures, "encode", refuse)
        visitor = served.visitor().begin()
        while visitor.state["step"] == "trial":
            assert visitor.client.get(first_image(visitor)).status_code == 200
            visitor.answer()

    def test_until_all_are_encoded_every_request_is_told_to_wait(self, serve: Serve) -> None:
        served = serve(QUESTION)
        lock = take_lock(served.folder)
        assert lock is not None
        assert take_lock(served.folder) is None
        encoded(served.folder)[0].unlink()
        visitor = served.visitor().begin()
        reply = visitor.client.get(first_image(visitor))
        assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "preparing")
        assert reply.headers["retry-after"] == "1"
        assert reply.headers["cache-control"] == "no-store"
        prepared = served.service.images.cache_progress()
        assert (prepared.done, prepared.total, prepared.filling) == (IMAGES - 1, IMAGES, True)
        os.close(lock)
        wait_until(lambda: visitor.client.get(first_image(visitor)).status_code == 200)

    def test_processes_fill_what_is_missing_and_nothing_else(self, study_folder: StudyFolder) -> None:
        folder = study_folder(QUESTION)
        images = Service(folder, default_url(folder)).images
        with filling(images):
            wait_until(lambda: len(encoded(folder)) == IMAGES)
            wait_until(lambda: not images.cache_progress().filling)
        before = {file: file.stat().st_mtime_ns for file in encoded(folder)}
        removed = encoded(folder)[::7]
        for file in removed:
            file.unlink()
        (folder / CACHE / ".killed.tmp").write_bytes(b"half")
        images = Service(folder, default_url(folder)).images
        with filling(images):
            wait_until(lambda: not images.cache_progress().filling)
        after = {file: file.stat().st_mtime_ns for file in encoded(folder)}
        assert {file for file in before if after[file] != before[file]} == set(removed)
        assert {file.suffix for file in (folder / CACHE).iterdir()} == {".webp", ".lock"}

    def test_an_encoder_whose_server_was_killed_ends_without_a_word(self, tmp_path: Path) -> None:
        encoder = subprocess.Popen(
            [sys.executable, "-m", "beholder.collect.display.encoder"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert encoder.stdin
        assert encoder.stdout
        encoder.stdout.close()
        job = {"path": str(tmp_path / "none.png"), "file": "x", "side": 8, "quality": 90, "background": "#7f7f7f"}
        with suppress(BrokenPipeError):
            encoder.stdin.write(f"{json.dumps(job)}\n".encode())
            encoder.stdin.close()
        assert encoder.stderr
        assert encoder.stderr.read() == b""
        encoder.stderr.close()
        assert encoder.wait(timeout=60) == 0

    def test_processes_encode_as_the_server_would(self, serve: Serve) -> None:
        served = serve(QUESTION)
        alone = {file.name: file.read_bytes() for file in encoded(served.folder)}
        shutil.rmtree(served.folder / CACHE)
        images = Service(served.folder, served.url).images
        with filling(images):
            wait_until(lambda: not images.cache_progress().filling)
        assert {file.name: file.read_bytes() for file in encoded(served.folder)} == alone

    def test_a_server_waits_for_the_filling_and_a_killed_one_leaves_nothing_that_hinders_the_next(
        self, study_folder: StudyFolder
    ) -> None:
        folder, port = study_folder(QUESTION), free_port()
        with process(folder, port) as server:
            wait_until(lambda: len(encoded(folder)) > 0)
            server.send_signal(signal.SIGKILL)
        wait_until(lambda: not encoders_of(folder))
        modified = {file: file.stat().st_mtime_ns for file in encoded(folder)}
        with process(folder, port):
            wait_until(lambda: len(encoded(folder)) == IMAGES)
            address = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=address) as client:
                token = begun(client)[0]
                wait_until(lambda: client.get(f"/api/image/{token}").status_code == 200)
        assert {file: file.stat().st_mtime_ns for file in modified} == modified


class TestBrokenFiles:
    def test_all_are_told_of_and_can_be_skipped(self, serve: Serve) -> None:
        served = serve(QUESTION)
        shutil.rmtree(served.folder / CACHE)
        with closing(sqlite3.connect(served.folder / "collect.sqlite")) as database:
            names = [name for (name,) in database.execute("select image from pictures order by image")]
            (served.folder / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
            database.execute("update pictures set path = 'gone.png' where image = ?", names[:1])
            database.execute("update pictures set path = 'cut.png' where image = ?", names[1:2])
            database.commit()
        service = Service(served.folder, served.url)
        with filling(service.images):
            wait_until(lambda: not service.images.cache_progress().filling)
        prepared = service.images.cache_progress()
        assert (prepared.done, prepared.unstored) == (IMAGES - 2, 0)
        assert sorted(prepared.broken) == names[:2]
        assert prepared.broken[names[0]] == "no such file"
        for name in names[:2]:
            with pytest.raises(RefusedError) as refused:
                service.images.content(name)
            assert (refused.value.status, refused.value.code) == (404, "broken-image")
        assert service.images.content(names[2])[:4] == b"RIFF"

    def test_they_are_listed_where_the_server_was_started(self, study_folder: StudyFolder) -> None:
        folder, port = study_folder(QUESTION), free_port()
        note_ready(folder, default_url(folder))
        with closing(sqlite3.connect(folder / "collect.sqlite")) as database:
            database.execute("update pictures set path = 'gone.png' where image like '%/00'")
            database.commit()
        command = [sys.executable, "-m", "beholder", "collect", str(folder), "--port", str(port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            wait_until((folder / CACHE / "broken.json").exists)
            server.send_signal(signal.SIGTERM)
            warned = server.communicate(timeout=60)[1]
        assert "5 images cannot be shown; raters can skip them:" in warned
        assert warned.count("gone.png: no such file") == 5
        assert len(json.loads((folder / CACHE / "broken.json").read_text(encoding="utf-8"))) == 5

    def test_an_image_that_kills_its_process_is_broken_and_the_others_are_not(
        self, study_folder: StudyFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        folder = study_folder(QUESTION)
        images = Service(folder, default_url(folder)).images
        victim = sorted(images.missing(), key=lambda job: job.image)[0]
        (tmp_path / "patch").mkdir()
        (tmp_path / "patch" / "sitecustomize.py").write_text(
            "import os, sys\n"
            "from pathlib import Path\n"
            "from PIL import Image\n"
            "first = Image.open\n"
            "def opened(file, *rest, **others):\n"
            f"    if file.getvalue() == Path({str(victim.path)!r}).read_bytes(): os.kill(os.getpid(), 9)\n"
            "    return first(file, *rest, **others)\n"
            "Image.open = opened\n",
            encoding="utf-8",
        )
        before = os.environ.get("PYTHONPATH", "")
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'patch'}{os.pathsep}{before}")
        with filling(images):
            wait_until(lambda: not images.cache_progress().filling)
        prepared = images.cache_progress()
        assert list(prepared.broken) == [victim.image]
        assert prepared.done == IMAGES - 1

    def test_a_file_of_the_cache_that_was_cut_short_is_encoded_again(self, serve: Serve) -> None:
        served = serve(QUESTION)
        contents = {file: file.read_bytes() for file in encoded(served.folder)}
        for file, content in contents.items():
            file.write_bytes(content[: len(content) // 2])
        visitor = served.visitor().begin()
        reply = visitor.client.get(first_image(visitor))
        assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "preparing")
        wait_until(lambda: visitor.client.get(first_image(visitor)).status_code == 200)
        assert visitor.client.get(first_image(visitor)).content in contents.values()


def encoders_of(folder: Path) -> list[str]:
    """Processes that still encode, by the temporary files they could leave."""
    return [file.name for file in (folder / CACHE).glob(".*.tmp")]


def begun(client: httpx.Client) -> list[str]:
    """Go to the first trial; the tokens of its image and of those that may be fetched ahead."""
    state = client.post("/api/enter", json={"parameters": {}, "path": "/", "language": "en"}).json()
    consent = {name: state["consent"][name] for name in ("hash", "version", "language")}
    client.post("/api/consent", json=consent | {"agreed": True})
    client.post("/api/check", json=SCREEN)
    trial = client.post("/api/begin", json={}).json()["trial"]
    return [*(image["token"] for image in trial["images"]), *trial["prefetch"]]
