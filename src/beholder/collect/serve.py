"""Starting the server: load the database, print the links, serve."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from sqlalchemy import select

from beholder.collect.api import create_app
from beholder.collect.database import Database, secrets
from beholder.errors import StageError

Say = Callable[[str], None]


def prepare(folder: Path, url: str) -> None:
    """Fill the database in a process of its own, so that the server stays small."""
    done = subprocess.run(
        [sys.executable, "-m", "beholder.collect.load", str(folder), url],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 2:
        raise StageError(done.stderr.strip().removeprefix("error: "))
    if done.returncode:
        raise RuntimeError(f"loading {folder} failed:\n{done.stderr}")


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
    if processes == 1:
        uvicorn.run(create_app(folder, url), host=host, port=port, log_level="warning", access_log=False)
        return
    os.environ["BEHOLDER_FOLDER"], os.environ["BEHOLDER_DATABASE"] = str(folder), url
    uvicorn.run(
        "beholder.collect.serve:worker",
        factory=True,
        host=host,
        port=port,
        workers=processes,
        log_level="warning",
        access_log=False,
    )


def worker() -> FastAPI:
    """The application of one of several processes; the folder and database come through the environment."""
    return create_app(Path(os.environ["BEHOLDER_FOLDER"]), os.environ["BEHOLDER_DATABASE"])
