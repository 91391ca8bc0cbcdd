"""The arena's server under load and under ``kill -9``: nothing lost, nothing doubled.

    python benchmarks/arena_server.py [--voters 300] [--seconds 60] [--kills 20]

Voters look at a pair for a lognormal time with a median of 4 s, fetch both images, and vote; the server is
``beholder collect --arena`` in a process of its own. Then 16 voters vote as fast as they can while the server is
killed at random moments and started again; a vote without a reply is sent again with its key, as the page does.
Afterwards the database is asked for every vote that was acknowledged.
"""

import argparse
import asyncio
import json
import os
import platform
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
from served import Json, Wire, make_folder
from sqlalchemy import create_engine, text

from beholder.collect.arena.ballots import OUTCOMES
from beholder.collect.arena.schema import arena_url
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

PACE_SECONDS, ARRIVAL_SECONDS, PATIENCE = 4.0, 15.0, 300.0


@dataclass
class Observed:
    """What the clients observed."""

    acknowledged: list[str] = field(default_factory=list)
    vote_ms: list[float] = field(default_factory=list)
    image_ms: list[float] = field(default_factory=list)
    resent: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    stop: bool = False


class ArenaProcess:
    """The server in a process of its own, on one port for all its lives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])

    def start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "beholder",
            "collect",
            str(self.folder),
            "--arena",
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.perf_counter() + 120
        while time.perf_counter() < until:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/api/health", timeout=2).status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.1)
        raise TimeoutError("the arena did not start")

    def end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait()


async def vote_on(port: int, observed: Observed, rng: np.random.Generator, end: float, *, human: bool) -> None:
    """One voter until the end; a request without a reply is sent again."""
    wire = Wire(port)
    if human:
        await asyncio.sleep(rng.uniform(0, ARRIVAL_SECONDS))
    state = await insist(wire, "POST", "/api/enter", {"agreed": True}, observed)
    while state["step"] == "vote" and time.perf_counter() < end and not observed.stop:
        if human:
            for image in state["images"]:
                began = time.perf_counter()
                await insist(wire, "GET", f"/api/image/{image['token']}", None, observed)
                observed.image_ms.append(1e3 * (time.perf_counter() - began))
        await asyncio.sleep(float(rng.lognormal(np.log(PACE_SECONDS), 0.5)) if human else 0.26)
        body: Json = {"ballot": state["ballot"], "key": secrets.token_hex(16), "seconds": 1.0}
        body["outcome"] = str(rng.choice(OUTCOMES))
        began = time.perf_counter()
        reply = await insist(wire, "POST", "/api/answer", body, observed)
        observed.vote_ms.append(1e3 * (time.perf_counter() - began))
        observed.acknowledged.append(body["key"])
        state = reply["state"]
    wire.close()


async def insist(wire: Wire, method: str, path: str, body: Json | None, observed: Observed) -> Json:
    """Ask until there is a reply, as the page does."""
    content = b"" if body is None else json.dumps(body).encode()
    until = time.perf_counter() + PATIENCE
    while time.perf_counter() < until:
        try:
            status, reply = await wire.ask(method, path, content)
        except OSError:
            status, reply = 503, b""
        if status == 200:
            return dict(json.loads(reply)) if method == "POST" else {}
        if status not in (429, 503):
            observed.errors[f"{path[:12]}: {status} {reply[:60]!r}"] += 1
        observed.resent += 1
        await asyncio.sleep(0.1)
    raise TimeoutError(path)


async def wait_for_images(port: int) -> None:
    """Until the images are encoded, none is served."""
    wire, ready = Wire(port), Observed()
    state = await insist(wire, "POST", "/api/enter", {"agreed": True}, ready)
    await insist(wire, "GET", f"/api/image/{state['images'][0]['token']}", None, ready)
    wire.close()


async def crowd(port: int, voters: int, seconds: float, *, human: bool, observed: Observed) -> None:
    end = time.perf_counter() + seconds
    rngs = np.random.default_rng(7).spawn(voters)
    await asyncio.gather(*(vote_on(port, observed, rng, end, human=human) for rng in rngs))


async def killed(server: ArenaProcess, kills: int, observed: Observed) -> None:
    rng = np.random.default_rng(8)
    voting = asyncio.create_task(crowd(server.port, 16, 3600, human=False, observed=observed))
    for _ in range(kills):
        await asyncio.sleep(float(rng.uniform(0.5, 2.0)))
        await asyncio.to_thread(server.end, signal.SIGKILL)
        await asyncio.to_thread(server.start)
    await asyncio.sleep(1)
    observed.stop = True
    await voting


def verdict(folder: Path, observed: Observed) -> dict[str, int]:
    engine = create_engine(arena_url(folder))
    with engine.connect() as connection:
        stored = Counter(connection.scalars(text("select key from votes")))
        doubled = connection.scalar(
            text("select count(*) from (select 1 from votes group by ballot having count(*) > 1)")
        )
        apart = "votes <> (select count(*) from votes w where w.voter = v.voter)"
        off = connection.scalar(text(f"select count(*) from voters v where {apart}"))
        assert connection.scalar(text("pragma integrity_check")) == "ok"
    engine.dispose()
    return {
        "acknowledged": len(observed.acknowledged),
        "lost": sum(stored[key] == 0 for key in observed.acknowledged),
        "doubled": sum(count > 1 for count in stored.values()) + int(doubled or 0),
        "voters out of step": int(off or 0),
        "sent again": observed.resent,
        "refused": sum(observed.errors.values()),
    }


def main() -> None:
    """Run both parts and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--voters", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    room = Path(tempfile.mkdtemp(prefix="arena-"))
    try:
        folder = make_folder(room / "study", PairQuestion(name="q", design=Design(raters=2, trials=4)))
        server = ArenaProcess(folder)
        server.start()
        paced = Observed()
        asyncio.run(wait_for_images(server.port))
        before = os.getloadavg()[0]
        asyncio.run(crowd(server.port, options.voters, options.seconds, human=True, observed=paced))
        loads = f"load average {before:.1f} before, {os.getloadavg()[0]:.1f} after"
        print(f"{platform.machine()}, {os.cpu_count()} cores, {loads}")
        print(f"{options.voters} voters, {options.seconds:.0f} s, refused: {dict(paced.errors)}\n")
        print("| | p50 | p95 | p99 |\n|---|---|---|---|")
        for name, times in (("vote to next pair, with the draw", paced.vote_ms), ("image", paced.image_ms)):
            print(
                f"| {name} | "
                + " | ".join(f"{value:.0f} ms" for value in np.percentile(times, (50, 95, 99)))
                + " |"
            )
        print(f"\nAt a human pace: {verdict(folder, paced)}\n", flush=True)
        raced = Observed()
        asyncio.run(killed(server, options.kills, raced))
        print(f"{options.kills} × kill -9: {verdict(folder, raced)}")
        server.end(signal.SIGTERM)
    finally:
        shutil.rmtree(room, ignore_errors=True)


if __name__ == "__main__":
    main()
