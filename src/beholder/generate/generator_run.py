"""All images of one generator: asked for in order, checked and kept while the next is being made."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from beholder.errors import WorkerError
from beholder.generate.attempt import Attempt, ask, check, identity_columns
from beholder.generate.earlier import identity_fault
from beholder.generate.energy import Meter, NoMeter
from beholder.generate.journal import Generation, Journal, Row
from beholder.generate.patience import Patience
from beholder.generate.plan import Job, Key
from beholder.generators.generator import Generator
from beholder.images.in_order import in_order
from beholder.workers.identity import Identity


def run_generator(
    jobs: Sequence[Job],
    generator: Generator,
    journal: Journal,
    rows: Mapping[Key, Generation],
    *,
    meter: Meter,
    progress: Callable[[int, int], None] | None = None,
) -> str | None:
    """Make the images of one generator; its failures are rows, and never stop the run.

    Args:
        jobs: at least one, all of the same generator.
        generator: what makes them.
        journal: where each image and its row are kept.
        rows: what there is already: a generator that is another than before makes no image.
        meter: measures the energy of each image, where they are made one after the other.
        progress: called with the number of images that are done, and of all.

    Returns:
        What is wrong with the generator as a whole, or ``None``.
    """
    settings = jobs[0].generator
    try:
        identity = generator.identity
    except WorkerError as error:
        for job in jobs:
            journal.keep(*check(Attempt(job, not_started(error)), None))
        return None
    fault = identity_fault(settings.name, identity_columns(identity), rows)
    if fault:
        return fault
    with ThreadPoolExecutor(1) as keeper:
        requests = _Requests(generator, settings.give_up, meter, _Keeper(keeper, identity, journal))
        for number, _ in enumerate(requests.attempts(jobs), start=1):
            if progress:
                progress(number, len(jobs))
    return None


def not_started(error: WorkerError) -> WorkerError:
    """Return the reason why none of a generator's images was made."""
    return WorkerError(f"could not be started: {error}", fault="start")


class _Keeper:
    """Checks and keeps one image at a time in a thread, while the generator makes the next."""

    def __init__(self, pool: ThreadPoolExecutor, identity: Identity, journal: Journal) -> None:
        self._pool, self._identity, self._journal = pool, identity, journal
        self._pending: Future[Row] | None = None

    def keep(self, attempt: Attempt) -> None:
        """Begin to check an image and to write it with its row."""
        self._pending = self._pool.submit(self._check_and_write, attempt)

    def settle(self) -> Row | None:
        """Return the row of the image that was last kept, once that is done; ``None`` where it was settled."""
        pending, self._pending = self._pending, None
        return None if pending is None else pending.result()

    def _check_and_write(self, attempt: Attempt) -> Row:
        generation, content = check(attempt, self._identity)
        self._journal.keep(generation, content)
        return generation.row


class _Requests:
    """Asks for image after image; after ``give_up`` failures in a row no more are asked for."""

    def __init__(self, generator: Generator, give_up: int, meter: Meter, keeper: _Keeper) -> None:
        self._generator, self._patience, self._keeper = generator, Patience(give_up), keeper
        self._meter = (
            meter if generator.concurrency == 1 else NoMeter()
        )  # shared energy belongs to no single image

    def attempts(self, jobs: Sequence[Job]) -> Iterator[Attempt]:
        """Yield what became of each request, in order; each is kept before the next but one is asked for."""
        several = self._generator.concurrency
        for attempt in in_order(self._attempt, jobs, several) if several > 1 else map(self._attempt, jobs):
            self._count(self._keeper.settle())
            self._keeper.keep(attempt)
            if isinstance(attempt.reply, WorkerError) or self._patience.in_a_row:
                self._count(self._keeper.settle())  # whether to go on depends on it
            yield attempt
        self._count(self._keeper.settle())

    def _attempt(self, job: Job) -> Attempt:
        if self._patience.is_over:
            return Attempt(job, self._patience.not_attempted())
        return ask(job, self._generator, self._meter)

    def _count(self, row: Row | None) -> None:
        if row is not None:
            self._patience.count(row)
