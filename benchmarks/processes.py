"""Load test of several server processes on PostgreSQL: raters at a human pace while processes are killed and the
database is restarted, then the maximum throughput by number of processes, and who uses the processor for it.

python benchmarks/processes.py [--raters 600] [--seconds 120] [--sustained 20] [--processes 4]

As the pages do, a simulated rater sends an answer that was not acknowledged again, with the same key.
"""

import argparse
import asyncio
import os
import platform
import random
import signal
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from load import ARRIVAL_SECONDS, PACE_SECONDS, PACKAGES, Observed, lost_and_doubled, percentiles, reset
from served import (
    Cluster,
    Json,
    Server,
    Wire,
    WireError,
    answer_body,
    come_in,
    fill,
    make_folder,
    postgres,
    serving,
)

from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

AGAIN_SECONDS = 0.5
PATIENCE_SECONDS = 60.0
KILL_EVERY_SECONDS = 15.0
RATERS_A_STUDY, TRIALS = 1500, 60
Costs = dict[str, float]
"""Role -> seconds of processor time."""


class AddressedWire(Wire):
    """A connection of a rater with an address of its own, as a proxy passes it on: limits are per address."""

    def __init__(self, port: int, number: int) -> None:
        super().__init__(port)
        self._address = f"10.0.{number // 250}.{number % 250 + 1}"

    async def ask(self, method: str, path: str, content: bytes = b"") -> tuple[int, bytes]:
        own, self.cookie = self.cookie, f"{self.cookie}\r\nX-Forwarded-For: {self._address}"
        sent = self.cookie
        try:
            return await super().ask(method, path, content)
        finally:
            if self.cookie == sent:  # no new cookie came
                self.cookie = own


async def insist(ask: Callable[[], Awaitable[Json]], observed: Observed) -> Json:
    """Ask until there is an answer, as the pages do."""
    end = time.perf_counter() + PATIENCE_SECONDS
    while True:
        try:
            return await ask()
        except WireError as error:
            observed.errors[str(error)[:40]] += 1
            if time.perf_counter() > end:
                raise
            await asyncio.sleep(AGAIN_SECONDS)


async def paced_rater(wire: Wire, observed: Observed, rng: np.random.Generator, end: float) -> None:
    await asyncio.sleep(rng.uniform(0, ARRIVAL_SECONDS))
    state: Json | None = await insist(lambda: come_in(wire, "pair"), observed)
    while state is not None and state["step"] == "trial":
        state = await answered(wire, state["trial"], observed, rng, end)
    wire.close()


async def answered(
    wire: Wire, trial: Json, observed: Observed, rng: np.random.Generator, end: float
) -> Json | None:
    """Look at a trial, answer it, and send that until it is acknowledged; ``None`` where the time is over."""
    pause = float(rng.lognormal(np.log(PACE_SECONDS), 0.5))
    if time.perf_counter() + pause > end:
        return None
    await asyncio.sleep(pause)
    body = answer_body(trial)
    began = time.perf_counter()
    reply = await insist(lambda: wire.post("/api/answer", body), observed)
    observed.answer_ms.append(1e3 * (time.perf_counter() - began))
    observed.acknowledged.append(body["key"])
    state: Json = reply["state"]
    return state


def workers_of(server: Server) -> list[int]:
    """The serving processes: children of the one that watches them, by their size, without its small helpers."""
    assert server.process is not None
    parent = server.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, command in commands.items() if b"spawn_main" in command]


async def disturb(server: Server, cluster: Cluster, seconds: float) -> tuple[int, int]:
    """Kill a serving process at intervals, and restart the database in the middle; return how often."""
    began, killed, restarted, rng = time.perf_counter(), 0, 0, random.Random(7)
    while time.perf_counter() - began < seconds - KILL_EVERY_SECONDS:
        await asyncio.sleep(KILL_EVERY_SECONDS)
        if not restarted and time.perf_counter() - began > seconds / 2:
            await asyncio.to_thread(cluster.stop, "immediate")
            await asyncio.to_thread(cluster.start)
            restarted += 1
            continue
        os.kill(rng.choice(workers_of(server)), signal.SIGKILL)
        killed += 1
    return killed, restarted


async def disturbed_crowd(
    server: Server, cluster: Cluster, raters: int, seconds: float
) -> tuple[Observed, int, int]:
    observed, end = Observed(), time.perf_counter() + seconds
    rngs = np.random.default_rng(3).spawn(raters)
    disturbing = asyncio.create_task(disturb(server, cluster, seconds))
    wires = [AddressedWire(server.port, number) for number in range(raters)]
    pairs = zip(wires, rngs, strict=True)
    await asyncio.gather(*(paced_rater(wire, observed, rng, end) for wire, rng in pairs))
    killed, restarted = await disturbing
    return observed, killed, restarted


