"""Operating the server of a panel: metrics of all its studies, its log of requests, readiness and drain."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from tests.collect.panel.conftest import rename
from tests.collect.server.test_operation import free_port, numbers, operated

from beholder.collect.panel.opening import open_study
from beholder.collect.panel.schema import open_panel
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

QUESTION = PairQuestion(name="q", design=Design(raters=6, trials=4))
ENTRY = {"parameters": {}, "path": "/q/q", "language": "en"}


def test_a_panel_is_operated_as_a_study_is(study_folder: Callable[..., Path], tmp_path: Path) -> None:
    panel, metrics = tmp_path / "panel", f"127.0.0.1:{free_port()}"
    database = open_panel(panel, create=True)
    with database.writing() as connection:
        for name in ("faces", "pairs"):
            folder = study_folder(QUESTION, name=name)
            rename(folder, name)
            open_study(connection, folder, researcher="ada", now=time.time())
    database.engine.dispose()
    options = ("--metrics", metrics, "--log", "json", "--drain", "2")
    with operated(panel, *options, command=("panel", "serve")) as (process, address):
        for name, times in (("faces", 2), ("pairs", 1)):
            for _ in range(times):
                assert httpx.post(f"{address}/s/{name}/api/enter", json=ENTRY).status_code == 200
        assert httpx.post(f"{address}/api/enter", json={"link": "a" * 32}).status_code == 404
        ready = [httpx.get(f"{address}{path}/api/ready").status_code for path in ("", "/s/faces")]
        counted = numbers(f"http://{metrics}/metrics")
        process.send_signal(signal.SIGTERM)
        asked = time.monotonic()
        while httpx.get(f"{address}/api/ready").status_code == 200:
            assert time.monotonic() < asked + 1.5
        drained = [httpx.get(f"{address}{path}").status_code for path in ("/s/pairs/api/ready", "/api/health")]
        _, errors = process.communicate(timeout=120)
    assert ready == [200, 200]
    assert drained == [503, 200]
    assert (process.returncode, time.monotonic() - asked > 2) == (0, True)
    entered = ("beholder_requests_total", "method=POST")
    assert counted[*entered, "route=/s/{study}/api/enter", "status=200"] == 3
    assert counted[*entered, "route=/api/enter", "status=404"] == 1
    assert counted["beholder_sessions", "status=running", "study=faces"] == 2
    assert counted["beholder_sessions", "status=running", "study=pairs"] == 1
    assert counted["beholder_slots", "done=no", "study=faces"] == 6
    lines = [json.loads(line) for line in errors.splitlines()]
    routes = [(line["route"], line["status"]) for line in lines if line["logger"] == "beholder.requests"]
    assert routes.count(("/s/{study}/api/enter", 200)) == 3
    assert "a" * 32 not in errors
