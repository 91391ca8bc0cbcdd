"""The commands that run one stage of a study: the same arguments for each."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.options import cluster_options, database_options

if TYPE_CHECKING:
    from beholder.report.tables.powered import PoweredBoard
    from beholder.tables.work import Outcome

logger = logging.getLogger(__name__)


def stage_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments of every stage: the folder, whether to do it again, and how to print it."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print what was done, and the numbers, as JSON."),
        click.option("--quiet", is_flag=True, help="Print what was done, but no results."),
        click.option("--force", is_flag=True, help="Do the work even if nothing it depends on has changed."),
        click.argument("folder", type=click.Path(path_type=Path, file_okay=False)),
    ):
        command = option(command)
    return command


include_option = click.option(
    "--include-excluded",
    is_flag=True,
    help="Count the answers of raters whom screening excludes; all results are marked.",
)


def stage_command(verb: str, about: str) -> click.Command:
    """Return the command for the ``run(folder, force=…)`` of a stage, which is imported when it is called."""

    @click.command(verb, help=about)
    @stage_options
    def command(folder: Path, *, force: bool, quiet: bool, as_json: bool) -> None:  # noqa: ARG001 - nothing to leave out
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


@click.command()
@stage_options
@include_option
@cluster_options
def consolidate(
    folder: Path,
    engine: str,
    address: str | None,
    workers: int | None,
    *,
    force: bool,
    quiet: bool,
    as_json: bool,
    include_excluded: bool,
) -> None:
    """Turn answers into labels with confidence intervals.

    Reads the answers of FOLDER, excludes raters by the study's screening rules, and writes the tables `raters`,
    `judgements`, `labels`, `regions`, `thresholds` and `agreement`. Then ranks the generators, unless --quiet, and
    prints the leaderboard, inter-rater agreement, and who was excluded and why. With --engine ray, its workers
    compute the bootstrap replicates of inter-rater agreement.
    """
    from beholder.api.run import consolidate_study
    from beholder.cli.progress import progress_report
    from beholder.engines.engine import open_engine

    logger.info("consolidate: starting in %s", folder)
    with open_engine(engine, address=address, workers=workers) as opened, progress_report("consolidate"):
        outcomes, unranked = consolidate_study(
            folder, force=force, include_excluded=include_excluded, ranked=not quiet, engine=opened
        )
    _show(folder, outcomes, quiet=quiet, as_json=as_json)
    if unranked and not as_json:
        click.echo(f"\n{unranked}")


@click.command()
@stage_options
@include_option
@click.option(
    "--like", "form", type=click.Choice(["hype", "layer6"]), help="Print the ratings as published there."
)
@click.option(
    "--scores",
    "scorer",
    metavar="SCORER",
    help="Also rate by raters and the scores of this scorer together (prediction-powered).",
)
def rank(
    folder: Path,
    *,
    force: bool,
    quiet: bool,
    as_json: bool,
    include_excluded: bool,
    form: str | None,
    scorer: str | None,
) -> None:
    """Rate the generators and say which differ significantly.

    Reads the judgements of FOLDER and writes the tables `ratings`, `separations` and `comparisons`. Prints the
    leaderboard, inter-rater agreement, and who was excluded and why. With --include-excluded the study is
    consolidated again first. With --scores, ratings by raters and scores together follow, and the table
    `powered_ratings` is brought up to date; scores come from `beholder measure`.
    """
    from beholder.api.run import rank_study
    from beholder.cli.progress import progress_report

    logger.info("rank: starting in %s", folder)
    if scorer is not None:
        from beholder.api.powered import check_scores

        check_scores(folder, scorer)
    with progress_report("rank"):
        outcomes = rank_study(folder, force=force, include_excluded=include_excluded)
    boards: Sequence[PoweredBoard] = ()
    if scorer is not None:
        from beholder.api.powered import rate_with_scores

        with progress_report("ratings with scores"):
            boards = rate_with_scores(folder, scorer, force=force)
    _show(folder, outcomes, quiet=quiet or (form is not None and not as_json), as_json=as_json, boards=boards)
    if form and not as_json:
        _show_as_published(folder, form)


def _show(
    folder: Path,
    outcomes: "Sequence[Outcome]",
    *,
    quiet: bool,
    as_json: bool,
    boards: "Sequence[PoweredBoard]" = (),
) -> None:
    """Print what was done and what came out of it, with the ratings by raters and scores if there are any."""
    from beholder.api.results import load_results, plain_results
    from beholder.cli.output import show_json
    from beholder.cli.results import print_results

    if as_json:
        results = {} if quiet else plain_results(load_results(folder))
        powered = {} if not boards else {"powered": [asdict(board) for board in boards]}
        show_json({"stages": [asdict(outcome) for outcome in outcomes]} | results | powered)
        return
    for outcome in outcomes:
        click.echo(str(outcome))
    if not quiet:
        print_results(folder)
    if boards:
        from beholder.report.tables.powered import format_powered_board

        click.echo("\n" + "\n\n".join(format_powered_board(board) for board in boards))


def _show_as_published(folder: Path, form: str) -> None:
    from beholder.rank.as_published import published_table
    from beholder.tables.store import Store

    lines = published_table(Store(folder).read("ratings"), form)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


@click.command()
@stage_options
@click.option(
    "--comments",
    is_flag=True,
    help="Show raters' comments on the page of single images. They may identify raters: do not publish that page.",
)
@database_options
def report(
    folder: Path,
    database: str | None,
    *,
    force: bool,
    quiet: bool,
    as_json: bool,
    comments: bool,
) -> None:
    """Write the report of the study as one HTML file.

    Reads whatever tables FOLDER has and writes `report.html`, which opens without a network. Comments are in no
    table; with --comments they are read from the database of the study.
    """
    from beholder.report.charts.still import StillDrawer

    logger.info("report: starting in %s", folder)
    trial_comments = _comments(folder, database) if comments else None
    with StillDrawer() as drawer:  # Vega starts while all else is imported
        from beholder.api.stages import load_stage
        from beholder.cli.progress import progress_report

        with progress_report("report"):
            write: Callable[..., Outcome] = load_stage("report").run
            outcome = write(folder, force=force, drawer=drawer, comments=trial_comments)
    if as_json:
        from beholder.cli.output import show_json

        show_json(asdict(outcome))
        return
    click.echo(str(outcome))
    if not quiet:
        from beholder.report.stage import PAGE

        click.echo(f"\nOpen {folder / PAGE}")


def _comments(folder: Path, database: str | None) -> dict[tuple[str, str], str]:
    """Read the comments on single trials from the database of the study."""
    from beholder.cli.options import existing_database_url
    from beholder.collect.exchange.comments import trial_comments

    return trial_comments(existing_database_url(folder, database))
