"""What an answer costs a panel's server and a study's own: processor time and transactions, request after request.

    python benchmarks/panel_cost.py [--answers 90] [--rounds 3]

Both applications run in this process, without sockets, with the same study; processor time hardly depends on what
else the machine does. Transactions that write are each flushed to the disk.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
from served import SCREEN, Json, answer_body, make_folder
from sqlalchemy import Connection, event

from beholder.collect.database.address import default_url
from beholder.collect.database.schema import Database
from beholder.collect.panel.logins import make_links
from beholder.collect.panel.opening import open_study
from beholder.collect.panel.schema import open_panel
from beholder.collect.panel.server.application import create_panel_app
from beholder.collect.panel.server.new_studies import prepare_study
from beholder.collect.server.application import create_app
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.study.study import FILE_NAME

STUDIES = ("study-1", "study-2", "study-3")
FIRST = 10
"""Answers before the count begins."""


class Visit:
    """A rater of one application, and what the answers cost."""

    def __init__(self, client: httpx.AsyncClient, prefix: str) -> None:
        self.client, self.prefix = client, prefix
        self.state: Json = {}

    async def post(self, path: str, body: Json) -> Json:
        reply = await self.client.post(self.prefix + path, json=body)
        reply.raise_for_status()
        content: Json = reply.json()
        self.state = content.get("state", content)
        return content

    async def begin(self) -> None:
        await self.post("/api/enter", {"parameters": {}, "path": "/", "language": "en"})
        consent = self.state["consent"]
        await self.post(
            "/api/consent", {"agreed": True} | {k: consent[k] for k in ("hash", "version", "language")}
        )
        await self.post("/api/check", SCREEN | {"user_agent": "benchmark"})
        await self.post("/api/begin", {})

    async def answer(self, count: int) -> None:
        for _ in range(count):
            await self.post("/api/answer", answer_body(self.state["trial"]))


def counted(database: Database, name: str, counts: Counter[str]) -> None:
    """Count the transactions of a database."""

    @event.listens_for(database.engine, "begin")
    def note(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        counts[f"{name} {'writes' if writes else 'reads'}"] += 1


async def cost(visit: Visit, answers: int, counts: Counter[str]) -> tuple[float, dict[str, float]]:
    """Return milliseconds of processor time an answer, and transactions an answer."""
    await visit.begin()
    await visit.answer(FIRST)
    counts.clear()
    began = time.process_time()
    await visit.answer(answers)
    spent = 1e3 * (time.process_time() - began) / answers
    return spent, {name: round(number / answers, 2) for name, number in sorted(counts.items())}


async def measure(room: Path, links: list[str], answers: int) -> dict[str, tuple[float, dict[str, float]]]:
    folder = room / STUDIES[0]
    rows = {}
    alone = create_app(folder, default_url(folder), limited=False, fill=False)
    counts = Counter[str]()
    counted(alone.state.service.database, "study", counts)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(alone), base_url="http://b") as client:
        rows["answer, a study alone"] = await cost(Visit(client, ""), answers, counts)
    places = {name: (room / name, default_url(room / name)) for name in STUDIES}
    panel = create_panel_app(room / "panel", None, places, limited=False, fill=False)
    counts = Counter[str]()
    counted(panel.state.service.database, "panel", counts)
    for name in STUDIES:
        counted(panel.studies[name].state.service.database, "study", counts)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(panel), base_url="http://b") as client:
        (await client.post("/api/enter", json={"link": links.pop().removeprefix("/i/")})).raise_for_status()
        csrf = (await client.get("/api/me")).json()["csrf"]
        taken = await client.post("/api/take", json={"study": STUDIES[0]}, headers={"X-Beholder-CSRF": csrf})
        taken.raise_for_status()
        rows["answer, a panel of three"] = await cost(Visit(client, f"/s/{STUDIES[0]}"), answers, counts)
        for path in ("/api/me", "/api/rules"):
            (await client.get(path)).raise_for_status()
            counts.clear()
            began = time.process_time()
            for _ in range(answers):
                (await client.get(path)).raise_for_status()
            spent = 1e3 * (time.process_time() - began) / answers
            rows[path] = spent, {name: round(number / answers, 2) for name, number in sorted(counts.items())}
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--answers", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-cost-") as temporary:
        room = Path(temporary)
        database = open_panel(room / "panel", create=True)
        for name in STUDIES:
            design = Design(raters=2 * options.rounds + 2, trials=options.answers + 2 * FIRST)
            folder = make_folder(room / name, PairQuestion(name="pair", design=design))
            settings = (folder / FILE_NAME).read_text(encoding="utf-8")
            settings = settings.replace('name = "bench"', f'name = "{name}"', 1)
            (folder / FILE_NAME).write_text(settings, encoding="utf-8")
            prepare_study(name, folder, default_url(folder), None)
            with database.writing() as connection:
                open_study(connection, folder, researcher="ada", now=time.time())
        with database.writing() as connection:
            links = make_links(connection, options.rounds, note="", now=time.time())
        rounds = [asyncio.run(measure(room, links, options.answers)) for _ in range(options.rounds)]
    print("| request | ms of processor time (median, range over rounds) | transactions |\n|---|---|---|")
    for name in rounds[0]:
        spent = [each[name][0] for each in rounds]
        made = ", ".join(f"{number:g} {what}" for what, number in rounds[-1][name][1].items())
        print(f"| {name} | {statistics.median(spent):.2f} ({min(spent):.2f} to {max(spent):.2f}) | {made} |")


if __name__ == "__main__":
    main()
