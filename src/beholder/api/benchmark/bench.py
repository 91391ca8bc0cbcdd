"""A benchmark with one command: from prompt sets through generators, raters and scorers to a board.

Every stage is skipped where nothing that it depends on has changed, and what a killed run had done is kept.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

from beholder.api.benchmark.lock import lock_study
from beholder.api.benchmark.plan import BenchPlan, plan_bench
from beholder.api.learning import train_model
from beholder.api.run import PAGE, Bar, RunOutcome
from beholder.api.stages import load_stage
from beholder.api.study_folder import StudyFolder, folder_of
from beholder.collect import stage as collect
from beholder.consolidate import stage as consolidate
from beholder.design.add import add_generations
from beholder.report.board_site import stage as site
from beholder.simulate.painted_truth import write_painted_truth
from beholder.study.study import load_study
from beholder.tables.store import Store
from beholder.tables.work import Outcome

Step = Callable[[], Outcome]

SITE = "site"
"""Folder of the site within the study folder."""


@dataclass(frozen=True, slots=True, repr=False)
class BenchOutcome(RunOutcome):
    """What each stage did, the pages that show the results, and the lock."""

    site: Path = Path()
    lock: Path = Path()

    def __repr__(self) -> str:
        pages = [f"report: {self.report}", f"site: {self.site}", f"lock: {self.lock}"]
        return "\n".join([*map(str, self.stages), *pages])


def bench(
    study: "str | Path | StudyFolder",
    *,
    simulate: int | None = None,
    bad: int = 0,
    force: bool = False,
    bar: Bar | None = None,
    after: Callable[[Outcome], None] | None = None,
) -> BenchOutcome:
    """Run a benchmark from prompts to board, as ``beholder bench`` does, and write its lock.

    Args:
        study: The benchmark's folder: a study with ``[[generators]]`` and ``[benchmark]``, and ``curate.toml``.
        simulate: So many simulated raters answer; by default answers of people are used where there are any, and
            otherwise the board has automatic measures only.
        bad: Of the simulated raters, with bad habits.
        force: Do every stage even if nothing has changed.
        bar: Opens a progress report with a label.
        after: Called with what each stage did.

    Returns:
        What each stage did; its ``report`` is a page, its ``site`` the folder of a site that can be published, and
        its ``lock`` the file that a rerun is compared with.

    Example:
        >>> import beholder as bh
        >>> outcome = bh.bench("my-benchmark", simulate=20)
        >>> outcome.lock.as_posix(), bh.open_study("my-benchmark").board["measure"].unique().sort().to_list()
        ('my-benchmark/study.lock', ['preference', 'sharpness'])
    """
    folder = folder_of(study)
    plan = plan_bench(folder, raters=simulate, bad=bad)
    outcomes: list[Outcome] = []
    for step in bench_steps(folder, plan, force=force, bar=bar):
        outcomes.append(step())
        if after:
            after(outcomes[-1])
    return BenchOutcome(tuple(outcomes), folder / PAGE, folder / SITE, lock_study(folder))


def bench_steps(folder: Path, plan: BenchPlan, *, force: bool = False, bar: Bar | None = None) -> Iterator[Step]:
    """Yield the stages of a plan in the order of the loop, each ready to be called."""
    report = bar or _silent
    plain: dict[str, Step] = {
        "curate": partial(load_stage("curate").run, folder, force=force),
        "generate": partial(_generate, folder, plan, report, force=force),
        "new": partial(_take_in, folder),
        "design": partial(load_stage("design").run, folder, force=force),
        "collect": partial(_collect, folder, plan, report, force=force),
        "consolidate": partial(consolidate.run, folder, force=force, include_excluded=plan.include_excluded),
        "rank": partial(load_stage("rank").run, folder, force=force),
        "learn": partial(_learn, folder, plan, report, force=force),
        "measure": partial(_measure, folder, plan, report, force=force),
        "board": partial(load_stage("board").run, folder, force=force),
        "report": partial(load_stage("report").run, folder, force=force),
        "site": partial(_write_site, folder, report, force=force),
    }
    return (step for stage, step in plain.items() if stage in plan.stages)


@contextmanager
def _silent(_: str) -> Iterator[Callable[[str, int, int], None]]:
    yield lambda _part, _done, _all: None


def _generate(folder: Path, plan: BenchPlan, bar: Bar, *, force: bool) -> Outcome:
    """Generate what is missing; taking the images in is the next step."""
    run = cast("Callable[..., Outcome]", load_stage("generate").run)
    with bar("generate") as progress:
        return run(folder, force=force, generating=plan.generating, progress=progress)


def _take_in(folder: Path) -> Outcome:
    added = add_generations(folder)
    total = sum(added.images.values())
    return Outcome("new", skipped=not total, rows={"images": total}, note="; ".join(added.notes))


def _collect(folder: Path, plan: BenchPlan, bar: Bar, *, force: bool) -> Outcome:
    """Collect from simulated raters, who see the ground truth where painters made all images."""
    if plan.raters is not None:
        with bar("ground truth") as progress:
            write_painted_truth(
                Store(folder), seed=load_study(folder).seed, progress=partial(progress, "ground truth")
            )
    return collect.run(folder, people=plan.raters, bad=plan.bad, force=force)


def _learn(folder: Path, plan: BenchPlan, bar: Bar, *, force: bool) -> Outcome:
    """Train every model, or continue; one outcome for all of them."""
    outcomes = []
    for name, recipe in plan.recipes.items():
        with bar(f"learn {name}") as progress:
            outcomes.append(
                train_model(
                    folder,
                    recipe,
                    name=name,
                    resume=not force,
                    force=force,
                    progress=partial(progress, f"learn {name}"),
                )
            )
    rows: dict[str, int] = {}
    for outcome in outcomes:
        for table, count in outcome.rows.items():
            rows[table] = count if table == "label_errors" else rows.get(table, 0) + count
    return Outcome(
        "learn",
        skipped=all(outcome.skipped for outcome in outcomes),
        rows=rows,
        seconds=sum(outcome.seconds for outcome in outcomes),
    )


def _measure(folder: Path, plan: BenchPlan, bar: Bar, *, force: bool) -> Outcome:
    run = cast("Callable[..., Outcome]", load_stage("measure").run)
    with bar("measure") as progress:
        return run(folder, force=force, measuring=plan.measuring, progress=progress)


def _write_site(folder: Path, bar: Bar, *, force: bool) -> Outcome:
    with bar("site") as progress:
        return site.run(folder, folder / SITE, force=force, progress=progress)
