"""Two hosts behind a balancer that keeps nobody at one of them: disks of their own, one PostgreSQL."""

import shutil
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
from tests.collect.database.conftest import needs_postgres
from tests.collect.database.test_postgres import Json, Walker, rows
from tests.collect.display.test_images import wait_until
from tests.collect.server.test_operation import operated

from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.tables.store import Store

pytestmark = needs_postgres

RATERS, TRIALS = 6, 9
DRAINING_AFTER, GONE_AFTER = 3, 6
"""Answers after which each rater waits until the first host drains, and until it is gone."""


class Balancer(httpx.BaseTransport):
    """Sends each request to the next host, and to the other one where that host is gone, as a balancer does."""

    def __init__(self, addresses: list[str], turn: int) -> None:
        self._addresses, self._turn, self.moved = addresses, turn, 0
        self._network = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send it to the next host; where that fails, to the one after it."""
        self._turn += 1
        for attempt in range(len(self._addresses)):
            address = httpx.URL(self._addresses[(self._turn + attempt) % len(self._addresses)])
            request.url = request.url.copy_with(host=address.host, port=address.port)
            try:
                return self._network.handle_request(request)
            except httpx.TransportError:
                self.moved += 1
        raise AssertionError("no host is there")

    def close(self) -> None:
        """Close the connections."""
        self._network.close()


class Rater(Walker):
    """Looks at every image at both hosts, and waits between answers for what the test wants to happen."""

    def __init__(self, addresses: list[str], folder: Path, url: str, turn: int) -> None:
        self.balancer = Balancer(addresses, turn)
        super().__init__(
            [httpx.Client(transport=self.balancer, base_url="http://beholder", timeout=60)], folder, url
        )
        self.acknowledged: list[str] = []
        self.waits: dict[int, threading.Event] = {}

    def post(self, path: str, body: Json) -> httpx.Response:
        reply = super().post(path, body)
        if path == "answer" and reply.status_code == 200:
            self.acknowledged.append(body["key"])
            if (event := self.waits.get(len(self.acknowledged))) is not None:
                assert event.wait(120)
        content = reply.json()
        for image in (content.get("state", content).get("trial") or {}).get("images", []):
            assert self.look(image["token"]) == self.look(image["token"])
        return reply

    def look(self, token: str) -> bytes:
        """An image, as soon as the host whose turn it is has encoded it."""
        (client,) = self.clients
        while True:
            reply = client.get(f"/api/image/{token}", headers={"cookie": f"beholder={self.cookie}"})
            if reply.status_code == 200:
                return reply.content
            assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "preparing")


def status(address: str, probe: str) -> int:
    return httpx.get(f"{address}/api/{probe}", timeout=30).status_code


def test_a_host_drains_and_goes_while_raters_of_both_go_on(
    study_folder: Callable[..., Path], clean: str, tmp_path: Path
) -> None:
    folder = study_folder(RealismQuestion(name="q", design=Design(raters=RATERS + 1, trials=TRIALS)))
    disks = [shutil.copytree(folder, tmp_path / name) for name in ("first", "second")]
    draining, gone = threading.Event(), threading.Event()
    with ExitStack() as stack:
        first, one = stack.enter_context(operated(disks[0], "--database", clean, "--drain", "2"))
        second, other = stack.enter_context(operated(disks[1], "--database", clean, "--processes", "2"))
        raters = [Rater([one, other], folder, clean, turn) for turn in range(RATERS)]
        for rater in raters:
            rater.waits = {DRAINING_AFTER: draining, GONE_AFTER: gone}
            stack.callback(rater.clients[0].close)
        pool = stack.enter_context(ThreadPoolExecutor(RATERS))
        walks = [pool.submit(rater.walk) for rater in raters]
        wait_until(lambda: all(len(rater.acknowledged) == DRAINING_AFTER for rater in raters), 120)
        assert [status(address, "ready") for address in (one, other)] == [200, 200]

        first.send_signal(signal.SIGTERM)
        wait_until(lambda: status(one, "ready") == 503, 2)
        assert [status(one, "health"), status(other, "ready")] == [200, 200]
        draining.set()
        first.communicate(timeout=120)
        assert first.returncode == 0
        gone.set()
        assert [walk.result() for walk in walks] == ["done"] * RATERS
        assert sum(rater.balancer.moved for rater in raters) > 0  # some were on their way to the host that is gone

        _, again = stack.enter_context(operated(disks[0], "--database", clean))  # and back
        late = Rater([again, other], folder, clean, 0)
        stack.callback(late.clients[0].close)
        assert late.walk() == "done"
        assert late.balancer.moved == 0
        second.send_signal(signal.SIGTERM)
        second.communicate(timeout=120)
    acknowledged = [key for rater in (*raters, late) for key in rater.acknowledged]
    stored = [key for (key,) in rows(clean, "select key from responses")]
    assert sorted(stored) == sorted(acknowledged)  # none lost, none doubled
    assert rows(clean, "select 1 from responses where valid group by trial having count(*) > 1") == []
    assert rows(clean, "select status, count(*) from sessions group by status") == [("complete", RATERS + 1)]
    assert Store(disks[1]).read("answers").height == len(acknowledged)
