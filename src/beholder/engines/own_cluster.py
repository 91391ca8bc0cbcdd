"""A cluster of Ray that ends with its driver, with no more processes than its tasks need.

Ray starts services for whoever watches a cluster, adds machines to it or reads its logs from elsewhere. Each is a
Python process that takes about a second of processor time to start, and a little for as long as it runs.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ray
from ray._private.node import Node

OWN_CLUSTER: dict[str, Any] = {
    "address": "local",
    "include_dashboard": False,
    "_system_config": {"task_events_report_interval_ms": 0, "enable_metrics_collection": False},
}
"""Nobody looks at such a cluster: records of tasks and figures on processes would be held for nothing."""

WATCHERS = ("start_monitor", "start_api_server", "start_log_monitor")
"""Methods of Ray's node that start what adds machines, what serves the dashboard, and what passes logs on."""


def start_own(workers: int, settings: Mapping[str, Any]) -> None:
    """Start a cluster on this machine, which ``ray.shutdown`` or the end of this process ends."""
    with _without_watchers():
        ray.init(num_cpus=workers, **OWN_CLUSTER, **settings)


@contextmanager
def _without_watchers() -> Iterator[None]:
    """Let a node of Ray start nothing that watches it; a Ray that calls its methods otherwise starts all."""
    methods = {name: getattr(Node, name) for name in WATCHERS if hasattr(Node, name)}
    for name in methods:
        setattr(Node, name, _start_nothing)
    try:
        yield
    finally:
        for name, method in methods.items():
            setattr(Node, name, method)


def _start_nothing(_: Node, **_options: object) -> None:
    """Stand where a service would be started."""
