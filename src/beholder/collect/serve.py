"""Starting the server: load the database, print the links, serve."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from beholder import __version__
from beholder.collect.api import create_app
from beholder.collect.database import Database, control, secrets
from beholder.errors import StageError
from beholder.study.study import FILE_NAME
from beholder.tables.provenance import file_hash

Say = Callable[[str], None]

READY = "ready"
GRACE_SECONDS = 10
KEEP_ALIVE_SECONDS = 75
"""Longer than someone looks at a trial, so that each answer does not need a connection of its own."""


def run_child(*arguments: str | Path) -> str:
    """Run ``python -m …`` and return what it prints: so work on the tables leaves the server small."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        raise StageError(done.stderr.strip().removeprefix("error: "))
    if done.returncode:
        raise RuntimeError(f"{arguments[0]} failed:\n{done.stderr}")
    return done.stdout.strip()


def prepare(folder: Path, url: str) -> None:
    """Fill the database from the tables of the study."""
    run_child("beholder.collect.load", folder, url)


def is_ready(folder: Path, url: str) -> bool:
    """Whether the study, its images and trials are those that the database was made ready for."""
    database = Database(url)
    try:
        with database.reading() as connection:
            known = connection.scalar(select(control.c.value).where(control.c.name == READY))
    except DBAPIError:  # there is no database yet
        return False
    finally:
        database.engine.dispose()
    return known is not None and known == _fingerprint(folder)


def note_ready(folder: Path, url: str) -> None:
    """Note that trials are drawn and the database is filled, so that the next start need not look again."""
    database = Database(url)
    with database.writing() as connection:
        connection.execute(control.delete().where(control.c.name == READY))
        connection.execute(control.insert().values(name=READY, value=_fingerprint(folder)))
    database.engine.dispose()


def _fingerprint(folder: Path) -> str:
    tables = [folder / "tables" / f"{name}.parquet" for name in ("prompts", "images", "trials")]
    hashes = [file_hash(path) if path.is_file() else "absent" for path in (folder / FILE_NAME, *tables)]
    return " ".join([__version__, *hashes])


def links(url: str, address: str) -> tuple[str, str]:
    """The link for people, and the one for the researcher."""
    database = Database(url)
    with database.reading() as connection:
        token = connection.scalar(select(secrets.c.value).where(secrets.c.name == "researcher"))
    database.engine.dispose()
    return f"{address}/", f"{address}/researcher?token={token}"


def serve(folder: Path, url: str, *, host: str, port: int, processes: int, say: Say) -> None:
    """Serve until interrupted; several processes share one PostgreSQL database."""
    if processes > 1 and url.startswith("sqlite"):
        raise StageError("several processes need PostgreSQL: --database postgresql+psycopg://…")
    raters, researcher = links(url, f"http://{host}:{port}")
    say(f"people:     {raters}\nresearcher: {researcher}\nStop with Ctrl-C; nothing is lost.")
    settings: dict[str, Any] = {"host": host, "port": port, "log_level": "warning", "access_log": False}
    settings |= {"ws": "none", "lifespan": "off"}
    settings |= {"timeout_graceful_shutdown": GRACE_SECONDS, "timeout_keep_alive": KEEP_ALIVE_SECONDS}
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn stops, and what comes after it is still done
    if processes == 1:
        app = create_app(folder, url)
        gc.freeze()  # what is there now stays: looking through it for garbage would only hold up answers
        gc.enable()
        uvicorn.run(app, **settings)
        return
    os.environ["BEHOLDER_FOLDER"], os.environ["BEHOLDER_DATABASE"] = str(folder), url
    uvicorn.run(
        "beholder.collect.serve:worker",
        factory=True,
        workers=processes,
        **settings,
    )


def worker() -> FastAPI:
    """The application of one of several processes; the folder and database come through the environment."""
    return create_app(Path(os.environ["BEHOLDER_FOLDER"]), os.environ["BEHOLDER_DATABASE"])
