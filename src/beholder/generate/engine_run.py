"""All images of one generator, made by the workers of an engine; the journal and the files stay in this process.

A worker is sent some requests at a time, and returns rows and bytes, which are kept in the order of the plan. So
images, rows and the point at which a generator is given up are those of a run without an engine, and a run that
was killed goes on with what is not in the journal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path

from beholder.engines.engine import Engine
from beholder.errors import WorkerError
from beholder.generate.attempt import Attempt, ask, check, identity_columns
from beholder.generate.earlier import identity_fault
from beholder.generate.energy import NoMeter
from beholder.generate.generator_run import not_started
from beholder.generate.journal import Generation, Journal
from beholder.generate.patience import Patience
from beholder.generate.plan import Job, Key
from beholder.generators.catalogue import open_generator
from beholder.generators.generator import Generator
from beholder.images.decode import quiet_pillow
from beholder.study.generating import AnyGenerator
from beholder.workers.identity import Identity

SHARD = 8
"""Images that a worker is sent at a time."""


def run_by_engine(
    engine: Engine,
    jobs: Sequence[Job],
    base: Path,
    journal: Journal,
    rows: Mapping[Key, Generation],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> str | None:
    """Make the images of one generator, as :func:`beholder.generate.generator_run.run_generator` does.

    Args:
        engine: whose workers open the generator, each its own.
        jobs: at least one, all of the same generator.
        base: the folder that relative paths start from, which all workers can read.
        journal: where each image and its row are kept.
        rows: what there is already: a generator that is another than before makes no image.
        progress: called with the number of images that are done, and of all.

    Returns:
        What is wrong with the generator as a whole, or ``None``.
    """
    settings = jobs[0].generator
    keeper = _Keeper(settings, journal, rows)
    shards = [tuple(jobs[start : start + SHARD]) for start in range(0, len(jobs), SHARD)]
    asked_for = takewhile(lambda _: not keeper.patience.is_over, shards)
    for answer in engine.map(partial(_make, settings, base.resolve()), asked_for):
        if answer.not_started and keeper.done == 0:
            for job in jobs:
                journal.keep(*check(Attempt(job, WorkerError(answer.not_started, fault="start")), None))
            return None
        fault = keeper.keep(shards[keeper.done // SHARD], answer)
        if fault:
            return fault
        if progress:
            progress(keeper.done, len(jobs))
    for job in jobs[keeper.done :]:
        keeper.give_up(job)
    return None


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a worker has made of some images: rows and bytes in their order."""

    identity: Identity | None
    not_started: str
    """Why the generator could not be started there; empty where it could."""
    images: tuple[tuple[Generation, bytes | None], ...]


class _Keeper:
    """Keeps what workers have made, in the order of the plan."""

    def __init__(self, settings: AnyGenerator, journal: Journal, rows: Mapping[Key, Generation]) -> None:
        self._name, self._journal, self._rows = settings.name, journal, rows
        self._identity: Identity | None = None
        self.patience = Patience(settings.give_up)
        self.done = 0

    def keep(self, jobs: Sequence[Job], answer: _Answer) -> str | None:
        """Keep the next images; nothing is kept, and a fault returned, where another generator has made them."""
        fault = self._fault(answer.identity) if answer.identity else None
        if fault:
            return fault
        self._identity = answer.identity or self._identity
        for job, (generation, content) in zip(jobs, answer.images, strict=True):
            if self.patience.is_over:
                self.give_up(job)
            else:
                self._journal.keep(generation, content)
                self.patience.count(generation.row)
        self.done += len(jobs)
        return None

    def give_up(self, job: Job) -> None:
        """Keep the row of an image that is not made, or that was under way when the generator was given up."""
        self._journal.keep(*check(Attempt(job, self.patience.not_attempted()), self._identity))

    def _fault(self, identity: Identity) -> str | None:
        columns = identity_columns(identity)
        if self._identity is None:
            return identity_fault(self._name, columns, self._rows)
        before = identity_columns(self._identity)
        if columns == before:
            return None
        differing = next(name for name in columns if columns[name] != before[name])
        return (
            f"'{self._name}' is not the same on all workers: {differing} is {before[differing]} on one and "
            f"{columns[differing]} on another. The images of the first are kept; install the same on all machines"
        )


def _make(settings: AnyGenerator, base: Path, jobs: Sequence[Job]) -> _Answer:
    """Make some images, in a worker."""
    generator, patience = _opened(settings, base), Patience(settings.give_up)
    images: list[tuple[Generation, bytes | None]] = []
    try:
        identity = generator.identity
    except WorkerError as error:
        reason = not_started(error)
        return _Answer(None, str(reason), tuple(check(Attempt(job, reason), None) for job in jobs))
    with quiet_pillow():
        for job in jobs:
            attempt = (
                Attempt(job, patience.not_attempted()) if patience.is_over else ask(job, generator, NoMeter())
            )
            images.append(check(attempt, identity))
            patience.count(images[-1][0].row)
    return _Answer(identity, "", tuple(images))


_open: dict[tuple[Path, str], Generator] = {}
"""The generator that this worker has open: a pipeline is loaded once, not for every few images."""


def _opened(settings: AnyGenerator, base: Path) -> Generator:
    key = (base, settings.model_dump_json())
    if key not in _open:
        close_opened()
        _open[key] = open_generator(settings, base)
    return _open[key]


def close_opened() -> None:
    """Close the generator that this process has opened as a worker."""
    while _open:
        _open.popitem()[1].close()
