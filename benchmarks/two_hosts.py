"""Two hosts of the study server behind nginx, by the configuration of ``deploy/``, while one of them drains.

python benchmarks/two_hosts.py [--raters 100] [--seconds 120]

Each host has a disk of its own; both have one PostgreSQL. Simulated raters answer at a human pace and fetch every
image that a trial shows. After a third of the time the first host is told to stop, and drains; after two thirds it
is started again. Afterwards the database is asked for every acknowledged answer. All of it is on this machine.
"""

import argparse
import asyncio
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from load import ARRIVAL_SECONDS, Observed, fetch, lost_and_doubled, percentiles, reset
from processes import answered, insist
from served import Json, Server, Wire, WireError, come_in, fill, free_port, make_folder, postgres

from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

CONFIGURATION = Path(__file__).parents[1] / "deploy" / "nginx.conf"
DRAIN_SECONDS = 5


@contextmanager
def balancing(folder: Path, hosts: dict[str, int]) -> Iterator[int]:
    """Run nginx as ``deploy/nginx.conf`` says, with the hosts at these ports of this machine; yield its port."""
    folder.mkdir()
    port, written = free_port(), CONFIGURATION.read_text(encoding="utf-8")
    for name, place in hosts.items():
        written = re.sub(rf"server {name}:\d+", f"server 127.0.0.1:{place}", written)
    written = re.sub(r"listen \d+;", f"listen 127.0.0.1:{port};", written)
    (folder / "nginx.conf").write_text(written, encoding="utf-8")
    own = f"daemon off; pid {folder / 'pid'}; error_log {folder / 'errors'};"
    command = ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder), "-g", own]
    with subprocess.Popen(command) as process:
        try:
            yield port
        finally:
            process.terminate()


async def rater(wire: Wire, observed: Observed, rng: np.random.Generator, end: float) -> None:
    """Come in, look and answer until the time is over; what was not acknowledged is sent again with its key."""
    await asyncio.sleep(rng.uniform(0, ARRIVAL_SECONDS))
    state: Json | None = await insist(lambda: come_in(wire, "pair"), observed)
    held = set[str]()
    while state is not None and state["step"] == "trial":
        try:
            await fetch(wire, state["trial"], held, observed)
        except WireError as error:
            observed.errors[f"image: {error}"[:40]] += 1
        state = await answered(wire, state["trial"], observed, rng, end)
    wire.close()


async def drained_and_back(host: Server, seconds: float) -> float:
    """Let a host drain after a third of the time, and start it again after two thirds; return how long it took."""
    await asyncio.sleep(seconds / 3)
    assert host.process is not None
    began = time.perf_counter()
    host.process.terminate()
    await asyncio.to_thread(host.process.wait)
    took = time.perf_counter() - began
    assert host.process.returncode == 0
    await asyncio.sleep(max(0.0, seconds / 3 - took))
    await asyncio.to_thread(host.start)
    return took


async def crowd(port: int, host: Server, raters: int, seconds: float) -> tuple[Observed, float]:
    """Raters with an address each, since limits are per address, and a host that goes and comes back."""
    observed, end = Observed(), time.perf_counter() + seconds
    wires = [Wire(port, f"127.0.{1 + number // 250}.{number % 250 + 1}") for number in range(raters)]
    rngs = np.random.default_rng(4).spawn(raters)
    leaving = asyncio.create_task(drained_and_back(host, seconds))
    await asyncio.gather(*(rater(wire, observed, rng, end) for wire, rng in zip(wires, rngs, strict=True)))
    return observed, await leaving


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--raters", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--processes", type=int, default=2, help="of each host")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-hosts-") as temporary:
        room = Path(temporary)
        room.chmod(0o755)
        question = PairQuestion(name="pair", design=Design(raters=2 * options.raters, trials=60))
        first = make_folder(room / "first", question)
        second = shutil.copytree(first, room / "second")
        print(f"{platform.machine()}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} cores, ", end="")
        print(f"load average at the start: {os.getloadavg()[0]:.1f}\n")
        with postgres(room / "pg") as (url, _):
            reset(url)
            fill(first, url)
            drain = ("--drain", str(DRAIN_SECONDS))
            hosts = [Server(folder, url, processes=options.processes, options=drain) for folder in (first, second)]
            try:
                for host in hosts:
                    host.start()
                with balancing(room / "nginx", {"first": hosts[0].port, "second": hosts[1].port}) as port:
                    crowded = crowd(port, hosts[0], options.raters, options.seconds)
                    observed, took = asyncio.run(crowded)
            finally:
                for host in hosts:
                    host.kill()
            lost, doubled = lost_and_doubled(url, observed.acknowledged)
    print("| raters | answers | images | sent again | lost | doubled | answer ms p50/p95/p99 | image ms ", end="")
    print("| drain and stop |\n|---|---|---|---|---|---|---|---|---|")
    print(
        f"| {options.raters} | {len(observed.acknowledged):,} | {len(observed.image_ms):,} "
        f"| {sum(observed.errors.values())} | {lost} | {doubled} | {percentiles(observed.answer_ms)} "
        f"| {percentiles(observed.image_ms)} | {took:.1f} s |"
    )
    print(f"\nsent again: {dict(observed.errors)}\nload average at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
