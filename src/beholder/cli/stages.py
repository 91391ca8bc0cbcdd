"""The commands that run one stage of a study: the same arguments for each."""

import logging
from dataclasses import asdict
from pathlib import Path

import click

logger = logging.getLogger(__name__)


def stage_command(verb: str, about: str) -> click.Command:
    """Return the command for the ``run(folder, force=…)`` of a stage, which is imported when it is called."""

    @click.command(verb, help=about)
    @click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
    @click.option("--force", is_flag=True, help="Do the work even if nothing it depends on has changed.")
    @click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
    def command(folder: Path, *, force: bool, as_json: bool) -> None:
        from beholder.api.stages import load_stage
        from beholder.cli.output import show_json
        from beholder.cli.progress import progress_report

        logger.info("%s: starting in %s", verb, folder)
        with progress_report(verb):
            outcome = load_stage(verb).run(folder, force=force)
        if as_json:
            show_json(asdict(outcome))
        else:
            click.echo(str(outcome))

    return command


design = stage_command(
    "design",
    """Draw the trials: which rater is shown what.

    Reads study.toml and the images of FOLDER and writes the table `trials`. The same seed draws the same trials.
    """,
)

consolidate = stage_command(
    "consolidate",
    """Turn answers into labels with confidence intervals.

    Reads the answers of FOLDER, excludes raters by the study's screening rules, and writes the tables `raters`,
    `judgements`, `labels`, `regions`, `thresholds` and `agreement`.
    """,
)

_rank = stage_command(
    "rank",
    """Rate the generators and say which differ significantly.

    Reads the judgements of FOLDER and writes the tables `ratings`, `separations` and `comparisons`.
    """,
)


@click.command("rank", help=_rank.help, params=list(_rank.params))
@click.option(
    "--like", "form", type=click.Choice(["hype", "layer6"]), help="Print the ratings as published there."
)
@click.pass_context
def rank(context: click.Context, /, form: str | None, **options: object) -> None:
    """Run the stage, and print its ratings in the form of a published table where one is asked for."""
    context.invoke(_rank, **options)
    if form:
        from beholder.rank.as_published import published_table
        from beholder.tables.store import Store

        folder = context.params["folder"]
        lines = published_table(Store(folder).read("ratings"), form)
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        for line in lines:
            click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


report = stage_command(
    "report",
    """Write the report of the study as one HTML file.

    Reads whatever tables FOLDER has and writes `report.html`, which opens without a network.
    """,
)
