"""A rehearsal: the server on this machine, with simulated raters that use its HTTP interface."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import uvicorn
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from starlette.types import ASGIApp

from beholder.collect.database.address import FILE_NAME, default_url
from beholder.collect.database.schema import REHEARSAL, Database, control
from beholder.collect.exchange.restore import restore
from beholder.collect.server.application import create_app
from beholder.collect.simulate.http_raters import RehearsalTally, play_raters
from beholder.simulate.raters import SimulatedRater, draw_raters
from beholder.simulate.sight import View
from beholder.simulate.views import views_of
from beholder.study.study import load_study
from beholder.tables.rehearsals import new_rehearsal, rehearsal_folders
from beholder.tables.store import Store

PATIENCE = 30.0


def rehearse(folder: Path, url: str, *, raters: int, bad: int) -> Iterator[str]:
    """Let so many simulated raters take part in every question; yield how each question went.

    ``url`` is the database of a new rehearsal, filled with the trials.
    """
    mark_rehearsal(url, "")
    study = load_study(folder)
    views = views_of(Store(folder), seed=study.seed)
    simulated_raters = draw_raters(raters, bad, np.random.default_rng([study.seed, 1]))
    with running(folder, url) as address:
        for number, question in enumerate(study.questions):
            began = time.monotonic()
            tally = _play_question(address, url, question.name, simulated_raters, views, [study.seed, 2, number])
            rate = tally.answers / max(time.monotonic() - began, 1e-9)
            outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.outcomes.items()))
            yield f"{question.name}: {tally.answers:,} answers ({rate:.0f} a second); {outcomes}"
    mark_rehearsal(url, _signature(folder, raters, bad))


def restored_rehearsal(folder: Path, *, raters: int, bad: int) -> str:
    """Return the database of a rehearsal that was simulated on the tables, filled from them unless it exists."""
    room = find_rehearsal(folder, raters=raters, bad=bad)
    if room is not None:
        return default_url(room)
    url = default_url(new_rehearsal(folder))
    restore(folder, url)
    mark_rehearsal(url, _signature(folder, raters, bad))
    return url


def find_rehearsal(folder: Path, *, raters: int, bad: int) -> Path | None:
    """Return the folder of a finished rehearsal of these trials by the same simulated raters; ``None`` if none."""
    for room in rehearsal_folders(folder):
        if (room / FILE_NAME).is_file() and _mark_of(default_url(room)) == _signature(folder, raters, bad):
            return room
    return None


def mark_rehearsal(url: str, signature: str) -> None:
    """Mark a database as that of a rehearsal: from now on it admits nobody but simulated raters."""
    database = Database(url)
    with database.writing() as connection:
        connection.execute(control.delete().where(control.c.name == REHEARSAL))
        connection.execute(control.insert().values(name=REHEARSAL, value=signature))
    database.engine.dispose()


def _signature(folder: Path, raters: int, bad: int) -> str:
    """Return what a rehearsal was played with, as JSON."""
    trials = Store(folder).hash("trials")
    return json.dumps({"raters": raters, "bad": bad, "trials": trials}, sort_keys=True)


def _mark_of(url: str) -> str | None:
    database = Database(url)
    try:
        with database.reading() as connection:
            return connection.scalar(select(control.c.value).where(control.c.name == REHEARSAL))
    except DBAPIError:  # a rehearsal that was interrupted before its database was filled
        return None
    finally:
        database.engine.dispose()


def _play_question(
    address: str,
    url: str,
    question: str,
    raters: tuple[SimulatedRater, ...],
    views: dict[str, View],
    seed: list[int],
) -> RehearsalTally:
    """Play a question in a separate thread: the caller's, say in a notebook, may have a running event loop."""

    def play() -> RehearsalTally:
        return asyncio.run(play_raters(address, url, question, raters, views, seed=seed))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(play).result()


@contextmanager
def running(folder: Path, url: str) -> Iterator[str]:
    """Run the server of a study on a free port of this machine; yields its address."""
    with listening(create_app(folder, url)) as address:
        yield address


@contextmanager
def listening(app: ASGIApp) -> Iterator[str]:
    """Run an application on a free port of this machine; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RuntimeError(f"the server did not start within {PATIENCE:g} s")
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
