"""A database that is locked for a minute: what needs no database responds at once, all else returns 503 in time.

python benchmarks/held.py [--seconds 60] [--raters 80] [--out docs/measured/held.md]

Raters answer twice a second, more of them than the server has threads. Then the database is held: SQLite by
another process with ``BEGIN EXCLUSIVE``; PostgreSQL by another client with ``LOCK TABLE``; PostgreSQL with all its
processes stopped (SIGSTOP). Like the page, a client that gets a 503 sends the same again with the same key.
Meanwhile another client asks for liveness, readiness, a script and the page, again and again. When the database is
free again, it is asked behind the server's back for every answer that was acknowledged.
"""

import argparse
import asyncio
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from killing import Tally, verdict
from served import Json, Wire, WireError, answer_body, come_in, fill, make_folder, postgres, serving
from sqlalchemy import create_engine, text

from beholder.collect.database.address import default_url
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

APART = {"health": "/api/health", "script": "/static/app.js", "page": "/", "ready": "/api/ready"}
PAUSE_SECONDS = 0.5
HOLD_SQLITE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@dataclass
class Observed:
    """Responses that the clients got while the database was locked."""

    statuses: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0
    apart: dict[str, float] = field(default_factory=dict)
    apart_statuses: Counter[str] = field(default_factory=Counter)
    is_held: bool = False
    recovered: float | None = None
    released_at: float | None = None


async def enter(wire: Wire) -> Json:
    """Come in; where all do so at once on a busy machine, perhaps by several attempts."""
    while True:
        try:
            return await come_in(wire, "pair")
        except WireError:
            await asyncio.sleep(PAUSE_SECONDS)


async def rater(wire: Wire, state: Json, tally: Tally, observed: Observed) -> None:
    """Answer until told to stop; what was not acknowledged is sent again."""
    while not tally.stop.is_set() and state["step"] == "trial":
        body = answer_body(state["trial"])
        reply = await insist(wire, body, tally, observed)
        if reply is None:
            break
        tally.acknowledged.append(body["key"])
        state = reply["state"]
        await asyncio.sleep(PAUSE_SECONDS)
    wire.close()


async def insist(wire: Wire, body: Json, tally: Tally, observed: Observed) -> Json | None:
    """Send until it is acknowledged, as the page does; ``None`` if time was up before that."""
    while True:
        began, was_held = time.perf_counter(), observed.is_held
        try:
            reply, status = await wire.post("/api/answer", body), 200
        except WireError as error:
            code = str(error).split(": ")[-1][:3]
            reply, status = {}, int(code) if code.isdecimal() else 0
        if (was_held and observed.is_held) or status not in (200, 503):
            observed.statuses[status] += 1
            observed.slowest = max(observed.slowest, time.perf_counter() - began)
        elif status != 200:
            tally.refused[str(status)] += status != 503
        if status == 200:
            if observed.released_at is not None and observed.recovered is None:
                observed.recovered = time.perf_counter() - observed.released_at
            return reply
        if tally.stop.is_set():
            return None
        tally.resent += 1
        await asyncio.sleep(PAUSE_SECONDS)


async def look(port: int, tally: Tally, observed: Observed) -> None:
    """Ask for what needs no database, and for readiness."""
    wires = {name: Wire(port) for name in APART}
    while not tally.stop.is_set():
        for name, path in APART.items():
            began = time.perf_counter()
            status, _ = await wires[name].ask("GET", path)
            if observed.is_held:
                observed.apart[name] = max(observed.apart.get(name, 0.0), time.perf_counter() - began)
                observed.apart_statuses[f"{name} {status}"] += 1
        await asyncio.sleep(0.25)
    for wire in wires.values():
        wire.close()


