"""The same on PostgreSQL, where several processes write at once; skipped where its programs are not installed."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from sqlalchemy import create_engine, text
from tests.collect.test_images import begun, wait_until
from tests.collect.test_serving import free_port

from beholder.collect.api import create_app
from beholder.collect.database import Database
from beholder.collect.export import collected
from beholder.collect.load import load
from beholder.collect.rehearsal import listening
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design
from beholder.study.study import load_study

BIN = Path("/usr/lib/postgresql/15/bin")
USER = "postgres"

pytestmark = pytest.mark.skipif(
    not (BIN / "initdb").exists() or (os.geteuid() == 0 and shutil.which("runuser") is None),
    reason="no PostgreSQL 15 here",
)

StudyFolder = Callable[..., Path]
Json = dict[str, Any]


def as_postgres(*command: str | Path) -> None:
    """Its programs refuse to run as root."""
    before = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []
    subprocess.run([*before, *map(str, command)], check=True, stdout=subprocess.DEVNULL, cwd="/")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A PostgreSQL of its own; yields its address."""
    room = Path(tempfile.mkdtemp(prefix="beholder-pg-"))  # sockets need a short path that its user may enter
    room.chmod(0o755)
    data = room / "data"
    data.mkdir()
    if os.geteuid() == 0:
        shutil.chown(room, USER)
        shutil.chown(data, USER)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        as_postgres(BIN / "initdb", "-D", data, "-A", "trust", "-E", "UTF8", "-N")
        options = f"-p {port} -k {room} -c listen_addresses=127.0.0.1 -c fsync=off"
        as_postgres(BIN / "pg_ctl", "-D", data, "-w", "-l", room / "log", "-o", options, "start")
        try:
            yield f"postgresql+psycopg://{USER}@127.0.0.1:{port}/postgres"
        finally:
            as_postgres(BIN / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(room)


@pytest.fixture
def clean(cluster: str) -> str:
    engine = create_engine(cluster)
    with engine.begin() as connection:
        connection.execute(text("drop schema public cascade"))
        connection.execute(text("create schema public"))
    engine.dispose()
    return cluster


@pytest.fixture
def served(clean: str, study_folder: StudyFolder) -> Iterator[Callable[..., Any]]:
    """Two servers on one database, as two processes would be."""
    with ExitStack() as stack:

        def make(*questions: object, **settings: object) -> tuple[Path, list[str], list[Any]]:
            folder = study_folder(*questions, **settings)
            load(folder, clean)
            apps = [create_app(folder, clean, limited=False) for _ in range(2)]
            addresses = [stack.enter_context(listening(app)) for app in apps]
            for app in apps:
                stack.callback(app.state.service.database.engine.dispose)
            return folder, addresses, [app.state.service for app in apps]

        yield make


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    engine = create_engine(url)
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return found


class Walker:
    """A browser whose requests go to both servers in turn."""

    def __init__(self, clients: list[httpx.Client], folder: Path) -> None:
        self.clients, self.turn = clients, 0
        self.study = load_study(folder)
        self.cookie = ""

    def post(self, path: str, body: Json) -> httpx.Response:
        self.turn += 1
        client = self.clients[self.turn % len(self.clients)]
        reply = client.post(f"/api/{path}", json=body, headers={"cookie": f"beholder={self.cookie}"})
        if "set-cookie" in reply.headers:
            self.cookie = reply.headers["set-cookie"].split("beholder=")[1].split(";")[0]
            client.cookies.clear()
        return reply

    def walk(self, most: int = 500) -> str:
        """To the end, or so many steps; the last step."""
        reply = self.post("enter", {"parameters": {}, "path": "/"})
        if reply.status_code == 409:
            return "full"
        state = reply.json()
        for _ in range(most):
            if state["step"] in ("done", "paused"):
                break
            reply = self.post(*self.next(state))
            assert reply.status_code == 200, reply.text
            state = reply.json().get("state", reply.json())
        return str(state["step"])

    def next(self, state: Json) -> tuple[str, Json]:
        step = state["step"]
        if step == "consent":
            told = {name: state["consent"][name] for name in ("hash", "version", "language")}
            return "consent", told | {"agreed": True}
        if step == "check":
            sizes = dict.fromkeys(("screen_width", "screen_height", "viewport_width", "viewport_height"), 900)
            return "check", {**sizes, "pixel_ratio": 1, "zoom": 1, "frame_ms": 16, "touch": False}
        if step in ("instructions", "break", "debrief"):
            return "begin" if step == "instructions" else str(step), {}
        trial = state["trial"]
        body: Json = {
            "trial": trial["trial"],
            "attempt": trial["attempt"],
            "key": os.urandom(8).hex(),
            "seconds": 1,
        }
        body["said"] = [{"aspect": "realism", "choice": trial["instruction"] or trial["options"][0]}]
        if trial["exposure_ms"] is not None:
            ms = trial["exposure_ms"]
            frames = {"intended_frames": 9, "shown_frames": 9, "dropped_frames": 0, "frame_ms": 16.7}
            body["exposure"] = {"intended_ms": ms, "shown_ms": ms, **frames}
        return "answer", body


def clients(stack: ExitStack, addresses: list[str]) -> list[httpx.Client]:
    return [stack.enter_context(httpx.Client(base_url=address, timeout=60)) for address in addresses]


def test_a_person_in_many_tabs_of_two_processes_is_one_session(served: Callable[..., Any], clean: str) -> None:
    folder, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=9, trials=4)))
    body = {"parameters": {"PROLIFIC_PID": "same"}, "path": "/"}
    gate = threading.Barrier(12)

    def come(number: int) -> int:
        gate.wait()
        return httpx.post(f"{addresses[number % 2]}/api/enter", json=body, timeout=60).status_code

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(come, range(12))) == [200] * 12
    assert rows(clean, "select count(*) from sessions") == [(1,)]
    assert rows(clean, "select count(*) from slots where session is not null") == [(1,)]
    assert folder.exists()


