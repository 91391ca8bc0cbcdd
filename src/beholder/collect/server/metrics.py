"""Metrics of a server in the OpenMetrics format, summed over its processes, on an address of their own.

They are not on the raters' address: numbers of sessions and times of requests are the researcher's. Counters are
files of ``prometheus_client``'s multiprocess mode, so that those of a process that was killed are not lost.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from beholder.collect.database.schema import Database, sessions, slots
from beholder.collect.server.operation import Operation
from beholder.errors import StageError

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper ends of the histogram of times, in seconds."""


class RequestCounters:
    """What one process counts: requests by route and status, and how long they took."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        labels = ["method", "route"]
        self._requests = Counter("beholder_requests", "Requests.", [*labels, "status"], registry=registry)
        self._seconds = Histogram(
            "beholder_request_seconds", "Time to the reply.", labels, buckets=BUCKETS, registry=registry
        )

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)


class StudyNumbers:
    """Sessions by status and slots of the study, read from the database when metrics are collected."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers; none while the database does not answer."""
        with suppress(SQLAlchemyError), self._database.reading() as connection:
            by_status = connection.execute(
                select(sessions.c.status, func.count()).group_by(sessions.c.status)
            ).all()
            by_done = connection.execute(select(slots.c.done, func.count()).group_by(slots.c.done)).all()
            counted = GaugeMetricFamily("beholder_sessions", "Sessions of raters.", labels=["status"])
            for name, number in by_status:
                counted.add_metric([name], number)
            yield counted
            places = GaugeMetricFamily("beholder_slots", "Slots of the study.", labels=["done"])
            for is_done, number in by_done:
                places.add_metric(["yes" if is_done else "no"], number)
            yield places


@contextmanager
def metrics_served(operation: Operation, database: Database) -> Iterator[None]:
    """Serve the metrics of all processes at ``operation.metrics`` while the block runs, if there is an address."""
    if not operation.metrics:
        yield
        return
    server = _listening(operation.metrics, _Exposition(operation, database))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


class _Exposition:
    """The text of all metrics."""

    def __init__(self, operation: Operation, database: Database) -> None:
        self._registry = CollectorRegistry()
        MultiProcessCollector(self._registry, path=str(operation.counters))  # type: ignore[no-untyped-call]
        self._registry.register(StudyNumbers(database))

    def text(self) -> tuple[bytes, str]:
        """Return the text and its media type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST  # type: ignore[no-untyped-call]


def _listening(address: str, exposition: _Exposition) -> ThreadingHTTPServer:
    host, _, port = address.rpartition(":")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404, "only /metrics is here")
                return
            content, media_type = exposition.text()
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing: it is collected every few seconds."""

    try:
        return ThreadingHTTPServer((host.strip("[]"), int(port)), Handler)
    except OSError as error:
        raise StageError(f"cannot serve metrics on {address}: {error.strerror or error}") from error
