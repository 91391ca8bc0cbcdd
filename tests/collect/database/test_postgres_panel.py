"""A panel on PostgreSQL, served by several processes; skipped where PostgreSQL is not installed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import polars as pl
import pytest
from sqlalchemy import create_engine, select, text
from tests.collect.conftest import SCREEN, Visitor
from tests.collect.database.conftest import needs_postgres
from tests.collect.panel.conftest import rename
from tests.collect.server.test_serving import free_port

from beholder.collect.panel.logins import make_links
from beholder.collect.panel.open_log import read_log
from beholder.collect.panel.opening import open_study
from beholder.collect.panel.rules_page import propose_as_rater
from beholder.collect.panel.schema import open_panel, raters, work
from beholder.collect.panel.server.new_studies import prepare_study
from beholder.collect.panel.study_database import schema_of, study_url
from beholder.errors import StageError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.study.study import load_study
from beholder.tables.store import Store

pytestmark = needs_postgres

StudyFolder = Callable[..., Path]
REALISM = RealismQuestion(name="q", design=Design(raters=6, trials=3, gold_every=3))


@contextmanager
def serving(folder: Path, url: str) -> Iterator[str]:
    """Serve the panel by two processes, as a user does; yields the address."""
    port = free_port()
    command = ("panel", "serve", folder, "--database", url, "--processes", "2", "--port", str(port))
    log = folder / "served.txt"
    with log.open("w") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "beholder", *map(str, command)], stdout=out, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(lambda: _answers(f"{address}/api/health"), server, log)
            yield address
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=90)
    assert server.returncode == 0, log.read_text()


def _answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def _wait(condition: Callable[[], bool], server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.2)


def _client(address: str, link: str, stack: ExitStack) -> httpx.Client:
    """A rater with several connections, which the processes take in turn."""
    client = stack.enter_context(httpx.Client(base_url=address, timeout=60, headers={"connection": "close"}))
    assert client.post("/api/enter", json={"link": link.removeprefix("/i/")}).status_code == 200
    return client


def _walk(client: httpx.Client, study: str, folder: Path, url: str) -> Visitor:
    csrf = client.get("/api/me").json()["csrf"]
    reply = client.post("/api/take", json={"study": study}, headers={"X-Beholder-CSRF": csrf})
    assert reply.status_code == 200, reply.text
    engine = create_engine(study_url(url, study, folder))

    def ponder() -> None:
        with engine.begin() as connection:
            connection.execute(text("update sessions set presented = presented - 30"))

    class Prefixed:
        def post(self, path: str, **settings: object) -> httpx.Response:
            return client.post(f"/s/{study}{path}", **settings)  # type: ignore[arg-type]

    visitor = Visitor(Prefixed(), load_study(folder), ponder=ponder)  # type: ignore[arg-type]
    assert visitor.enter().status_code == 200
    visitor.consent()
    visitor.post("check", **SCREEN)
    visitor.walk()
    engine.dispose()
    return visitor


def test_two_processes_serve_two_studies_one_of_them_opened_later(
    clean: str, study_folder: StudyFolder, tmp_path: Path
) -> None:
    panel = tmp_path / "panel"
    database = open_panel(panel, clean, create=True)
    folders = {}
    for name in ("faces", "later"):
        folders[name] = study_folder(REALISM, name=name)
        rename(folders[name], name)
        for stale in folders[name].glob("collect.sqlite*"):
            stale.unlink()
    with database.writing() as connection:
        open_study(connection, folders["faces"], researcher="ada", now=time.time())
        links = make_links(connection, 3, note="", now=time.time())
    plain = re.sub(r"\+psycopg", "", clean)
    with ExitStack() as stack, serving(panel, plain) as address:
        first = _client(address, links[0], stack)
        assert _walk(first, "faces", folders["faces"], clean).state["done"]["outcome"] == "complete"
        with database.writing() as connection:
            open_study(connection, folders["later"], researcher="ada", now=time.time())
        until = time.monotonic() + 90
        streak = 0
        while streak < 8:  # both processes offer it
            listed = {offer["study"] for offer in first.get("/api/me").json()["offers"]}
            streak = streak + 1 if "later" in listed else 0
            assert time.monotonic() < until
            time.sleep(0.1)
        second = _client(address, links[1], stack)
        for client in (first, second):
            assert _walk(client, "later", folders["later"], clean).state["done"]["outcome"] == "complete"
    sizes = {name: Store(folder).read("answers") for name, folder in folders.items()}
    assert {name: frame.height for name, frame in sizes.items()} == {"faces": 4, "later": 8}
    assert sizes["later"].group_by("session").len()["len"].to_list() == [4, 4]
    assert not any((folder / "collect.sqlite").exists() for folder in folders.values())
    with database.reading() as connection:
        held = connection.execute(select(work)).all()
        assert len({row.rater for row in held}) == 2
        assert sorted((row.study, row.status, row.trials) for row in held) == [
            ("faces", "complete", 4),
            *[("later", "complete", 4)] * 2,
        ]
    engine = create_engine(clean)
    with engine.connect() as connection:
        query = "select table_name from information_schema.tables where table_schema = :schema"
        in_study = set(connection.scalars(text(query), {"schema": schema_of("faces")}))
        in_panel = set(connection.scalars(text(query), {"schema": "public"}))
    engine.dispose()
    database.engine.dispose()
    assert "responses" in in_study - in_panel
    assert {"raters", "postings", "contacts"} <= in_panel - in_study
    assert isinstance(sizes["faces"], pl.DataFrame)


def test_the_log_stays_a_chain_when_many_write_at_once(clean: str, tmp_path: Path) -> None:
    databases = [open_panel(tmp_path, clean, create=True) for _ in range(2)]
    with databases[0].writing() as connection:
        for number in range(12):
            connection.execute(raters.insert().values(rater=f"p-{number}", joined=0.0, simulated=False))

    def propose(number: int) -> int:
        with databases[number % 2].writing() as connection:
            return propose_as_rater(connection, f"p-{number}", f"Rule {number}", "x", now=1e9)

    with ThreadPoolExecutor(12) as pool:
        numbers = list(pool.map(propose, range(12)))
    assert sorted(numbers) == list(range(1, 13))
    with databases[0].reading() as connection:
        assert sum(entry.kind == "proposal" for entry in read_log(connection)) == 12
    for database in databases:
        database.engine.dispose()


def test_answers_in_the_folder_are_not_left_behind(clean: str, study_folder: StudyFolder) -> None:
    folder = study_folder(REALISM, name="faces")
    (folder / "collect.sqlite").touch()
    with pytest.raises(StageError, match=r"has its answers in collect\.sqlite"):
        prepare_study("faces", folder, study_url(clean, "faces", folder), clean)


def test_several_processes_need_postgresql(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "beholder", "panel", "serve", str(tmp_path), "--processes", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 2
    assert "several processes need PostgreSQL" in done.stderr