def test_many_at_once_with_drop_outs_leave_one_answer_a_trial(served: Callable[..., Any], clean: str) -> None:
    question = TimedRealismQuestion(name="q", design=Design(raters=6, trials=6, blocks=2))
    folder, addresses, services = served(question, collect={"lease_minutes": 5})
    with ExitStack() as stack:
        held = clients(stack, addresses)

        def go(number: int) -> str:
            return Walker(held, folder).walk(most=7 if number % 2 else 500)

        with ThreadPoolExecutor(12) as pool:
            first = Counter(pool.map(go, range(12)))
            assert sum(first.values()) == 12
            for service in services:  # whoever vanished is gone for good
                service.now = lambda now=service.now: now() + 301
            for _ in range(10):
                if list(pool.map(go, [0] * 6)) == ["full"] * 6:
                    break
    assert rows(clean, "select count(*) from slots where not done") == [(0,)]
    valid = collected(clean)["answers"].filter(pl.col("valid"))
    tests = [name for (name,) in rows(clean, "select trial from trials where role = 'test'")]
    assert Counter(valid["trial"].to_list()) == dict.fromkeys(tests, 1)


def test_one_answer_however_many_processes_get_it(served: Callable[..., Any], clean: str) -> None:
    folder, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=1, trials=4)))
    with ExitStack() as stack:
        held = clients(stack, addresses)
        walker = Walker(held, folder)
        walker.walk(most=3)
        state = held[0].get("/api/state", headers={"cookie": f"beholder={walker.cookie}"}).json()
        _, body = walker.next(state)
        bodies = [body] * 8 + [body | {"key": f"{number:08d}"} for number in range(8)]

        def send(number: int) -> int:
            cookie = {"cookie": f"beholder={walker.cookie}"}
            return held[number % 2].post("/api/answer", json=bodies[number], headers=cookie).status_code

        with ThreadPoolExecutor(16) as pool:
            codes = Counter(pool.map(send, range(16)))
    assert set(codes) <= {200, 409}
    assert rows(clean, "select count(*) from responses") == [(1,)]


def test_as_many_requests_as_there_are_threads_do_not_block_each_other(
    served: Callable[..., Any], clean: str
) -> None:
    folder, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=45, trials=2)))
    with ExitStack() as stack:
        walkers = [Walker(clients(stack, addresses[:1]), folder) for _ in range(45)]  # a browser each
        with ThreadPoolExecutor(45) as pool:
            ended = Counter(pool.map(Walker.walk, walkers))
    assert ended == {"done": 45}
    assert rows(clean, "select count(*) from responses") == [(90,)]


def test_a_database_that_is_gone_is_said_so(study_folder: StudyFolder, clean: str) -> None:
    folder = study_folder(RealismQuestion(name="q", design=Design(raters=1, trials=2)))
    load(folder, clean)
    app = create_app(folder, clean)
    with listening(app) as address:
        service = app.state.service
        service.database.engine.dispose()
        service.database = Database(clean.rsplit(":", 1)[0] + ":1/postgres")  # nobody listens there
        reply = httpx.post(f"{address}/api/enter", json={"parameters": {}, "path": "/"}, timeout=30)
        assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "no-database")
        assert reply.headers["retry-after"] == "1"


def test_two_server_processes_share_one_filling_of_the_images(study_folder: StudyFolder, clean: str) -> None:
    folder = study_folder(RealismQuestion(name="q", design=Design(raters=8, trials=6)))
    command = [sys.executable, "-m", "beholder", "collect", str(folder), "--port", str(free_port())]
    command += ["--database", clean, "--processes", "2"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{command[6]}", timeout=60) as client:
            wait_until(lambda: answers(client), 120)
            codes: list[int] = []
            for _ in range(4):  # a connection each, so that either process gets some
                with httpx.Client(base_url=client.base_url, timeout=60) as rater:
                    for token in begun(rater):
                        while not codes or codes[-1] == 503:
                            codes.append(rater.get(f"/api/image/{token}").status_code)
                        codes.append(rater.get(f"/api/image/{token}").status_code)
            assert set(codes) <= {200, 503}
            assert codes.count(200) >= 16
        assert len(list((folder / "cache").glob("*.webp"))) == 60
        assert list((folder / "cache").glob(".*.tmp")) == []
    finally:
        server.terminate()
        server.communicate(timeout=120)


def answers(client: httpx.Client) -> bool:
    """Whether the server does."""
    try:
        return client.get("/api/health").status_code == 200
    except httpx.TransportError:
        return False
