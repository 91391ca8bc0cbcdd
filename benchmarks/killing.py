"""No answer is lost or duplicated when the server, or its database, is killed under load.

python benchmarks/killing.py [--kills 20] [--database-kills 20] [--raters 16]

Raters answer as fast as they can. At random moments the server gets ``kill -9`` and is started again: one process
on SQLite, then two processes on PostgreSQL. After that the servers live, and PostgreSQL is stopped at once
(``pg_ctl -m immediate``) and started again. As the page does, a client that got no reply sends the same answer
with the same key again until it is acknowledged. Afterwards the database is asked, behind the server's back, for
every key that was acknowledged.
"""

import argparse
import asyncio
import os
import platform
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from served import Json, Server, Wire, WireError, answer_body, come_in, fill, make_folder, postgres, serving
from sqlalchemy import create_engine, text

from beholder.collect.database.address import default_url
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

PATIENCE = 600.0


@dataclass
class Tally:
    """What the clients observed."""

    acknowledged: list[str] = field(default_factory=list)
    resent: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    stop: asyncio.Event = field(default_factory=asyncio.Event)


async def simulate_rater(port: int, tally: Tally) -> None:
    """Answer until told to stop; an answer without a reply is sent again."""
    while not tally.stop.is_set():
        wire = Wire(port)
        state = await insist(partial(come_in, wire, "pair"), tally)
        while not tally.stop.is_set() and state["step"] == "trial":
            body = answer_body(state["trial"])
            reply = await insist(partial(wire.post, "/api/answer", body), tally)
            tally.acknowledged.append(body["key"])
            state = reply["state"]
        wire.close()


async def insist(ask: Callable[[], Awaitable[Json]], tally: Tally) -> Json:
    """Ask until there is an answer, as the page does."""
    until = time.perf_counter() + PATIENCE
    while True:
        try:
            return await ask()
        except OSError as error:
            status = str(error).split(": ")[-1][:3] if isinstance(error, WireError) else ""
            if status.isdecimal() and status != "503":
                tally.refused[str(error)[:80]] += 1
            if time.perf_counter() > until:
                raise
            tally.resent += 1
            await asyncio.sleep(0.1)


async def under_load(port: int, raters: int, disturb: Callable[[], Awaitable[None]]) -> Tally:
    tally = Tally()
    crowd = [asyncio.create_task(simulate_rater(port, tally)) for _ in range(raters)]
    await disturb()
    tally.stop.set()
    await asyncio.gather(*crowd)
    return tally


def verdict(url: str, tally: Tally) -> dict[str, int]:
    """Compare what the database holds with what was acknowledged."""
    engine = create_engine(url)
    with engine.connect() as connection:
        stored = Counter(connection.scalars(text("select key from responses")))
        doubled = connection.scalar(
            text("select count(*) from (select 1 from responses group by trial having count(*) > 1) d")
        )
        gaps = connection.scalar(
            text(
                "select count(*) from sessions s where place <> (select count(*) from responses r "
                "where r.session = s.session and r.valid)"
            )
        )
        if url.startswith("sqlite"):
            assert connection.scalar(text("pragma integrity_check")) == "ok"
    engine.dispose()
    return {
        "acknowledged": len(tally.acknowledged),
        "lost": sum(1 for key in tally.acknowledged if stored[key] == 0),
        "doubled": sum(1 for count in stored.values() if count > 1) + int(doubled or 0),
        "sessions out of step": int(gaps or 0),
        "written but never acknowledged": len(set(stored) - set(tally.acknowledged)),
        "sent again": tally.resent,
        "refused": sum(tally.refused.values()),
    }


def kill_server(
    folder: Path, url: str, kills: int, raters: int, rng: np.random.Generator, processes: int = 1
) -> dict[str, int]:
    fill(folder, url)
    with serving(folder, url, processes) as server:

        async def disturb() -> None:
            for _ in range(kills):
                await asyncio.sleep(float(rng.uniform(0.3, 1.5)))
                server.kill()
                await asyncio.to_thread(server.start)
            await asyncio.sleep(1)

        tally = asyncio.run(under_load(server.port, raters, disturb))
    return verdict(url, tally)


def kill_server_on_postgres(
    folder: Path, room: Path, kills: int, raters: int, rng: np.random.Generator
) -> dict[str, int]:
    with postgres(room) as (url, _):
        return kill_server(folder, url, kills, raters, rng, processes=2)


def kill_database(folder: Path, room: Path, kills: int, raters: int, rng: np.random.Generator) -> dict[str, int]:
    with postgres(room) as (url, cluster):
        fill(folder, url)
        server = Server(folder, url)
        server.start()

        async def disturb() -> None:
            for _ in range(kills):
                await asyncio.sleep(float(rng.uniform(0.5, 2)))
                await asyncio.to_thread(cluster.stop, "immediate")
                await asyncio.sleep(0.3)
                await asyncio.to_thread(cluster.start)
            await asyncio.sleep(1)

        try:
            tally = asyncio.run(under_load(server.port, raters, disturb))
        finally:
            server.kill()
        return verdict(url, tally)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--database-kills", type=int, default=20)
    parser.add_argument("--raters", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(prefix="beholder-kill-") as temporary:
        Path(temporary).chmod(0o755)
        question = PairQuestion(name="pair", design=Design(raters=400, trials=60))
        folder = make_folder(Path(temporary) / "study", question)
        rows = {
            f"server killed {options.kills} times, SQLite": kill_server(
                folder, default_url(folder), options.kills, options.raters, rng
            ),
            f"server of two processes killed {options.kills} times, PostgreSQL": kill_server_on_postgres(
                folder, Path(temporary) / "pg-servers", options.kills, options.raters, rng
            ),
            f"PostgreSQL killed {options.database_kills} times": kill_database(
                folder, Path(temporary) / "pg", options.database_kills, options.raters, rng
            ),
        }
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ", end="")
    print(f"{options.raters} raters, seed {options.seed}, load average {os.getloadavg()[0]:.1f}\n")
    names = list(next(iter(rows.values())))
    print(f"| | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(f'{row[column]:,}' for column in names)} |")
    if any(
        row[column] for row in rows.values() for column in ("lost", "doubled", "sessions out of step", "refused")
    ):
        raise SystemExit("an acknowledged answer is not there once")


if __name__ == "__main__":
    main()
