"""Load test of the study server: 300 simulated raters at a human pace, then maximum throughput.

python benchmarks/load.py [--raters 300] [--seconds 120] [--sustained 20] [--out docs/measured/load.md]

The server is ``beholder collect`` in a process of its own; the client, in this process, keeps one connection per
rater, fetches every image that a trial shows, waits as raters do, and notes each answer that was acknowledged.
Afterwards the database is asked, behind the server's back, for every one of them.
"""

import argparse
import asyncio
import os
import platform
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np
from served import Json, Server, Wire, WireError, answer_body, come_in, fill, make_folder, postgres, serving
from sqlalchemy import create_engine, text

from beholder.collect.database.address import default_url
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

PACE_SECONDS = 4.0
"""Median time that someone looks at a pair; the times are lognormal."""

ARRIVAL_SECONDS = 15.0
"""Raters begin within this time, not in the same instant."""

PACKAGES = ("fastapi", "uvicorn", "starlette", "pydantic", "SQLAlchemy", "psycopg")


@dataclass
class Observed:
    """What the clients observed."""

    acknowledged: list[str] = field(default_factory=list)
    answer_ms: list[float] = field(default_factory=list)
    image_ms: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


async def simulate_rater(
    wire: Wire, state: Json, observed: Observed, rng: np.random.Generator | None, end: float
) -> None:
    """Answer until the time is over; without a generator of response times, immediately."""
    held = set[str]()
    try:
        if rng is not None:
            await asyncio.sleep(rng.uniform(0, ARRIVAL_SECONDS))
        while time.perf_counter() < end and state["step"] == "trial":
            trial = state["trial"]
            if rng is not None:
                await fetch(wire, trial, held, observed)
                pause = float(rng.lognormal(np.log(PACE_SECONDS), 0.5))
                if time.perf_counter() + pause > end:
                    break
                await asyncio.sleep(pause)
            state = await answer(wire, trial, observed)
    except WireError as error:
        observed.errors[str(error)[:60]] += 1
    finally:
        wire.close()


async def fetch(wire: Wire, trial: Json, held: set[str], observed: Observed) -> None:
    """The images of this trial and the next ones, each once, as a browser does."""
    for token in [*(image["token"] for image in trial["images"]), *trial["prefetch"]]:
        if token in held:
            continue
        held.add(token)
        began = time.perf_counter()
        status, _ = await wire.ask("GET", f"/api/image/{token}")
        observed.image_ms.append(1e3 * (time.perf_counter() - began))
        if status != 200:
            observed.errors[f"image {status}"] += 1


async def answer(wire: Wire, trial: Json, observed: Observed) -> Json:
    body = answer_body(trial)
    began = time.perf_counter()
    reply = await wire.post("/api/answer", body)
    observed.answer_ms.append(1e3 * (time.perf_counter() - began))
    observed.acknowledged.append(body["key"])
    state: Json = reply["state"]
    return state


async def crowd(server: Server, raters: int, seconds: float, *, paced: bool) -> tuple[Observed, float, float]:
    """Everyone comes in, then all answer at once: what they saw, how long it took, and the server's CPU time."""
    observed, wires = Observed(), [Wire(server.port) for _ in range(raters)]
    states = await asyncio.gather(*(come_in(wire, "pair") for wire in wires))
    began, cpu = time.perf_counter(), server.cpu_seconds()
    rngs = np.random.default_rng(1).spawn(raters) if paced else [None] * raters
    each = zip(wires, states, rngs, strict=True)
    await asyncio.gather(
        *(simulate_rater(wire, state, observed, rng, began + seconds) for wire, state, rng in each)
    )
    return observed, time.perf_counter() - began, server.cpu_seconds() - cpu


def lost_and_doubled(url: str, acknowledged: list[str]) -> tuple[int, int]:
    """Return acknowledged answers that are missing, and trials with more than one valid answer."""
    engine = create_engine(url)
    with engine.connect() as connection:
        stored = Counter(connection.scalars(text("select key from responses")))
        doubled = connection.scalar(
            text("select count(*) from (select 1 from responses where valid group by trial having count(*) > 1) d")
        )
    engine.dispose()
    lost = sum(1 for key in acknowledged if stored[key] != 1)
    return lost, int(doubled or 0)


