"""Load test of a panel's server: raters of three studies at once, at a human pace.

    python benchmarks/panel_load.py [--raters 300] [--seconds 90] [--studies 3] [--arriving] [--write]

Raters have arrived at their first trial before anything is measured; with ``--arriving`` they all do so within the
first seconds of it, while others answer already.
With ``--write`` the row is put into the table of docs/measured/panel-load.md, first.

The server is ``beholder panel serve`` in a process of its own. Each rater signs in by a personal link, looks at
the own page, takes a study, answers, and looks at the own page from time to time. Afterwards the databases are
asked, behind the server's back, for every answer that was acknowledged.
"""

import argparse
import asyncio
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from load import ARRIVAL_SECONDS, PACE_SECONDS, lost_and_doubled, percentiles
from served import Json, Wire, WireError, answer_body, free_port, make_folder
from served import come_in as enter_study

from beholder.collect.database.address import default_url
from beholder.collect.panel.logins import make_links
from beholder.collect.panel.opening import open_study
from beholder.collect.panel.schema import open_panel
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.study.study import FILE_NAME

MEASURED = Path(__file__).parents[1] / "docs" / "measured" / "panel-load.md"
HEADER = (
    "| raters, studies | answers | errors | lost | doubled | answer ms p50/p95/p99 | image ms p50/p95/p99 "
    "| own page ms p50/p95/p99 | server CPU (of one core) | load average |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)

LOOKS_EVERY = 20
"""Answers after which a rater looks at the own page."""


class PanelWire(Wire):
    """A connection of a rater of the panel: cookies of the panel and of one study, paths of that study."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.prefix, self.panel_cookie, self.csrf = "", "", ""

    async def ask(self, method: str, path: str, content: bytes = b"") -> tuple[int, bytes]:
        """Ask with both cookies; the panel's own paths begin with an exclamation mark."""
        own = path.startswith("!")
        target = path[1:] if own else self.prefix + path
        study, self.cookie = self.cookie, f"{self.cookie}; beholder_panel={self.panel_cookie}"
        if own:
            self.cookie += f"\r\nX-Beholder-CSRF: {self.csrf}"
        try:
            status, body = await super().ask(method, target, content)
            new = self.cookie.partition(";")[0]
        finally:
            self.cookie = study
        if not own and new != study:
            self.cookie = new
        return status, body


@dataclass
class Seen:
    """What the raters observed."""

    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    answer_ms: list[float] = field(default_factory=list)
    image_ms: list[float] = field(default_factory=list)
    page_ms: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


async def arrive(wire: PanelWire, study: str, seen: Seen) -> Json:
    """From the own page to the first trial of a study."""
    await own_page(wire, seen)
    status, body = await wire.ask("POST", "!/api/take", f'{{"study": "{study}"}}'.encode())
    if status != 200:
        raise WireError(f"take: {status} {body[:80]!r}")
    wire.prefix = f"/s/{study}"
    return await enter_study(wire, "pair")


async def rater(
    wire: PanelWire, study: str, seen: Seen, rng: np.random.Generator, end: float, state: Json | None
) -> None:
    """One rater: arrival, unless it is over, answers, own page."""
    try:
        await asyncio.sleep(rng.uniform(0, ARRIVAL_SECONDS))
        state = state or await arrive(wire, study, seen)
        held, count = set[str](), 0
        while time.perf_counter() < end and state["step"] == "trial":
            trial: Json = state["trial"]
            for token in [*(image["token"] for image in trial["images"]), *trial["prefetch"]]:
                if token not in held:
                    held.add(token)
                    began = time.perf_counter()
                    status, _ = await wire.ask("GET", f"/api/image/{token}")
                    seen.image_ms.append(1e3 * (time.perf_counter() - began))
                    if status != 200:
                        seen.errors[f"image {status}"] += 1
            pause = float(rng.lognormal(np.log(PACE_SECONDS), 0.5))
            if time.perf_counter() + pause > end:
                break
            await asyncio.sleep(pause)
            answer = answer_body(trial)
            began = time.perf_counter()
            reply = await wire.post("/api/answer", answer)
            seen.answer_ms.append(1e3 * (time.perf_counter() - began))
            seen.acknowledged.setdefault(study, []).append(answer["key"])
            state, count = reply["state"], count + 1
            if count % LOOKS_EVERY == 0:
                await own_page(wire, seen)
    except WireError as error:
        seen.errors[str(error)[:80]] += 1
    finally:
        wire.close()


async def own_page(wire: PanelWire, seen: Seen) -> None:
    began = time.perf_counter()
    status, body = await wire.ask("GET", "!/api/me")
    seen.page_ms.append(1e3 * (time.perf_counter() - began))
    if status != 200:
        raise WireError(f"me: {status}")
    rules, _ = await wire.ask("GET", "!/api/rules")
    if rules != 200:
        raise WireError(f"rules: {rules}")
    found = re.search(rb'"csrf":"([0-9a-f]+)"', body)
    wire.csrf = found[1].decode() if found else ""


async def sign_in(port: int, link: str) -> str:
    """Follow a personal link; return the cookie."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    content = f'{{"link": "{link.removeprefix("/i/")}"}}'.encode()
    head = f"POST /api/enter HTTP/1.1\r\nHost: b\r\nContent-Length: {len(content)}\r\n"
    head += "Content-Type: application/json\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + content)
    reply = await reader.read()
    writer.close()
    found = re.search(rb"beholder_panel=([^;]+)", reply)
    if found is None:
        raise WireError(f"sign-in: {reply[:120]!r}")
    return found[1].decode()


async def crowd(
    port: int, links: list[str], studies: list[str], seconds: float, *, arriving: bool
) -> tuple[Seen, float]:
    seen = Seen(acknowledged={name: [] for name in studies})
    wires = [PanelWire(port) for _ in links]
    chosen = [studies[number % len(studies)] for number in range(len(links))]
    for wire, link in zip(wires, links, strict=True):
        wire.panel_cookie = await sign_in(port, link)
    states: list[Json | None] = [None] * len(links)
    if not arriving:
        states = [await arrive(wire, study, seen) for wire, study in zip(wires, chosen, strict=True)]
    began = time.perf_counter()
    rngs = np.random.default_rng(1).spawn(len(links))
    each = zip(wires, chosen, rngs, states, strict=True)
    await asyncio.gather(
        *(rater(wire, study, seen, rng, began + seconds, state) for wire, study, rng, state in each)
    )
    return seen, time.perf_counter() - began


@contextmanager
def serving_panel(folder: Path) -> Iterator[tuple[int, int]]:
    port = free_port()
    command = [sys.executable, "-m", "beholder", "panel", "serve", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while "Ctrl-C" not in process.stdout.readline():
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
    time.sleep(10)  # until all images are encoded
    try:
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


def cpu_seconds(process: int) -> float:
    """User and system time of the server so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--raters", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--studies", type=int, default=3)
    parser.add_argument("--arriving", action="store_true", help=f"all arrive within {ARRIVAL_SECONDS:.0f} s")
    parser.add_argument("--write", action="store_true", help="put the row into the measured page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-panel-") as temporary:
        room = Path(temporary)
        database = open_panel(room / "panel", create=True)
        names = [f"study-{number + 1}" for number in range(options.studies)]
        for name in names:
            question = PairQuestion(name="pair", design=Design(raters=options.raters, trials=120))
            folder = make_folder(room / name, question)
            settings = (
                (folder / FILE_NAME).read_text(encoding="utf-8").replace('name = "bench"', f'name = "{name}"', 1)
            )
            (folder / FILE_NAME).write_text(settings, encoding="utf-8")
            with database.writing() as connection:
                open_study(connection, folder, researcher="ada", now=time.time())
        with database.writing() as connection:
            links = make_links(connection, options.raters, note="load", now=time.time())
        database.engine.dispose()
        load = os.getloadavg()[0]
        print(f"{platform.machine()}, {os.cpu_count()} cores; load average at the start {load:.1f}")
        with serving_panel(room / "panel") as (port, process):
            before = cpu_seconds(process)
            seen, took = asyncio.run(crowd(port, links, names, options.seconds, arriving=options.arriving))
            cpu = cpu_seconds(process) - before
        lost = doubled = 0
        for name in names:
            gone, twice = lost_and_doubled(default_url(room / name), seen.acknowledged[name])
            lost, doubled = lost + gone, doubled + twice
        answers = sum(map(len, seen.acknowledged.values()))
        manner = f"{took:.0f} s{', arriving' * options.arriving}"
        row = (
            f"| {options.raters}, {options.studies}, {manner} | {answers:,} ({answers / took:.0f}/s) "
            f"| {sum(seen.errors.values())} | {lost} | {doubled} | {percentiles(seen.answer_ms)} "
            f"| {percentiles(seen.image_ms)} | {percentiles(seen.page_ms)} | {100 * cpu / took:.0f} % "
            f"| {load:.0f} to {os.getloadavg()[0]:.0f} |"
        )
        print(HEADER, row, dict(seen.errors) or "no errors", sep="\n")
        if options.write:
            text = MEASURED.read_text(encoding="utf-8")
            if HEADER not in text:
                raise RuntimeError(f"{MEASURED} has no table with these columns")
            MEASURED.write_text(text.replace(HEADER, f"{HEADER}\n{row}", 1), encoding="utf-8")


if __name__ == "__main__":
    main()
