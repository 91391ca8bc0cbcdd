"""``beholder run``: all stages of a study that have something to do."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click

from beholder.cli.progress import progress_bar
from beholder.collect.stage import run_simulated
from beholder.consolidate import stage as consolidate
from beholder.design import stage as design
from beholder.errors import StageError
from beholder.rank import stage as rank
from beholder.report import stage as report
from beholder.tables.store import Store
from beholder.tables.work import Outcome

Step = Callable[[], Outcome]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--simulate", "people", type=click.IntRange(min=1), metavar="N", help="Collect from so many made-up people."
)
@click.option("--bad", type=click.IntRange(min=0), default=0, show_default=True, help="Of them, with bad habits.")
@click.option(
    "--measure", is_flag=True, help="Also compute metrics of the images, and see which agree with people."
)
@click.option("--force", is_flag=True, help="Do every stage even if nothing has changed.")
def run(folder: Path, people: int | None, bad: int, *, measure: bool, force: bool) -> None:
    """Run the stages that have something to do, from design to report.

    A stage whose inputs and settings have not changed is skipped, so this is safe to repeat. Metrics are computed
    only if asked for, as they take minutes for every thousand images; `beholder measure` has their settings.
    """
    for step in steps(folder, people=people, bad=bad, measured=measure, force=force):
        click.echo(str(step()))
    click.echo(f"Open {folder / 'report.html'}")


def steps(
    folder: Path, *, people: int | None, bad: int = 0, measured: bool = False, force: bool = False
) -> Iterator[Step]:
    """The stages in order; collecting is left out where the answers are there already."""
    yield partial(design.run, folder, force=force)
    if people is not None:
        yield partial(run_simulated, folder, people=people, bad=bad, force=force)
    elif not Store(folder).has("answers"):
        raise StageError(
            f"{folder} has no answers yet. To rehearse with made-up people: beholder run {folder} --simulate 30"
        )
    yield partial(consolidate.run, folder, force=force)
    yield partial(rank.run, folder, force=force)
    if measured:
        yield _measure_step(folder, force=force)
    yield partial(report.run, folder, force=force)


def _measure_step(folder: Path, *, force: bool) -> Step:
    from beholder.measure import stage as measure  # the one stage that looks at pixels

    def step() -> Outcome:
        with progress_bar("images") as progress:
            return measure.run(folder, force=force, progress=progress)

    return step
