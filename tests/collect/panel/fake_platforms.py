"""Prolific and MTurk as they answer over HTTP; they can fall silent after they have done what they were told."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass
class FakePlatform:
    """What the platform has done, and how it misbehaves."""

    address: str = ""
    paid: Counter[str] = field(default_factory=Counter)
    """cents by rater"""
    calls: Counter[str] = field(default_factory=Counter)
    bulks: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    bonuses: dict[str, list[str]] = field(default_factory=dict)
    silent_after: int = 0
    """answers to orders that are kept back, though the order is carried out"""
    refuses: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_silent(self) -> bool:
        self.silent_after -= 1
        return self.silent_after >= 0

    def prolific(self, method: str, path: str, body: Json) -> Json | None:
        if self.refuses:
            raise PermissionError
        if path.endswith("/submissions/") and method == "GET":
            self.calls["list"] += 1
            rows = [{"participant_id": who, "bonus_payments": [cents]} for who, cents in self.paid.items()]
            return {"results": rows, "_links": {"next": {"href": None}}}
        if path.endswith("/bonus-payments/"):
            self.calls["prepare"] += 1
            name = f"bulk-{len(self.bulks)}"
            lines = [line.split(",") for line in body["csv_bonuses"].splitlines()]
            self.bulks[name] = [(who, round(float(amount) * 100)) for who, amount in lines]
            return {"id": name}
        self.calls["pay"] += 1
        for who, cents in self.bulks[path.split("/")[-3]]:  # not idempotent: each time it is told, it pays
            self.paid[who] += cents
        return None if self.is_silent() else {}

    def mturk(self, operation: str, body: Json) -> Json | None:
        self.calls[operation] += 1
        if operation == "ListBonusPayments":
            return {"BonusPayments": [{"BonusAmount": x} for x in self.bonuses.get(body["AssignmentId"], [])]}
        if body["UniqueRequestToken"] in self.tokens:
            raise FileExistsError
        self.tokens.add(body["UniqueRequestToken"])
        self.paid[body["WorkerId"]] += round(float(body["BonusAmount"]) * 100)
        self.bonuses.setdefault(body["AssignmentId"], []).append(body["BonusAmount"])
        return None if self.is_silent() else {}


@contextmanager
def running(platform: FakePlatform) -> Iterator[FakePlatform]:
    """Serve it on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            return

        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def _answer(self, method: str) -> None:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(content) if content else {}
            target = self.headers.get("x-amz-target", "")
            with platform.lock:
                try:
                    if target:
                        assert "Signature=" in self.headers["authorization"]
                        answer = platform.mturk(target.partition(".")[2], body)
                    else:
                        assert self.headers["authorization"] == "Token secret"
                        answer = platform.prolific(method, self.path, body)
                    status = 200
                except PermissionError:
                    status, answer = 403, {"error": "not enough money"}
                except FileExistsError:
                    status, answer = 400, {"Message": "There is already a bonus with this UniqueRequestToken"}
            if answer is None:
                self.close_connection = True  # the order is carried out, and the connection breaks
                self.connection.close()
                return
            text = json.dumps(answer).encode()
            with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked was killed
                self._reply(status, text)

        def _reply(self, status: int, text: bytes) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    platform.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield platform
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
