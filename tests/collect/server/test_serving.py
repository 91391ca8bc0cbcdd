"""The server as a process: small, quick to start again, and killed at any moment without losing an answer."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex

import httpx
import pytest

from beholder.collect.database.address import default_url
from beholder.collect.researcher.child_processes import run_module
from beholder.collect.server.serve import address_of, is_ready, listen, note_ready, prepare
from beholder.errors import StageError
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.tables.store import Store

StudyFolder = Callable[..., Path]

QUESTION = PairQuestion(name="q", design=Design(raters=12, trials=30))
HEAVY = ("polars", "numpy", "PIL", "scipy", "altair", "statsmodels", "torch", "httpx", "alembic")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """``beholder collect`` until the block ends; waits until it answers."""
    command = [sys.executable, "-m", "beholder", "collect", str(folder), "--port", str(port)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/api/health")
                break
            except httpx.TransportError:
                assert started.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield started
    finally:
        started.kill()
        started.communicate()


def test_the_serving_process_loads_nothing_heavy() -> None:
    code = (
        "import json, sys, beholder.collect.server.serve, beholder.cli.collect\nprint(json.dumps([*sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert {name for name in HEAVY if name in loaded} == set()


def test_a_second_start_does_not_look_at_the_tables_again(study_folder: StudyFolder) -> None:
    folder = study_folder(QUESTION)
    url = default_url(folder)
    assert not is_ready(folder, url)
    note_ready(folder, url)
    assert is_ready(folder, url)
    settings = folder / "study.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + "\n# changed", encoding="utf-8")
    assert not is_ready(folder, url)
    assert not is_ready(folder, f"sqlite:///{folder / 'other.sqlite'}")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_small_and_stopped_with_its_answers_written(study_folder: StudyFolder, how: signal.Signals) -> None:
    folder, port = study_folder(QUESTION), free_port()
    with process(folder, port) as server:
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="ascii")
        resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
        assert resident < 100 * 1024
        httpx.post(f"http://127.0.0.1:{port}/api/enter", json={"parameters": {}, "path": "/"}).raise_for_status()
        server.send_signal(how)
        output = server.communicate(timeout=60)[0]
        assert server.returncode == 0
    assert "researcher?token=" in output
    assert "1 sessions" in output
    assert Store(folder).read("sessions").height == 1


def test_killed_under_load_nothing_acknowledged_is_lost_or_doubled(study_folder: StudyFolder) -> None:
    folder, port = study_folder(QUESTION), free_port()
    acknowledged: list[str] = []
    over = threading.Event()

    def rater(number: int) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            state = insist(client, "enter", {"parameters": {"PROLIFIC_PID": str(number)}, "path": "/q/q"})
            while not over.is_set() and state["step"] not in ("debrief", "done"):
                state = step(client, state)

    def insist(client: httpx.Client, path: str, body: dict[str, object]) -> dict[str, object]:
        while True:
            try:
                reply = client.post(f"/api/{path}", json=body)
                if reply.status_code == 409:  # a step whose reply was lost
                    reply = client.get("/api/state")
                reply.raise_for_status()
                state: dict[str, object] = reply.json()
                return state
            except httpx.TransportError:
                time.sleep(0.05)

    def step(client: httpx.Client, state: dict[str, object]) -> dict[str, object]:
        if state["step"] == "trial":
            trial = state["trial"]
            assert isinstance(trial, dict)
            aspects = [{"aspect": "preference", "choice": trial["instruction"] or "left"}]
            body = {"trial": trial["trial"], "attempt": 1, "key": token_hex(16), "said": aspects, "seconds": 1}
            reply = insist(client, "answer", body)
            acknowledged.append(str(body["key"]))
            after = reply["state"]
            assert isinstance(after, dict)
            return after
        if state["step"] == "consent":
            consent = state["consent"]
            assert isinstance(consent, dict)
            same = {name: consent[name] for name in ("hash", "version", "language")}
            return insist(client, "consent", {"agreed": True, **same})
        if state["step"] == "check":
            sizes = dict.fromkeys(("screen_width", "screen_height", "viewport_width", "viewport_height"), 900)
            return insist(client, "check", {**sizes, "pixel_ratio": 1, "zoom": 1, "frame_ms": 16, "touch": False})
        return insist(client, "begin", {})

    raters = [threading.Thread(target=rater, args=(number,)) for number in range(6)]
    for kills in range(3):
        with process(folder, port) as server:
            if kills == 0:
                for thread in raters:
                    thread.start()
            enough = len(acknowledged) + 25
            while len(acknowledged) < enough and any(thread.is_alive() for thread in raters):
                time.sleep(0.01)
            if kills == 2:
                over.set()
                for thread in raters:
                    thread.join(30)
            else:
                os.kill(server.pid, signal.SIGKILL)
    with closing(sqlite3.connect(folder / "collect.sqlite")) as connection:
        stored = Counter(key for (key,) in connection.execute("select key from responses"))
        twice = connection.execute("select trial from responses group by trial having count(*) > 1").fetchall()
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    assert len(acknowledged) >= 60
    assert [key for key in acknowledged if stored[key] != 1] == []
    assert twice == []


def test_a_port_in_use_is_said_before_any_link() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(StageError, match=f"port {port} .*Choose another with --port"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_a_host_that_is_not_of_this_machine_is_said_to_be_the_fault(host: str) -> None:
    with pytest.raises(StageError, match=r"--host must be an address or a name of this machine") as raised:
        listen(host, 0)
    assert "--port" not in str(raised.value)


def test_links_lead_to_where_it_listens() -> None:
    with listen("127.0.0.1", 0) as any_port:
        port = any_port.getsockname()[1]
        assert port > 0
        assert any_port.proto == socket.IPPROTO_TCP  # else asyncio leaves Nagle's delay on
        assert address_of(any_port) == f"http://127.0.0.1:{port}"
    with listen("0.0.0.0", 0) as everywhere:
        assert "0.0.0.0" not in address_of(everywhere)


def test_a_password_is_no_argument_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def run(command: list[str], env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        started.append((command, env))
        return subprocess.CompletedProcess(command, 0, "{}", "")

    monkeypatch.setattr(subprocess, "run", run)
    url = "postgresql+psycopg://me:secret@127.0.0.1/db"
    prepare(Path("study"), url)
    run_module("beholder.collect.researcher.results", url, Path("study"))
    for command, environment in started:
        assert not any("secret" in part for part in command)
        assert environment["BEHOLDER_DATABASE"] == url