def paced(folder: Path, url: str, cluster: Cluster, options: argparse.Namespace) -> str:
    reset(url)
    fill(folder, url)
    with serving(folder, url, options.processes) as server:
        observed, killed, restarted = asyncio.run(
            disturbed_crowd(server, cluster, options.raters, options.seconds)
        )
    lost, doubled = lost_and_doubled(url, observed.acknowledged)
    number = len(observed.acknowledged)
    return (
        f"| {options.raters} | {options.processes} | {killed} | {restarted} | {number:,} "
        f"({number / options.seconds:.0f}/s) | {sum(observed.errors.values())} | {lost} | {doubled} "
        f"| {percentiles(observed.answer_ms)} |"
    )


def cpu_by_role(folder: Path) -> dict[str, float]:
    """Processor time so far of the database, the server and this client, with that of children that ended."""
    spent = {"database": 0.0, "server": 0.0}
    for place in Path("/proc").iterdir():
        if not place.name.isdigit() or int(place.name) == os.getpid():
            continue
        try:
            command = (place / "cmdline").read_bytes()
            fields = (place / "stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        if str(folder).encode() in command or b"spawn_main" in command:
            spent["server"] += ticks
        elif command.startswith(b"postgres:") or b"bin/postgres" in command:
            spent["database"] += ticks
    return spent | {"client": time.process_time()}


async def answering(server: Server, folder: Path, at_once: int, seconds: float) -> tuple[Observed, float, Costs]:
    """Everyone comes in, then all answer immediately: what they saw, how long it took, and who used the processor.

    The entry of the raters is not counted.
    """
    observed, wires = Observed(), [Wire(server.port) for _ in range(at_once)]
    states = await asyncio.gather(*(come_in(wire, "pair") for wire in wires))
    before, began = cpu_by_role(folder), time.perf_counter()
    pairs = zip(wires, states, strict=True)
    await asyncio.gather(*(immediate_rater(wire, state, observed, began + seconds) for wire, state in pairs))
    took, after = time.perf_counter() - began, cpu_by_role(folder)
    return observed, took, {role: after[role] - before[role] for role in before}


async def immediate_rater(wire: Wire, state: Json, observed: Observed, end: float) -> None:
    """Answer as soon as a trial is there, and claim no more time than that."""
    try:
        while time.perf_counter() < end and state["step"] == "trial":
            body = answer_body(state["trial"], seconds=1e-4)
            began = time.perf_counter()
            state = (await wire.post("/api/answer", body))["state"]
            observed.answer_ms.append(1e3 * (time.perf_counter() - began))
            observed.acknowledged.append(body["key"])
    except WireError as error:
        observed.errors[str(error)[:60]] += 1
    finally:
        wire.close()


def sustained(folder: Path, url: str, processes: int, seconds: float, at_once: int = 64) -> str:
    rates, latencies, costs = [], [], []
    lost = doubled = errors = 0
    for _ in range(3):
        reset(url)
        fill(folder, url)
        with serving(folder, url, processes) as server:
            observed, took, spent = asyncio.run(answering(server, folder, at_once, seconds / 3))
        number = len(observed.acknowledged)
        rates.append(number / took)
        costs.append({role: 1e3 * seconds_spent / number for role, seconds_spent in spent.items()})
        latencies += observed.answer_ms
        gone, twice = lost_and_doubled(url, observed.acknowledged)
        lost, doubled, errors = lost + gone, doubled + twice, errors + sum(observed.errors.values())
    cost = " / ".join(f"{statistics.median(each[role] for each in costs):.2f}" for role in costs[0])
    return (
        f"| {processes} | {statistics.median(rates):.0f}/s ({min(rates):.0f}–{max(rates):.0f}) | {cost} "
        f"| {percentiles(latencies)} | {errors} | {lost} | {doubled} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--raters", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--sustained", type=float, default=20)
    parser.add_argument("--processes", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-processes-") as temporary:
        Path(temporary).chmod(0o755)
        question = PairQuestion(name="pair", design=Design(raters=RATERS_A_STUDY, trials=TRIALS))
        folder = make_folder(Path(temporary) / "study", question)
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ", end="")
        print(", ".join(f"{name} {version(name)}" for name in (*PACKAGES, "uvloop", "httptools")))
        print(f"load average at the start: {os.getloadavg()[0]:.1f}\n")
        with postgres(Path(temporary) / "pg") as (url, cluster):
            if options.raters:
                print("| raters | processes | killed | database restarted | answers | sent again | lost ", end="")
                print("| doubled | answer ms p50/p95/p99 |\n|---|---|---|---|---|---|---|---|---|")
                print(paced(folder, url, cluster, options), flush=True)
            if options.sustained:
                print("\n| processes | answers | ms of database / server / client per answer ", end="")
                print("| ms p50/p95/p99 | errors | lost | doubled |\n|---|---|---|---|---|---|---|")
                for processes in sorted({1, 2, options.processes}):
                    print(sustained(folder, url, processes, options.sustained), flush=True)
        print(f"\nload average at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