async def pressed(
    port: int, raters: int, seconds: float, hold: AbstractContextManager[None]
) -> tuple[Tally, Observed]:
    tally, observed = Tally(), Observed()
    wires = [Wire(port) for _ in range(raters)]
    states = await asyncio.gather(*(enter(wire) for wire in wires))
    each = zip(wires, states, strict=True)
    tasks = [asyncio.create_task(rater(wire, state, tally, observed)) for wire, state in each]
    tasks.append(asyncio.create_task(look(port, tally, observed)))
    await asyncio.sleep(5)
    await asyncio.to_thread(hold.__enter__)
    await asyncio.sleep(0.5)  # requests that were through before it are not counted
    observed.is_held = True
    await asyncio.sleep(seconds)
    observed.is_held = False
    await asyncio.to_thread(hold.__exit__, None, None, None)
    observed.released_at = time.perf_counter()
    await asyncio.sleep(10)
    tally.stop.set()
    await asyncio.gather(*tasks)
    return tally, observed


@contextmanager
def exclusive(file: Path) -> Iterator[None]:
    """Another process holds the file of SQLite."""
    command = [sys.executable, "-c", HOLD_SQLITE, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        yield
        holder.communicate()


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Another client of PostgreSQL holds the tables that an answer needs."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("lock table sessions, responses in access exclusive mode"))
        yield
    engine.dispose()


@contextmanager
def stopped(room: Path) -> Iterator[None]:
    """No process of PostgreSQL moves."""
    parent = int((room / "postmaster.pid").read_text(encoding="ascii").split()[0])
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    processes = [parent, *map(int, children)]
    _signal(processes, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(processes, signal.SIGCONT)


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):  # a connection that has just ended
            os.kill(process, number)


def measured(folder: Path, url: str, raters: int, seconds: float, hold: AbstractContextManager[None]) -> list[str]:
    """A row of the table."""
    with serving(folder, url) as server:
        tally, observed = asyncio.run(pressed(server.port, raters, seconds, hold))
    outcome = verdict(url, tally)
    apart_faults = sum(
        count
        for name, count in observed.apart_statuses.items()
        if not name.endswith("200") and "ready" not in name
    )
    assert observed.apart_statuses["ready 200"] <= 1, observed.apart_statuses
    assert apart_faults == 0, observed.apart_statuses
    other = sum(count for status, count in (observed.statuses + Counter()).items() if status not in (200, 503))
    recovered = "–" if observed.recovered is None else f"{observed.recovered:.1f} s"
    return [
        f"{observed.statuses[503]:,}",
        f"{observed.statuses[500]:,}",
        f"{other - observed.statuses[500]:,}",
        f"{observed.slowest:.1f} s",
        *(f"{1000 * observed.apart[name]:.0f} ms" for name in APART),
        recovered,
        f"{outcome['acknowledged']:,}",
        f"{outcome['lost']:,}",
        f"{outcome['doubled']:,}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--raters", type=int, default=80)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = ("503", "500", "other", "slowest reply", *(f"{name}, slowest" for name in APART), "first answer after")
    names += ("acknowledged", "lost", "doubled")
    lines = [f"| held | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    with tempfile.TemporaryDirectory(prefix="beholder-held-") as temporary:
        Path(temporary).chmod(0o755)
        folder = make_folder(
            Path(temporary) / "study", PairQuestion(name="pair", design=Design(raters=100, trials=200))
        )
        url = default_url(folder)
        fill(folder, url)
        hold = exclusive(folder / "collect.sqlite")
        row = measured(folder, url, options.raters, options.seconds, hold)
        lines.append(f"| SQLite, `BEGIN EXCLUSIVE` | {' | '.join(row)} |")
        for how in ("LOCK TABLE", "SIGSTOP"):
            room = Path(temporary) / how.split()[0].lower()
            with postgres(room) as (url, _):
                fill(folder, url)
                hold = locked(url) if how == "LOCK TABLE" else stopped(room)
                row = measured(folder, url, options.raters, options.seconds, hold)
            lines.append(f"| PostgreSQL, `{how}` | {' | '.join(row)} |")
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    load = f"load average {os.getloadavg()[0]:.1f}"
    conditions = f"{machine}, {options.raters} raters, held for {options.seconds:g} s, {load}"
    print("\n".join([conditions, "", *lines]))
    if options.out is not None:
        options.out.write_text("\n".join([conditions, "", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
