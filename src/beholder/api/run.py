"""The loop: all stages of a study that have something to do, one after the other."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from beholder.api.stages import load_stage
from beholder.collect import stage as collect
from beholder.consolidate import stage as consolidate
from beholder.engines.engine import Engine
from beholder.errors import UserError, unknown_name
from beholder.learn.label_errors import find_label_errors
from beholder.measure.powered.step import run_powered
from beholder.tables.store import Store
from beholder.tables.work import Outcome

PAGE = "report.html"

Progress = Callable[[str, int, int], None]
"""To be called with (part, done, all) as work proceeds."""

Bar = Callable[[str], AbstractContextManager[Progress]]
"""Opens a progress report with a label."""


class Step(NamedTuple):
    """A stage that is ready to be run."""

    stage: str
    work: Callable[[Progress], Outcome]


@dataclass(frozen=True, slots=True, repr=False)
class RunOutcome:
    """What each stage did, in order, and the page that shows it."""

    stages: tuple[Outcome, ...]
    report: Path

    def __getitem__(self, stage: str) -> Outcome:
        """What a stage did."""
        by_name = {outcome.stage: outcome for outcome in self.stages}
        if stage not in by_name:
            raise UserError(unknown_name("stage", stage, by_name))
        return by_name[stage]

    def __repr__(self) -> str:
        return "\n".join([*map(str, self.stages), f"report: {self.report}"])


def run_study(
    folder: Path,
    *,
    raters: int | None = None,
    bad: int = 0,
    measure: bool = False,
    force: bool = False,
    include_excluded: bool = False,
    bar: Bar | None = None,
    after: Callable[[Outcome], None] | None = None,
) -> RunOutcome:
    """Run the stages that have something to do, from design to report.

    ``bar`` opens the progress report of each stage; ``after`` is called with what each stage did. Metrics are
    computed with ``measure`` only.
    """
    outcomes: list[Outcome] = []
    for step in steps(
        folder, raters=raters, bad=bad, measure=measure, force=force, include_excluded=include_excluded
    ):
        with (bar or _silent)(step.stage) as progress:
            outcomes.append(step.work(progress))
        if after:
            after(outcomes[-1])
    return RunOutcome(tuple(outcomes), folder / PAGE)


def consolidate_study(
    folder: Path,
    *,
    force: bool = False,
    include_excluded: bool = False,
    ranked: bool = True,
    engine: Engine | None = None,
) -> tuple[tuple[Outcome, ...], str]:
    """Consolidate the answers and rank the generators; return what was done, and why nothing could be ranked.

    With an ``engine``, its workers compute the bootstrap replicates of inter-rater agreement.
    """
    outcome = consolidate.run(folder, force=force, include_excluded=include_excluded, engine=engine)
    if not ranked:
        return (outcome,), ""
    try:
        return (outcome, load_stage("rank").run(folder)), ""
    except UserError as error:
        return (outcome,), str(error)


def rank_study(folder: Path, *, force: bool = False, include_excluded: bool = False) -> tuple[Outcome, ...]:
    """Rank the generators; with ``include_excluded`` the study is consolidated again first."""
    before = (consolidate.run(folder, include_excluded=True),) if include_excluded else ()
    return (*before, load_stage("rank").run(folder, force=force))


@contextmanager
def _silent(_: str) -> Iterator[Callable[[str, int, int], None]]:
    yield lambda _part, _done, _all: None


def steps(
    folder: Path,
    *,
    raters: int | None = None,
    bad: int = 0,
    measure: bool = False,
    force: bool = False,
    include_excluded: bool = False,
) -> Iterator[Step]:
    """Yield the stages in order, each ready to be run.

    With ``raters``, so many are simulated; collecting is left out where the answers exist already. No model is
    trained, but the predictions of trained ones are compared with the labels. Metrics take minutes
    for every thousand images: they are computed only with ``measure``. With ``include_excluded``, the answers of
    raters count whom screening excludes, and the results are marked.
    """
    yield Step("design", _uncounted(partial(load_stage("design").run, folder, force=force)))
    if raters is not None or not Store(folder).has("answers"):
        yield Step("collect", _uncounted(partial(collect.run, folder, people=raters, bad=bad, force=force)))
    screened = partial(consolidate.run, folder, force=force, include_excluded=include_excluded)
    yield Step("consolidate", _uncounted(screened))
    yield Step("rank", _uncounted(partial(load_stage("rank").run, folder, force=force)))
    if Store(folder).has("predictions"):
        yield Step("label errors", _uncounted(partial(find_label_errors, folder, force=force)))
    if measure:
        measured: Callable[..., Outcome] = load_stage("measure").run
        yield Step("measure", lambda progress: measured(folder, force=force, progress=progress))
    elif Store(folder).has("scores"):
        yield Step("powered", _uncounted(partial(run_powered, folder, force=force)))
    yield Step("report", _uncounted(partial(load_stage("report").run, folder, force=force)))


def _uncounted(work: Callable[[], Outcome]) -> Callable[[Progress], Outcome]:
    """The work of a stage that does not count how far it is."""
    return lambda _: work()
