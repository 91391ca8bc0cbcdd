"""A full disk: images come from memory, nothing half-written is left, and the researcher is warned."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.collect.display.test_images import begun, wait_until

from beholder.cli.main import main
from beholder.collect.database.address import default_url
from beholder.collect.display import cache
from beholder.collect.display.cache import CACHE
from beholder.collect.exchange.export import export
from beholder.collect.researcher.exports import write_export
from beholder.collect.researcher.snapshot import snapshot
from beholder.collect.server import disk
from beholder.collect.server.application import create_app
from beholder.collect.server.service import Service
from beholder.collect.simulate.rehearsal import listening
from beholder.errors import NoRoomError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]
StudyFolder = Callable[..., Path]

QUESTION = RealismQuestion(name="q", design=Design(raters=2, trials=12))
Usage = namedtuple("Usage", "total used free")
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a small file system cannot be mounted here: {error}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill_up(folder: Path) -> None:
    """Leave not a byte."""
    with (folder / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
        while True:
            ballast.write(b"\1" * 65536)
    with (folder / "ballast").open("ab", buffering=0) as ballast, suppress(OSError):
        while True:
            ballast.write(b"\1")


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def temporary_files(folder: Path) -> list[str]:
    return [name for name in files_below(folder) if Path(name).name.startswith(".") or name.endswith(".tmp")]


def fetch(client: httpx.Client, token: str) -> list[int]:
    """Ask for an image as the page does; the status of every reply."""
    codes = []
    for _ in range(100):
        codes.append(client.get(f"/api/image/{token}").status_code)
        if codes[-1] != 503:
            break
        time.sleep(0.05)
    return codes


def sign_in(served_client: httpx.Client, service: Service) -> None:
    served_client.get(f"/researcher?token={service.catalogue.secret('researcher')}", follow_redirects=True)


class TestImages:
    def test_they_come_from_memory_and_nothing_is_left_behind(
        self, serve: Serve, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        served = serve(QUESTION)
        shutil.rmtree(served.folder / CACHE)
        monkeypatch.setattr("os.fdopen", failing_file)
        visitor = served.visitor().begin()
        codes: list[int] = []
        while visitor.state["step"] == "trial":
            codes += fetch(visitor.client, visitor.trial["images"][0]["token"])
            visitor.answer()
        assert codes.count(200) == 12
        assert set(codes) == {200, 503}
        assert list((served.folder / CACHE).iterdir()) == []

    def test_memory_is_bounded(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        served = serve(QUESTION)
        monkeypatch.setattr("beholder.collect.display.served_images.REMEMBERED_BYTES", 5_000)
        shutil.rmtree(served.folder / CACHE)
        monkeypatch.setattr("os.fdopen", failing_file)
        served.service.images.fill()
        remembered = served.service.images._remembered
        assert 0 < sum(map(len, remembered.values())) <= 5_000

    def test_the_last_of_the_disk_is_left_to_answers(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 0, 16_000_100))
        cache.store(tmp_path / "a.webp", b"x" * 100)
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            cache.store(tmp_path / "b.webp", b"x" * 101)
        assert files_below(tmp_path) == {"a.webp"}


def failing_file(handle: int, *_: object) -> Any:  # noqa: ANN401 - stands for a file
    """A file of a full disk: it can be opened, and nothing else."""
    os.close(handle)
    raise FULL


class TestARealDisk:
    def test_images_are_served_answers_wait_and_the_researcher_is_warned(
        self, small_disk: Path, study_folder: StudyFolder
    ) -> None:
        folder = small_disk / "study"
        shutil.copytree(study_folder(QUESTION), folder)
        before = files_below(folder)
        app = create_app(folder, default_url(folder), limited=False, fill=False)
        service: Service = app.state.service
        with listening(app) as address, httpx.Client(base_url=address, timeout=30) as client:
            sign_in(client, service)
            tokens = begun(client)
            fill_up(small_disk)
            codes = [code for token in tokens for code in fetch(client, token)]
            assert codes.count(200) == len(tokens) == 4
            assert set(codes) <= {200, 503}
            began = time.monotonic()
            warned = client.get("/researcher/api/warnings").json()["warnings"]
            assert time.monotonic() - began < disk.EVERY_SECONDS
            assert any("is full: no answer can be stored" in line for line in warned)
            shown_disk = client.get("/researcher/api/overview").json()["disk"]
            assert shown_disk["low"]
            assert shown_disk["free"] < 1_000_000
        service.database.engine.dispose()
        left = files_below(folder) - before - {"cache", "collect.sqlite-wal", "collect.sqlite-shm"}
        assert left == set()
        assert temporary_files(small_disk) == []

    def test_who_cannot_be_signed_in_is_told_why(self, small_disk: Path, study_folder: StudyFolder) -> None:
        folder = small_disk / "study"
        shutil.copytree(study_folder(QUESTION), folder)
        app = create_app(folder, default_url(folder), limited=False)
        with listening(app) as address, httpx.Client(base_url=address, timeout=30) as client:
            fill_up(small_disk)
            token = app.state.service.catalogue.secret("researcher")
            page = client.get("/researcher", params={"token": token})
            assert page.status_code == 503
            assert page.headers["content-type"].startswith("text/html")
            assert "Nobody can sign in now: the disk is full" in page.text

    def test_the_final_export_fails_in_one_sentence_with_nothing_half_written(
        self, small_disk: Path, serve: Serve
    ) -> None:
        served = serve(QUESTION)
        served.visitor().begin().walk()
        folder = small_disk / "study"
        served.service.database.engine.dispose()
        shutil.copytree(served.folder, folder)
        export(folder, default_url(folder))
        before = {path: path.read_bytes() for path in (folder / "tables").iterdir()}
        fill_up(small_disk)
        done = subprocess.run(
            [sys.executable, "-m", "beholder.collect.exchange.export", str(folder)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"BEHOLDER_DATABASE": default_url(folder)},
        )
        assert done.returncode == 2
        assert done.stderr.startswith("error: the disk is full") or "database cannot be used now" in done.stderr
        assert done.stderr.count("\n") == 1
        assert {path: path.read_bytes() for path in (folder / "tables").iterdir()} == before

    @pytest.mark.parametrize("out", ["csv", "all.zip"])
    def test_so_does_an_export_to_a_full_disk(
        self, small_disk: Path, serve: Serve, capsys: pytest.CaptureFixture[str], out: str
    ) -> None:
        served = serve(QUESTION)
        served.visitor().begin().walk()
        fill_up(small_disk)
        before = files_below(small_disk)
        format_name = "csv" if out == "csv" else "parquet"
        code = main(["export", str(served.folder), "--format", format_name, "--out", str(small_disk / out)])
        assert code == 2
        message = capsys.readouterr().err
        assert (
            message == f"error: the disk is full: {small_disk / out} was not written. Make room, and try again.\n"
        )
        assert files_below(small_disk) == before

    def test_and_a_download_from_the_researchers_page(
        self, small_disk: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        served = serve(QUESTION)
        served.visitor().begin().walk()
        client = served.client()
        sign_in(client, served.service)
        monkeypatch.setenv("TMPDIR", str(small_disk))
        monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
        fill_up(small_disk)
        for path in ("export/csv", "export/parquet"):
            reply = client.get(f"/researcher/api/{path}")
            assert reply.status_code in (503, 507), (path, reply.text)
            assert reply.json()["detail"]["code"] == "disk-full"
            assert "disk is full" in reply.json()["detail"]["message"]
        assert files_below(small_disk) == {"ballast"}
        with pytest.raises(NoRoomError, match="the disk is full"), snapshot(served.folder, served.url):
            pytest.fail("a snapshot was made on a full disk")
        assert files_below(small_disk) == {"ballast"}


class TestWithoutADisk:
    """The same by a stand-in, for machines where nothing can be mounted."""

    def test_tables_are_all_or_none(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        served = serve(QUESTION)
        served.visitor().begin().walk()
        before = files_below(served.folder)

        def full(_: int) -> None:
            raise FULL

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(NoRoomError, match=r"the disk is full: .*tables was not written"):
            export(served.folder, served.url)
        assert files_below(served.folder) == before

    def test_files_of_an_export_are_all_or_none(
        self, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        served = serve(QUESTION)
        served.visitor().begin().walk()
        out = tmp_path / "out" / "files"
        write_text = Path.write_text

        def full(path: Path, *rest: Any, **others: Any) -> int:  # noqa: ANN401 - passed on
            write_text(path, *rest, **others)
            raise FULL

        monkeypatch.setattr(Path, "write_text", full)
        with pytest.raises(NoRoomError):
            write_export(served.folder, served.url, "jspsych", out)
        assert files_below(tmp_path / "out") == set()

    def test_a_full_disk_is_logged_once_until_there_was_room(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        free = [10**6, 10**9, 10**7, 10**8, 10**9]  # from the last to the first, then none
        monkeypatch.setattr(disk, "EVERY_SECONDS", 0.01)
        monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(10**10, 0, free.pop() if free else 0))
        with disk.disk_watched(tmp_path):
            wait_until(lambda: not free)
        assert [record.getMessage().split(" are free")[0] for record in caplog.records] == [
            "Only 100.0 MB",
            "Only 1.0 MB",
        ]
