"""A rehearsal: the real server on this machine, played by made-up people through HTTP."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import uvicorn
from fastapi import FastAPI
from sqlalchemy import func, select

from beholder.collect.database.schema import Database, persons
from beholder.collect.server.application import create_app
from beholder.collect.simulate.http_raters import Tally, play
from beholder.collect.simulate.rehearsal_rows import clear_rehearsal
from beholder.errors import StageError
from beholder.simulate.people import Person, draw_people
from beholder.simulate.sight import View
from beholder.simulate.views import views_of
from beholder.study.study import load_study
from beholder.tables.store import Store

PATIENCE = 30.0


def rehearse(folder: Path, url: str, *, people: int, bad: int) -> Iterator[str]:
    """Play so many people through every question; says how each question went."""
    _refuse_beside_real_people(folder, url)
    clear_rehearsal(url)
    study = load_study(folder)
    views = views_of(Store(folder), seed=study.seed)
    crowd = draw_people(people, bad, np.random.default_rng([study.seed, 1]))
    with running(folder, url) as address:
        for number, question in enumerate(study.questions):
            began = time.monotonic()
            tally = _played(address, url, question.name, crowd, views, [study.seed, 2, number])
            rate = tally.answers / max(time.monotonic() - began, 1e-9)
            outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.outcomes.items()))
            yield f"{question.name}: {tally.answers:,} answers ({rate:.0f} a second); {outcomes}"


def _played(
    address: str, url: str, question: str, crowd: tuple[Person, ...], views: dict[str, View], seed: list[int]
) -> Tally:
    """Play a question in a thread of its own: the caller's, in a notebook say, may have an event loop already."""

    def together() -> Tally:
        return asyncio.run(play(address, url, question, crowd, views, seed=seed))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(together).result()


@contextmanager
def running(folder: Path, url: str) -> Iterator[str]:
    """The server of a study on a free port of this machine; yields its address."""
    with listening(create_app(folder, url)) as address:
        yield address


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    """An application on a free port of this machine; yields its address."""
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


def _refuse_beside_real_people(folder: Path, url: str) -> None:
    database = Database(url)
    with database.reading() as connection:
        real = connection.scalar(select(func.count()).where(persons.c.simulated.is_(False)))
    database.engine.dispose()
    if real:
        raise StageError(f"{folder}: {real} real people have taken part; rehearse in a copy of the folder.")
