"""``beholder run``: all stages of a study that have something to do."""

from pathlib import Path

import click

from beholder.api.run import steps
from beholder.cli.progress import progress_report


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--simulate", "raters", type=click.IntRange(min=1), metavar="N", help="Collect from so many simulated raters."
)
@click.option("--bad", type=click.IntRange(min=0), default=0, show_default=True, help="Of them, with bad habits.")
@click.option(
    "--measure", is_flag=True, help="Also compute metrics of the images, and see which agree with raters."
)
@click.option("--force", is_flag=True, help="Do every stage even if nothing has changed.")
def run(folder: Path, raters: int | None, bad: int, *, measure: bool, force: bool) -> None:
    """Run the stages that have something to do, from design to report.

    A stage whose inputs and settings have not changed is skipped, so this is safe to repeat. Metrics are computed
    only if asked for, as they take minutes for every thousand images; `beholder measure` has their settings.
    """
    bar = progress_report if measure else None
    for step in steps(folder, raters=raters, bad=bad, measured=bar, force=force):
        click.echo(str(step()))
    click.echo(f"Open {folder / 'report.html'}")