def percentiles(values: list[float]) -> str:
    p50, p95, p99 = np.percentile(values, [50, 95, 99])
    return f"{p50:.1f} / {p95:.1f} / {p99:.1f}"


def boots(folder: Path, url: str, times: int = 7) -> str:
    """How long the server takes from the command to the first answer, and its size then; the first start fills."""
    seconds, memory = [], []
    for _ in range(times + 1):
        began = time.perf_counter()
        with serving(folder, url) as server:
            seconds.append(time.perf_counter() - began)
            memory.append(server.memory_mb())
    each = ", ".join(f"{value:.2f}" for value in sorted(seconds[1:]))
    return f"start: {statistics.median(seconds[1:]):.2f} s (all: {each}), {statistics.median(memory):.0f} MB\n"


def paced(folder: Path, url: str, raters: int, seconds: float) -> str:
    fill(folder, url)
    with serving(folder, url) as server:
        observed, took, cpu = asyncio.run(crowd(server, raters, seconds, paced=True))
        memory = server.memory_mb()
    lost, doubled = lost_and_doubled(url, observed.acknowledged)
    acknowledged = len(observed.acknowledged)
    return (
        f"| {raters} raters, {took:.0f} s | {acknowledged:,} ({acknowledged / took:.0f}/s) "
        f"| {len(observed.image_ms):,} | {sum(observed.errors.values())} | {lost} | {doubled} "
        f"| {percentiles(observed.answer_ms)} | {percentiles(observed.image_ms)} "
        f"| {100 * cpu / took:.0f} % | {memory:.0f} MB |"
    )


def sustained(folder: Path, url: str, name: str, seconds: float, processes: int, at_once: int = 32) -> str:
    rates, latencies = [], []
    cpu_ms: list[float] = []
    lost = doubled = errors = 0
    for _ in range(3):
        reset(url)
        fill(folder, url)
        with serving(folder, url, processes) as server:
            observed, took, cpu = asyncio.run(crowd(server, at_once, seconds / 3, paced=False))
            cpu_ms.append(1e3 * cpu / len(observed.acknowledged))
        rates.append(len(observed.acknowledged) / took)
        latencies += observed.answer_ms
        gone, twice = lost_and_doubled(url, observed.acknowledged)
        lost, doubled, errors = lost + gone, doubled + twice, errors + sum(observed.errors.values())
    own = f"{statistics.median(cpu_ms):.2f} ms" if processes == 1 else "–"
    return (
        f"| {name} | {processes} | {statistics.median(rates):.0f}/s ({min(rates):.0f}–{max(rates):.0f}) | {own} "
        f"| {percentiles(latencies)} | {errors} | {lost} | {doubled} |"
    )


def reset(url: str) -> None:
    """An empty PostgreSQL; the file of SQLite is removed when it is filled."""
    if url.startswith("postgresql"):
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("drop schema public cascade"))
            connection.execute(text("create schema public"))
        engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--raters", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--sustained", type=float, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-load-") as temporary:
        Path(temporary).chmod(0o755)
        question = PairQuestion(name="pair", design=Design(raters=330, trials=120))
        folder = make_folder(Path(temporary) / "study", question)
        url = default_url(folder)
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ", end="")
        print(", ".join(f"{name} {version(name)}" for name in PACKAGES))
        print(f"load average at the start: {os.getloadavg()[0]:.1f}\n")
        print(boots(folder, url), flush=True)
        print("| crowd | answers | images | errors | lost | doubled | answer ms p50/p95/p99 | image ms ", end="")
        print("| server CPU (of one core) | memory |\n|---|---|---|---|---|---|---|---|---|---|")
        if options.raters:
            print(paced(folder, url, options.raters, options.seconds), flush=True)
        if options.sustained:
            print(
                "\n| database | processes | answers | CPU an answer | ms p50/p95/p99 | errors | lost | doubled |"
            )
            print("|---|---|---|---|---|---|---|---|")
            print(sustained(folder, url, "SQLite", options.sustained, 1), flush=True)
            with postgres(Path(temporary) / "pg") as (address, _):
                for processes in (1, 2):
                    print(sustained(folder, address, "PostgreSQL 15", options.sustained, processes), flush=True)
        print(f"\nload average at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
