"""A clock that jumps: no lease is lost or prolonged, and no session goes backwards."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.collect.database import clock
from beholder.collect.database.clock import clock_of, set_clock
from beholder.collect.database.schema import Database
from beholder.collect.exchange.export import export
from beholder.collect.server.application import create_app
from beholder.collect.server.service import Service
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]

QUESTION = RealismQuestion(name="q", design=Design(raters=1, trials=6))
LEASE = {"lease_minutes": 5}
HOUR = 3600.0


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the machine's clock forward or back."""
    wall = time.time

    def set_by(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: wall() + seconds)

    return set_by


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_jump_loses_and_prolongs_no_lease(serve: Serve, jump: Callable[[float], None], seconds: float) -> None:
    served = serve(QUESTION, collect=LEASE)
    visitor = served.visitor().begin()
    visitor.answer()
    (before,) = served.rows("select lease_until from slots")
    jump(seconds)
    assert visitor.answer().status_code == 200
    assert served.visitor().enter().status_code == 409  # the slot is still held
    (after,) = served.rows("select lease_until from slots")
    assert 0 <= after[0] - before[0] < 60
    assert served.rows("select count(*) from responses where answered < (select min(started) from sessions)") == [
        (0,)
    ]
    export(served.folder, served.url)
    assert served.rows("select status from sessions") == [("running",)]
    served.move_clock(301)
    assert served.visitor().enter().status_code == 200  # and it ends when it should


def test_a_restart_after_the_clock_was_set_back_goes_on_from_the_latest_moment(
    serve: Serve, jump: Callable[[float], None], caplog: pytest.LogCaptureFixture
) -> None:
    served = serve(QUESTION, collect=LEASE)
    visitor = served.visitor().begin()
    visitor.answer()
    (last_seen,) = served.rows("select seen from sessions")[0]
    jump(-HOUR)
    with caplog.at_level(logging.WARNING):
        again = Service(served.folder, served.url)
    assert last_seen <= again.now() < last_seen + 60
    assert "behind the latest entry of the database" in caplog.text
    again.database.engine.dispose()


def test_commands_beside_a_server_go_by_its_clock(serve: Serve, jump: Callable[[float], None]) -> None:
    served = serve(QUESTION)
    database = Database(served.url)
    set_clock(database)
    jump(HOUR)
    assert clock_of(database).now() == pytest.approx(time.time() - HOUR, abs=5)
    assert create_app(served.folder, served.url).state.service.now() == pytest.approx(time.time() - HOUR, abs=5)
    set_clock(database)  # a server that is started again looks at the machine's clock again
    assert clock_of(database).now() == pytest.approx(time.time(), abs=5)
    database.engine.dispose()


def test_another_run_of_the_machine_has_a_clock_of_its_own(
    serve: Serve, jump: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served = serve(QUESTION)
    database = Database(served.url)
    set_clock(database)
    jump(HOUR)
    other = tmp_path / "boot"
    for content in ("another", ""):
        other.write_text(content, encoding="ascii")
        monkeypatch.setattr(clock, "BOOT", other)
        assert clock_of(database).now() == pytest.approx(time.time(), abs=5)
    monkeypatch.setattr(clock, "BOOT", tmp_path / "none")
    assert clock_of(database).now() == pytest.approx(time.time(), abs=5)
    database.engine.dispose()
