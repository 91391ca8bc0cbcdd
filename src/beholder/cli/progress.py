"""Progress on stderr: a bar with the time left on a terminal, and a line every ten seconds elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

EVERY = 10.0
"""Seconds between two lines where stderr is no terminal."""

Report = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to be called with (done, all) as work proceeds; the bar goes when the block ends."""
    with progress_report(label) as report:
        yield lambda done, total: report(label, done, total)


@contextmanager
def progress_report(label: str) -> Iterator[Report]:
    """Yield a function for work of several parts, which names the part; ``label`` stands until the first call."""
    if sys.stderr.isatty():
        yield from _bars(label)
    else:
        yield from _lines(label)


@contextmanager
def progress_of_walk(label: str) -> Iterator[Report]:
    """Yield a function for one work whose parts are counted together: one bar, with the time left of all of it."""
    if not sys.stderr.isatty():
        yield from _lines(label, of_all_parts=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(
        *columns, TextColumn("{task.fields[left]}"), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(label, total=None, left="")
        began = time.monotonic()

        def report(part: str, done: int, total: int) -> None:
            left = _left(time.monotonic() - began, done, total)
            bar.update(task, description=f"{label}: {part}", completed=done, total=total, left=left)

        yield report


def _left(seconds: float, done: int, total: int) -> str:
    return f"about {seconds * (total - done) / done:,.0f} s left" if 0 < done < total else ""


def _bars(label: str) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {label: bar.add_task(label, total=None)}

        def report(part: str, done: int, total: int) -> None:
            if part not in tasks:
                for task in tasks.values():
                    bar.update(task, visible=False)
                tasks[part] = bar.add_task(part, total=total)
            bar.update(tasks[part], completed=done, total=total)

        yield report


def _lines(label: str, *, of_all_parts: bool = False) -> Iterator[Report]:
    ended, state = threading.Event(), _State(label, of_all_parts=of_all_parts)
    reporter = threading.Thread(target=_print_lines, args=(state, ended), daemon=True)
    reporter.start()
    try:
        yield state.report
    finally:
        ended.set()
        reporter.join()


class _State:
    """How far the work is: written by the work, read by the thread that prints."""

    def __init__(self, label: str, *, of_all_parts: bool = False) -> None:
        self._now = (label, 0, 0, time.monotonic())
        self._label, self._of_all_parts = label, of_all_parts

    def report(self, part: str, done: int, total: int) -> None:
        began = self._now[3] if self._of_all_parts or part == self._now[0] else time.monotonic()
        self._now = (part, done, total, began)

    def __str__(self) -> str:
        part, done, total, began = self._now
        seconds = time.monotonic() - began
        if not total:
            return f"{part}: {seconds:,.0f} s so far"
        left = _left(seconds, done, total)
        if self._of_all_parts:
            return ", ".join(filter(None, (f"{self._label}: {part}, {done / total:.0%}", left)))
        return ", ".join(filter(None, (f"{part}: {done:,} of {total:,}", left)))


def _print_lines(state: _State, ended: threading.Event) -> None:
    while not ended.wait(EVERY):
        click.echo(str(state), file=sys.stderr)
