"""Operating a server: its metrics, its log of requests, and how it drains before it stops."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from beholder.cli.main import beholder
from beholder.collect.server.operation import Drain, Operation, operating, operation_of_process
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

StudyFolder = Callable[..., Path]

QUESTION = PairQuestion(name="q", design=Design(raters=12, trials=30))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def operated(
    folder: Path, *options: str, command: tuple[str, ...] = ("collect",)
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``beholder collect``, or another command that serves, with such options, and its address."""
    port = free_port()
    words = [sys.executable, "-m", "beholder", *command, str(folder), "--port", str(port), *options]
    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                httpx.get(f"{address}/api/health")
                break
            except httpx.TransportError:
                assert started.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield started, address
    finally:
        started.kill()
        started.communicate()


def numbers(metrics: str) -> dict[tuple[str, ...], float]:
    """The samples of a text of metrics, by name and labels."""
    text = httpx.get(metrics).text
    families = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    return {
        (sample.name, *(f"{label}={name}" for label, name in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_metrics_count_requests_by_route_and_know_the_study(study_folder: StudyFolder) -> None:
    folder, port = study_folder(QUESTION), free_port()
    with operated(folder, "--metrics", f"127.0.0.1:{port}") as (_, address):
        body = {"parameters": {}, "path": "/q/q", "language": "en"}
        for _ in range(3):
            httpx.post(f"{address}/api/enter", json=body)
        for token in ("one", "another"):
            httpx.get(f"{address}/api/image/{token}")
        httpx.get(f"{address}/wp-login.php")
        counted = numbers(f"http://127.0.0.1:{port}/metrics")
        other_path = httpx.get(f"http://127.0.0.1:{port}/").status_code
        for_raters = httpx.get(f"{address}/metrics").status_code
    assert counted["beholder_requests_total", "method=POST", "route=/api/enter", "status=200"] == 3
    refused = ("beholder_requests_total", "method=GET", "route=/api/image/{token}", "status=401")
    assert counted[refused] == 2
    assert counted["beholder_requests_total", "method=GET", "route=other", "status=404"] == 1
    assert counted["beholder_request_seconds_count", "method=POST", "route=/api/enter"] == 3
    assert counted["beholder_sessions", "status=running"] == 3
    assert counted["beholder_slots", "done=no"] == 12
    assert (other_path, for_raters) == (404, 404)


def test_the_log_of_requests_is_json_and_has_no_token(study_folder: StudyFolder) -> None:
    with operated(study_folder(QUESTION), "--log", "json") as (process, address):
        httpx.get(f"{address}/api/image/secret-token")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    lines = [json.loads(line) for line in errors.splitlines()]
    (line,) = [line for line in lines if line.get("route") == "/api/image/{token}"]
    assert line | {"at": "", "ms": 0, "process": 0} == {
        "at": "",
        "level": "info",
        "logger": "beholder.requests",
        "message": "request",
        "method": "GET",
        "route": "/api/image/{token}",
        "status": 401,
        "ms": 0,
        "process": 0,
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["at"])
    assert "secret-token" not in errors
    assert "127.0.0.1" not in errors


def test_a_server_that_drains_is_not_ready_but_answers(study_folder: StudyFolder) -> None:
    with operated(study_folder(QUESTION), "--drain", "2") as (process, address):
        before = httpx.get(f"{address}/api/ready").status_code
        process.send_signal(signal.SIGTERM)
        asked = time.monotonic()
        deadline = asked + 1.5
        while httpx.get(f"{address}/api/ready").status_code == 200:
            assert time.monotonic() < deadline
        after = httpx.get(f"{address}/api/ready").json()["detail"]
        health = httpx.get(f"{address}/api/health").status_code
        body = {"parameters": {}, "path": "/q/q", "language": "en"}
        entered = httpx.post(f"{address}/api/enter", json=body).status_code
        process.communicate(timeout=60)
    assert before == 200
    assert after["faults"] == {"server": "it is about to stop; send requests elsewhere"}
    assert (health, entered) == (200, 200)
    assert time.monotonic() - asked >= 2
    assert process.returncode == 0


def test_a_second_request_to_stop_ends_a_drain() -> None:
    with operating(Operation(drain_seconds=60)) as operation:
        drain = Drain(operation)
        assert not drain.ask_to_stop()
        assert operation.is_draining
        assert operation_of_process() == operation
        over = [drain.is_over, drain.ask_to_stop(), drain.is_over]
        assert over == [False, True, True]
    assert operation_of_process() == Operation()


@pytest.mark.parametrize("address", ["9090", "localhost:", "localhost:99999", ":9090"])
def test_an_address_of_metrics_is_checked_before_anything_starts(address: str, tmp_path: Path) -> None:
    outcome = CliRunner().invoke(beholder, ["collect", str(tmp_path), "--metrics", address])
    assert outcome.exit_code == 2
    assert "is not HOST:PORT" in outcome.output
