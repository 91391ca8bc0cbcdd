"""A database that is held or hangs: the server lives, says so in time, and goes on when it is free again."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from beholder.collect.database.address import default_url
from beholder.collect.server import readiness
from beholder.collect.server.application import create_app
from beholder.collect.server.time_limits import TimeLimit
from beholder.collect.simulate.rehearsal import listening
from beholder.errors import StorageError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Press = Callable[..., Any]
Serve = Callable[..., Any]

QUESTION = RealismQuestion(name="q", design=Design(raters=4, trials=6))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    with closing(sqlite3.connect(folder / "collect.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def test_a_held_database_holds_up_nothing_else(study_folder: Callable[..., Path], press: Press) -> None:
    folder = study_folder(QUESTION)
    app = create_app(folder, default_url(folder), limited=False, longest_seconds=2)
    with listening(app) as address, httpx.Client(base_url=address, timeout=30) as client:
        client.post("/api/enter", json={"parameters": {}, "path": "/"}).raise_for_status()
        with held(folder):
            pressed = press(address, client.cookies["beholder"], seconds=3)
        assert set(pressed.statuses) == {503}
        assert pressed.without_retry == 0
        assert pressed.slowest < 6  # 2 s, and what 60 clients in this process take
        assert max(pressed.apart.values()) < 1, pressed.apart
        deadline = time.monotonic() + 20
        while client.get("/api/state").status_code != 200:  # threads that still wait end by themselves
            assert time.monotonic() < deadline
        assert client.get("/api/ready").json() == {"status": "ready"}
    app.state.service.database.engine.dispose()


def test_an_answer_that_was_given_up_is_written_once(study_folder: Callable[..., Path]) -> None:
    folder = study_folder(QUESTION)
    app = create_app(folder, default_url(folder), longest_seconds=1)
    with listening(app) as address, ExitStack() as stack:
        client = stack.enter_context(httpx.Client(base_url=address, timeout=30))
        state = client.post("/api/enter", json={"parameters": {}, "path": "/"}).json()
        agreed = {name: state["consent"][name] for name in ("hash", "version", "language")} | {"agreed": True}
        with held(folder):
            began = time.monotonic()
            reply = client.post("/api/consent", json=agreed)
            assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "busy")
            assert reply.headers["retry-after"] == "1"
            assert reply.headers["cache-control"] == "no-store"
            assert 0.9 < time.monotonic() - began < 3
        deadline = time.monotonic() + 10
        while client.get("/api/state").json()["step"] != "check":  # its thread was still at it, and got the lock
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert client.post("/api/consent", json=agreed).status_code == 409  # there once
    app.state.service.database.engine.dispose()


@pytest.mark.parametrize(
    "error",
    [
        PoolTimeoutError("QueuePool limit reached"),
        OperationalError("select", {}, Exception("canceling statement due to lock timeout")),
        StorageError("the database was busy"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_time_out_is_temporary(serve: Serve, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    served = serve(QUESTION)
    visitor = served.visitor().begin()

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(served.service, "session", fail)
    for reply in (visitor.get("state"), visitor.client.get("/api/image/none")):
        assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "no-database")
        assert reply.headers["retry-after"] == "1"


def test_readiness_says_what_is_wrong(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(QUESTION)
    client = served.client()
    assert client.get("/api/ready").json() == {"status": "ready"}
    monkeypatch.setattr(readiness, "LEAST_FREE_BYTES", 1 << 62)
    reply = client.get("/api/ready")
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
    assert set(reply.json()["detail"]["faults"]) == {"disk"}
    monkeypatch.undo()
    with held(served.folder):
        began = time.monotonic()
        threads = [threading.Thread(target=client.get, args=("/api/ready",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        reply = client.get("/api/ready")
        for thread in threads:
            thread.join()
        assert time.monotonic() - began < 4
        assert reply.status_code == 503
        assert reply.json()["detail"]["faults"] == {"database": "it did not answer within 2 s"}
    assert client.get("/api/health").json() == {"status": "ok"}


def test_those_who_wait_are_bounded() -> None:
    async def run() -> tuple[list[int], int]:
        free = asyncio.Event()
        calls = 0

        async def app(_: Any, __: Any, send: Any) -> None:  # noqa: ANN401
            nonlocal calls
            calls += 1
            await free.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        bounded, statuses = TimeLimit(app, seconds=30, most=5), []

        async def receive() -> Any:  # noqa: ANN401
            await asyncio.Event().wait()

        async def send(message: Any) -> None:  # noqa: ANN401
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        scope = {"type": "http", "path": "/api/state", "method": "GET", "headers": []}
        tasks = [asyncio.create_task(bounded(scope, receive, send)) for _ in range(8)]
        await asyncio.sleep(0.05)
        assert statuses == [503] * 3  # at once
        free.set()
        await asyncio.gather(*tasks)
        again = asyncio.create_task(bounded(scope, receive, send))
        await again
        return statuses, calls

    with ThreadPoolExecutor(1) as thread:  # a browser of another test may have left a loop running in this one
        statuses, calls = thread.submit(asyncio.run, run()).result()
    assert statuses == [503] * 3 + [200] * 6
    assert calls == 6


def test_who_waits_for_a_thread_leaves_the_queue_when_given_up() -> None:
    """Else, after a minute of waiting, everything would be done that nobody asks for any more."""
    ran = []
    free = threading.Event()
    app = FastAPI()

    @app.get("/api/work")
    def work(number: int) -> int:
        ran.append(number)
        free.wait(30)
        return number

    app.add_middleware(TimeLimit, seconds=1)
    with listening(app) as address:
        replies: list[httpx.Response] = []

        def ask(number: int) -> None:
            replies.append(httpx.get(f"{address}/api/work", params={"number": number}, timeout=30))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [reply.status_code for reply in replies] == [503] * 60
        free.set()
        time.sleep(0.5)
        assert len(ran) == 40
        assert httpx.get(f"{address}/api/work", params={"number": 99}, timeout=30).json() == 99
