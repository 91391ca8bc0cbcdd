"""Metrics of a server in the OpenMetrics format, summed over its processes, on an address of their own.

They are not on the raters' address: numbers of sessions and times of requests are the researcher's. Counters are
files of ``prometheus_client``'s multiprocess mode, so that those of a process that was killed are not lost.
"""

import functools
import threading
from collections.abc import Iterator, Mapping
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


@functools.cache
def request_counters() -> "RequestCounters":
    """Return the counters of this process, which its applications share: two would write over each other."""
    return RequestCounters()


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
    """Sessions by status and slots of each study, read from its database when metrics are collected."""

    def __init__(self, databases: Mapping[str, Database]) -> None:
        """Take the databases by the names of their studies; a study without a name has no label of it."""
        self._databases = databases

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers; none of a study whose database does not answer."""
        databases = dict(self._databases)
        own = ["study"] if any(databases) else []
        counted = GaugeMetricFamily("beholder_sessions", "Sessions of raters.", labels=[*own, "status"])
        places = GaugeMetricFamily("beholder_slots", "Slots of the study.", labels=[*own, "done"])
        for study, database in databases.items():
            name = [study] if own else []
            with suppress(SQLAlchemyError), database.reading() as connection:
                by_status = connection.execute(
                    select(sessions.c.status, func.count()).group_by(sessions.c.status)
                ).all()
                by_done = connection.execute(select(slots.c.done, func.count()).group_by(slots.c.done)).all()
                for status, number in by_status:
                    counted.add_metric([*name, status], number)
                for is_done, number in by_done:
                    places.add_metric([*name, "yes" if is_done else "no"], number)
        yield from (counted, places)


@contextmanager
def metrics_served(operation: Operation, databases: Mapping[str, Database]) -> Iterator[None]:
    """Serve the metrics of all processes at ``operation.metrics`` while the block runs.

    Args:
        operation: Of the server.
        databases: Of its studies, by name; studies may be added meanwhile.
    """
    server = _listening(operation.metrics, _Exposition(operation, databases))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


class _Exposition:
    """The text of all metrics."""

    def __init__(self, operation: Operation, databases: Mapping[str, Database]) -> None:
        self._registry = CollectorRegistry()
        MultiProcessCollector(self._registry, path=str(operation.counters))  # type: ignore[no-untyped-call]
        self._registry.register(StudyNumbers(databases))

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
