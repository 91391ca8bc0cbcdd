"""``beholder run``: all stages of a study that have something to do."""

from dataclasses import asdict
from pathlib import Path

import click

from beholder.api.results import load_results, plain_results
from beholder.api.run import run_study
from beholder.cli.output import show_json
from beholder.cli.progress import progress_report
from beholder.cli.results import print_results
from beholder.cli.stages import include_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--simulate", "raters", type=click.IntRange(min=1), metavar="N", help="Collect from so many simulated raters."
)
@click.option("--bad", type=click.IntRange(min=0), default=0, show_default=True, help="Of them, with bad habits.")
@click.option(
    "--measure", is_flag=True, help="Also compute metrics of the images, and see which agree with raters."
)
@include_option
@click.option("--force", is_flag=True, help="Do every stage even if nothing has changed.")
@click.option("--quiet", is_flag=True, help="Print what was done, but no results.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done, and the numbers, as JSON.")
def run(
    folder: Path,
    raters: int | None,
    bad: int,
    *,
    measure: bool,
    include_excluded: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run the stages that have something to do, from design to report.

    A stage whose inputs and settings have not changed is skipped, so this is safe to repeat. Prints the
    leaderboard, inter-rater agreement, and who was excluded and why. Metrics are computed only if asked for, as
    they take minutes for every thousand images; `beholder measure` has their settings.
    """
    outcome = run_study(
        folder,
        raters=raters,
        bad=bad,
        measure=measure,
        force=force,
        include_excluded=include_excluded,
        bar=progress_report,
        after=None if as_json else lambda stage: click.echo(str(stage)),
    )
    if as_json:
        results = {} if quiet else plain_results(load_results(folder))
        show_json({"stages": [asdict(stage) for stage in outcome.stages], "report": str(outcome.report)} | results)
        return
    if not quiet:
        print_results(folder)
    click.echo(f"\nOpen {outcome.report}")
