"""What the benchmarks of the study server share: a study, the server in a process of its own, a light client."""

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beholder.collect.database.address import default_url
from beholder.collect.display.cache import is_locked
from beholder.collect.exchange.load import load
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.simulate.world import MANIFEST, World, paint_world
from beholder.study.collecting import Collecting
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import FILE_NAME, dump_study, load_study

Json = dict[str, Any]

POSTGRES = Path("/usr/lib/postgresql/15/bin")
SCREEN: Json = {
    "screen_width": 1920,
    "screen_height": 1080,
    "viewport_width": 1600,
    "viewport_height": 900,
    "pixel_ratio": 1,
    "zoom": 1,
    "frame_ms": 1000 / 60,
    "touch": False,
}


def make_folder(folder: Path, *questions: AnyQuestion, lease_minutes: float = 10.0, side: int = 64) -> Path:
    """A study of a small painted world with its trials drawn; ``side`` in pixels."""
    shutil.rmtree(folder, ignore_errors=True)
    world = folder.with_name(folder.name + "-world")
    shutil.rmtree(world, ignore_errors=True)
    paint_world(World(prompts=24, reals=60, size=side, seed=5), world)
    make_study(["hpd-pairs"], folder, manifest=world / MANIFEST, name="bench", title="Bench", seed=1, copy=True)
    study = load_study(folder)
    changed = study.model_copy(
        update={"questions": questions, "collect": Collecting(lease_minutes=lease_minutes), "seed": 1}
    )
    (folder / FILE_NAME).write_text(dump_study(changed), encoding="utf-8")
    design(folder)
    return folder


def fill(folder: Path, url: str) -> None:
    """A fresh database."""
    if url == default_url(folder):
        for left in folder.glob("collect.sqlite*"):
            left.unlink()
    load(folder, url)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """``beholder collect`` in a process of its own."""

    folder: Path
    url: str
    port: int = field(default_factory=free_port)
    processes: int = 1
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers and its images are ready."""
        command = [sys.executable, "-m", "beholder", "collect", str(self.folder), "--port", str(self.port)]
        command += ["--database", self.url, "--processes", str(self.processes), *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/health", timeout=1):
                    break
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError(f"the server ended with {self.process.returncode}") from None
                time.sleep(0.02)
        while is_locked(self.folder):
            time.sleep(0.02)

    def kill(self) -> None:
        """As a power cut: no time for anything."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def cpu_seconds(self) -> float:
        """User and system time of the server so far."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


@contextmanager
def serving(folder: Path, url: str, processes: int = 1) -> Iterator[Server]:
    server = Server(folder, url, processes=processes)
    server.start()
    try:
        yield server
    finally:
        server.kill()


class WireError(OSError):
    """The connection broke, or the server said something other than 200."""


class Wire:
    """One keep-alive connection, one cookie: a client that costs far less than the server it measures."""

    def __init__(self, port: int, source: str = "127.0.0.1") -> None:
        self._port, self._source = port, source
        self.cookie = ""
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: Json) -> Json:
        """The parsed reply; an error unless it is 200."""
        status, content = await self.ask("POST", path, json.dumps(body).encode())
        if status != 200:
            raise WireError(f"{path}: {status} {content[:200]!r}")
        reply: Json = json.loads(content)
        return reply

    async def ask(self, method: str, path: str, content: bytes = b"") -> tuple[int, bytes]:
        if self._writer is None or self._reader is None:
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._port, local_addr=(self._source, 0)
            )
        head = f"{method} {path} HTTP/1.1\r\nHost: b\r\nContent-Length: {len(content)}\r\n"
        head += f"Content-Type: application/json\r\nCookie: beholder={self.cookie}\r\n\r\n"
        try:
            self._writer.write(head.encode() + content)
            lines = (await self._reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
            length = 0
            for line in lines[1:]:
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                elif name.lower() == b"set-cookie" and b"beholder=" in value:
                    self.cookie = value.split(b"beholder=")[1].split(b";")[0].decode()
            body = await self._reader.readexactly(length) if length else b""
        except (OSError, EOFError, asyncio.IncompleteReadError) as error:
            self.close()
            raise WireError(str(error)) from error
        return int(lines[0].split()[1]), body

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def come_in(wire: Wire, question: str) -> Json:
    """From the link to the first trial, or from wherever the session is."""
    state = await wire.post("/api/enter", {"parameters": {}, "path": f"/q/{question}", "language": "en"})
    while True:
        step = state["step"]
        if step == "consent":
            consent = {name: state["consent"][name] for name in ("hash", "version", "language")}
            state = await wire.post("/api/consent", consent | {"agreed": True})
        elif step == "check":
            state = await wire.post("/api/check", SCREEN)
        elif step == "instructions":
            state = await wire.post("/api/begin", {})
        else:
            return state


def answer_body(trial: Json, key: str | None = None, seconds: float = 1.0) -> Json:
    """Any answer to a question of one choice; a page that claims more ``seconds`` than passed is recorded."""
    aspect = "realism" if "realism" in trial["kind"] else "preference"
    choice = trial["instruction"] or secrets.choice(trial["options"])
    return {
        "trial": trial["trial"],
        "attempt": trial["attempt"],
        "key": key or secrets.token_hex(16),
        "said": [{"aspect": aspect, "choice": choice}],
        "marks": [],
        "seconds": seconds,
        "spoiled": False,
    }


@contextmanager
def postgres(folder: Path) -> Iterator[tuple[str, "Cluster"]]:
    """A PostgreSQL of its own in a folder; yields its address."""
    cluster = Cluster(folder)
    cluster.make()
    try:
        yield cluster.url, cluster
    finally:
        cluster.stop("immediate")


@dataclass
class Cluster:
    """A database cluster run by the user ``postgres``: its programs refuse to run as root."""

    folder: Path
    port: int = field(default_factory=free_port)

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"

    def make(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        shutil.chown(self.folder, "postgres", "postgres")
        self._run([str(POSTGRES / "initdb"), "-D", str(self.folder), "-A", "trust", "-E", "UTF8"])
        self.start()

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        self._run([*self._control(), "-w", "-l", str(self.folder / "log"), "-o", options, "start"])

    def stop(self, mode: str) -> None:
        self._run([*self._control(), "-m", mode, "stop"], check=False)

    def _control(self) -> list[str]:
        return [str(POSTGRES / "pg_ctl"), "-D", str(self.folder)]

    def _run(self, command: Sequence[str], *, check: bool = True) -> None:
        full_command = command if os.geteuid() else ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(full_command, check=check, stdout=subprocess.DEVNULL, cwd="/")
