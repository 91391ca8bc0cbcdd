"""A PostgreSQL of the tests' own."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

BIN = Path("/usr/lib/postgresql/15/bin")
USER = "postgres"

needs_postgres = pytest.mark.skipif(
    not (BIN / "initdb").exists() or (os.geteuid() == 0 and shutil.which("runuser") is None),
    reason="no PostgreSQL 15 here",
)


def as_postgres(*command: str | Path) -> None:
    """Its programs refuse to run as root."""
    before = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []
    subprocess.run([*before, *map(str, command)], check=True, stdout=subprocess.DEVNULL, cwd="/")


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """A PostgreSQL of its own; yields its address."""
    room = Path(tempfile.mkdtemp(prefix="beholder-pg-"))  # sockets need a short path that its user may enter
    room.chmod(0o755)
    data = room / "data"
    data.mkdir()
    if os.geteuid() == 0:
        shutil.chown(room, USER)
        shutil.chown(data, USER)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        as_postgres(BIN / "initdb", "-D", data, "-A", "trust", "-E", "UTF8", "-N")
        options = f"-p {port} -k {room} -c listen_addresses=127.0.0.1 -c fsync=off"
        as_postgres(BIN / "pg_ctl", "-D", data, "-w", "-l", room / "log", "-o", options, "start")
        try:
            yield f"postgresql+psycopg://{USER}@127.0.0.1:{port}/postgres"
        finally:
            as_postgres(BIN / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(room)


@pytest.fixture
def clean(cluster: str) -> str:
    engine = create_engine(cluster)
    with engine.begin() as connection:
        connection.execute(text("drop schema public cascade"))
        connection.execute(text("create schema public"))
        query = "select schema_name from information_schema.schemata where schema_name like 'study%'"
        for (name,) in connection.execute(text(query)).all():
            connection.execute(text(f"drop schema {name} cascade"))
    engine.dispose()
    return cluster
