"""Comparisons with a named tool: same inputs, same process, alternating runs, ratios of medians."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version


@dataclass(frozen=True)
class Comparison:
    """One row: two functions that compute the same."""

    task: str
    ours: Callable[[], object]
    peer: Callable[[], object]
    package: str  # the peer, as installed
    turns: int = 5
    clock: Callable[[], float] = time.perf_counter
    """``time.process_time`` where other programs on the machine would disturb the ratio."""


@dataclass(frozen=True)
class Measured:
    """The result of a row: medians in seconds, and the ratio with its range over the runs."""

    task: str
    peer: str
    ours_seconds: float
    peer_seconds: float
    ratio: float
    lowest: float
    highest: float


def measure(row: Comparison) -> Measured:
    """Run both alternately, after one warm-up of each; ratios are computed within a run."""
    row.ours()
    row.peer()
    ours, peers = [], []
    for _ in range(row.turns):
        ours.append(_seconds(row.ours, row.clock))
        peers.append(_seconds(row.peer, row.clock))
    ratios = [peer / own for own, peer in zip(ours, peers, strict=True)]
    return Measured(
        task=row.task,
        peer=f"{row.package} {version(row.package)}",
        ours_seconds=statistics.median(ours),
        peer_seconds=statistics.median(peers),
        ratio=statistics.median(ratios),
        lowest=min(ratios),
        highest=max(ratios),
    )


def table(rows: list[Measured]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| task | peer | ours | peer's | ratio (range) |", "|---|---|---|---|---|"]
    for row in rows:
        lines.append(
            f"| {row.task} | {row.peer} | {row.ours_seconds:.3f} s | {row.peer_seconds:.3f} s "
            f"| **{_times(row.ratio)} ×** ({_times(row.lowest)}–{_times(row.highest)}) |"
        )
    return "\n".join(lines)


def _times(ratio: float) -> str:
    """Format a ratio; near 1 one decimal is too coarse."""
    return f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}"


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    work()
    return clock() - began
