"""What an image costs the server on PostgreSQL, sent or by a redirect, and how long a flush to disk takes.

python benchmarks/image_cost.py [--fetches 4000] [--side 512]

Processor time is that of the server's process and of the database's processes, while a client on several
connections fetches images that are encoded; redirects lead to an S3-compatible server (SeaweedFS), where nobody
fetches anything. Each way is measured in turns. A flush is the median time of a commit that waits for the disk,
less the median of one that does not.
"""

import argparse
import asyncio
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "storage"))

import psycopg
from load import reset
from s3_server import s3_server  # type: ignore[import-not-found]
from served import Cluster, Json, Server, Wire, come_in, fill, make_folder, postgres

from beholder.storage.signed_objects import SignedObjects
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

RATERS = 8
COMMITS = 2000
ADDRESS = "s3://beholder-images/served"


def database_seconds(cluster: Cluster) -> float:
    """Processor time so far of the processes of one cluster, with that of connections that ended."""
    parent = int((cluster.folder / "postmaster.pid").read_text(encoding="ascii").split()[0])
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    ticks = 0
    for process in (parent, *map(int, children)):
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        ticks += sum(map(int, fields[11:15] if process == parent else fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


async def fetched(wires: Sequence[Wire], states: Sequence[Json], fetches: int) -> tuple[set[int], float]:
    """Fetch the images of the raters' first trials, over and over; return the statuses and the mean size."""
    statuses, sizes = set[int](), list[int]()

    async def rater(wire: Wire, state: Json) -> None:
        tokens = [image["token"] for image in state["trial"]["images"]]
        for number in range(fetches // RATERS):
            status, content = await wire.ask("GET", f"/api/image/{tokens[number % len(tokens)]}")
            statuses.add(status)
            sizes.append(len(content))

    await asyncio.gather(*(rater(wire, state) for wire, state in zip(wires, states, strict=True)))
    return statuses, statistics.mean(sizes)


async def cost(server: Server, cluster: Cluster, fetches: int, expected: int) -> tuple[float, float, float]:
    """Processor time of server and database per image, in seconds, and its mean size."""
    wires = [Wire(server.port) for _ in range(RATERS)]
    states = [await come_in(wire, "pair") for wire in wires]
    end = time.monotonic() + 120
    while (await fetched(wires, states, 2 * RATERS))[0] != {expected}:
        assert time.monotonic() < end, f"images are not answered by {expected}"
    before = server.cpu_seconds(), database_seconds(cluster)
    _, size = await fetched(wires, states, fetches)
    spent = server.cpu_seconds() - before[0], database_seconds(cluster) - before[1]
    for wire in wires:
        wire.close()
    return spent[0] / fetches, spent[1] / fetches, size


def flush_seconds(url: str) -> float:
    """The median time of a commit that waits for the disk, less that of one that does not."""
    medians = {}
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("create table if not exists flushed (number int)")
        for waits in ("off", "on"):
            connection.execute(f"set synchronous_commit = {waits}")
            taken = []
            for number in range(COMMITS):
                began = time.perf_counter()
                connection.execute("insert into flushed values (%s)", (number,))
                taken.append(time.perf_counter() - began)
            medians[waits] = statistics.median(taken)
    return medians["on"] - medians["off"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fetches", type=int, default=4000)
    parser.add_argument("--side", type=int, default=512, help="of the images, in pixels")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print(f"{platform.machine()}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} cores, ", end="")
    print(f"load average at the start: {os.getloadavg()[0]:.1f}\n")
    with ExitStack() as stack:
        room = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="beholder-image-cost-")))
        room.chmod(0o755)
        os.environ |= stack.enter_context(s3_server(room / "s3"))
        SignedObjects(ADDRESS, "", media_type="text/plain").put("", b"")  # a bucket is made by what is put there
        question = PairQuestion(name="pair", design=Design(raters=4 * RATERS * options.turns, trials=20))
        folder = make_folder(room / "study", question, side=options.side)
        url, cluster = stack.enter_context(postgres(room / "pg"))
        reset(url)
        fill(folder, url)
        ways = {"sent": ((), 200), "redirect": (("--images-at", ADDRESS), 307)}
        servers = {name: Server(folder, url, options=own) for name, (own, _) in ways.items()}
        for server in servers.values():
            server.start()
            stack.callback(server.kill)
        print("| an image | ms of the server (range) | ms of the database (range) | bytes |\n|---|---|---|---|")
        rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
        for _ in range(options.turns):
            for name, (_, expected) in ways.items():
                rows[name].append(asyncio.run(cost(servers[name], cluster, options.fetches, expected)))
        for name, costs in rows.items():
            server_ms, database_ms = ([1e3 * row[part] for row in costs] for part in (0, 1))
            print(f"| {name} | {spread(server_ms)} | {spread(database_ms)} | {costs[0][2]:,.0f} |")
        flushes = [1e3 * flush_seconds(url) for _ in range(options.turns)]
        print(f"\nflush: {spread(flushes)} ms\nload average at the end: {os.getloadavg()[0]:.1f}")


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


if __name__ == "__main__":
    main()
