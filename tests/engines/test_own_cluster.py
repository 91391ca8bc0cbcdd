"""A cluster of our own: it works without the processes that watch a cluster, and leaves Ray as it was."""

import sys
from pathlib import Path

import pytest

from beholder.engines.engine import open_engine

pytest.importorskip("ray", reason="ray is not installed: pip install 'beholder[ray]'")
from ray._private.node import Node

from beholder.engines.own_cluster import WATCHERS


def started() -> list[str]:
    """Return the commands of the processes that this one has started."""
    children = " ".join(file.read_text() for file in Path("/proc/self/task").glob("*/children")).split()
    return [Path(f"/proc/{child}/cmdline").read_text() for child in children]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_watchers() -> None:
    methods = [getattr(Node, name) for name in WATCHERS]
    with open_engine("ray", workers=1) as engine:
        commands = started()
        assert list(engine.map(abs, [-1, 2])) == [1, 2]
    assert any("gcs_server" in command for command in commands)
    assert any("raylet" in command for command in commands)
    for name in ("monitor.py", "dashboard.py"):
        assert not any(name in command.partition("--")[0] for command in commands)
    assert [getattr(Node, name) for name in WATCHERS] == methods
