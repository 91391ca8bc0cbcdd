"""The loop: all stages of a study that have something to do, one after the other."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from beholder.api.stages import load_stage
from beholder.collect import stage as collect
from beholder.consolidate import stage as consolidate
from beholder.learn.label_errors import find_label_errors
from beholder.measure.powered.step import run_powered
from beholder.tables.store import Store
from beholder.tables.work import Outcome

Step = Callable[[], Outcome]

Bar = Callable[[str], AbstractContextManager[Callable[[str, int, int], None]]]
"""Opens a progress report with a label: within it, a function to be called with (part, done, all)."""


def steps(
    folder: Path,
    *,
    raters: int | None = None,
    bad: int = 0,
    measured: Bar | None = None,
    force: bool = False,
    include_excluded: bool = False,
) -> Iterator[Step]:
    """Yield the stages in order, each ready to be called.

    With ``raters``, so many are simulated; collecting is left out where the answers exist already. No model is
    trained, but the predictions of trained ones are compared with the labels. Metrics take minutes
    for every thousand images: they are computed only where a progress bar is given for them, ``measured``. With
    ``include_excluded``, the answers of raters count whom screening excludes, and the results are marked.
    """
    yield partial(load_stage("design").run, folder, force=force)
    if raters is not None or not Store(folder).has("answers"):
        yield partial(collect.run, folder, people=raters, bad=bad, force=force)
    yield partial(consolidate.run, folder, force=force, include_excluded=include_excluded)
    yield partial(load_stage("rank").run, folder, force=force)
    if Store(folder).has("predictions"):
        yield partial(find_label_errors, folder, force=force)
    if measured is not None:
        yield partial(_measure, folder, measured, force=force)
    elif Store(folder).has("scores"):
        yield partial(run_powered, folder, force=force)
    yield partial(load_stage("report").run, folder, force=force)


def _measure(folder: Path, bar: Bar, *, force: bool) -> Outcome:
    measure: Callable[..., Outcome] = load_stage("measure").run
    with bar("measure") as progress:
        return measure(folder, force=force, progress=progress)
