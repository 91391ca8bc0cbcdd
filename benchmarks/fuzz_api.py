"""Fuzz test of the participants' API against its own OpenAPI document, by schemathesis.

python benchmarks/fuzz_api.py [--calls 10000] [--seed 1]

Every operation for raters in the OpenAPI document gets generated requests, well-formed and not, each with the
cookie of a session that is at a trial; well-formed answers are to the trial that was asked. A reply of 500 or more
fails, as does one that holds a word only the researcher may read; at the end the answers in the database are those
that were acknowledged.
"""

import argparse
import os
import platform
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.core.result import Ok
from schemathesis.core.transport import Response
from served import SCREEN, fill, make_folder

from beholder.collect.database.address import default_url
from beholder.collect.server.application import create_app
from beholder.collect.simulate.rehearsal import listening
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

TRUTH = ("aurora", "borealis", "known-bad", "attention", "sha256", "collect.sqlite", "Traceback", "sqlalchemy")
"""Words that no response to a rater may contain."""

Replies = Counter[str]
Json = dict[str, Any]


class Visits:
    """Sessions that are in a trial: a new one whenever the last has ended."""

    def __init__(self, address: str) -> None:
        self._client = httpx.Client(base_url=address, timeout=30)
        self.count = 0

    def cookie(self) -> str:
        """The cookie of a session that is at a trial."""
        self.trial()
        return self._client.cookies["beholder"]

    def trial(self) -> Json:
        """Its trial as the page gets it."""
        reply = self._client.get("/api/state")
        state: Json = reply.json() if reply.status_code == 200 else {"step": "done"}
        while state["step"] != "trial":
            state = self._step(state)
        trial: Json = state["trial"]
        return trial

    def _step(self, state: Json) -> Json:
        step = state["step"]
        if step == "consent":
            consent = {name: state["consent"][name] for name in ("hash", "version", "language")}
            return self._post("consent", consent | {"agreed": True})
        if step == "check":
            return self._post("check", SCREEN)
        if step == "instructions":
            return self._post("begin", {})
        self._client.cookies.clear()
        self.count += 1
        return self._post("enter", {"parameters": {}, "path": "/"})

    def _post(self, path: str, body: Json) -> Json:
        state: Json = self._client.post(f"/api/{path}", json=body).raise_for_status().json()
        return state


def fuzz(address: str, document: Json, calls: int, number: int) -> Replies:
    """Spread the calls over all operations; count the replies by status."""
    schema = schemathesis.openapi.from_dict(document)
    replies, visits = Counter[str](), Visits(address)
    operations = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    rater = [operation for operation in operations if operation.path.startswith("/api/")]
    modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
    for operation in rater:
        able = modes if operation.body or operation.path_parameters else modes[:1]
        for mode in able:
            _run(operation, mode, address, visits, -(-calls // len(rater) // len(able)), number, replies)
    replies["sessions"] = visits.count
    return replies


def _run(
    operation: "schemathesis.schemas.APIOperation[Any, Any, Any, Any]",
    mode: schemathesis.GenerationMode,
    address: str,
    visits: Visits,
    calls: int,
    number: int,
    replies: Replies,
) -> None:
    @seed(number)
    @settings(
        max_examples=calls,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: "schemathesis.Case[Any]") -> None:
        trial = visits.trial()
        if mode is schemathesis.GenerationMode.POSITIVE and isinstance(case.body, dict) and "trial" in case.body:
            case.body |= {"trial": trial["trial"], "attempt": trial["attempt"]}
            if case.body.get("said") and trial["options"]:
                case.body["said"] = [{"aspect": "realism", "choice": trial["options"][0]}]
        reply = case.call(base_url=address, cookies={"beholder": visits.cookie()}, timeout=30)
        if operation.path == "/api/answer" and reply.status_code == 200:
            replies["answers acknowledged"] += 1
        _check(reply, operation.label, str(case.body), replies)

    run()


def _check(reply: Response, label: str, sent: str, replies: Replies) -> None:
    replies[f"{reply.status_code // 100}xx"] += 1
    replies["calls"] += 1
    if reply.status_code >= 500:
        raise AssertionError(f"{label}: {reply.status_code} {reply.text[:300]}")
    words = [word for word in TRUTH if word in reply.text and word not in sent]  # an unknown key is named
    if words and "/api/texts/" not in label:  # the words of all pages, the same for everyone
        raise AssertionError(f"{label}: {words} in {reply.text[:300]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-fuzz-") as temporary:
        question = RealismQuestion(name="realism", design=Design(raters=600, trials=20))
        folder = make_folder(Path(temporary) / "study", question)
        url = default_url(folder)
        fill(folder, url)
        app = create_app(folder, url, limited=False)
        with listening(app) as address:
            replies = fuzz(address, app.openapi(), options.calls, options.seed)
        with closing(sqlite3.connect(folder / "collect.sqlite")) as connection:
            rows = connection.execute("select count(*) from responses").fetchone()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ", end="")
    print(f"schemathesis {version('schemathesis')}, fastapi {version('fastapi')}, seed {options.seed}\n")
    for name, count in sorted(replies.items()):
        print(f"{name}: {count:,}")
    print(f"answers written: {rows:,}\nno reply of 500 or more, no word of the truth")
    if rows != replies["answers acknowledged"]:
        raise SystemExit("the answers written are not those that were acknowledged")


if __name__ == "__main__":
    main()
