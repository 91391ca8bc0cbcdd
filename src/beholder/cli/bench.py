"""``beholder bench``: a benchmark from prompts to board, or its rebuilding from the lock."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from beholder.api.benchmark.bench import BenchOutcome
    from beholder.api.benchmark.rebuild import Rebuilt
    from beholder.tables.store import Store
    from beholder.tables.work import Outcome

DIFFERENT = 1
"""Exit code where a rebuilt study differs from its lock."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--simulate", "raters", type=click.IntRange(min=1), metavar="N", help="So many simulated raters answer."
)
@click.option("--bad", type=click.IntRange(min=0), default=0, show_default=True, help="Of them, with bad habits.")
@click.option("--locked", is_flag=True, help="Rebuild everything, and name the first difference from study.lock.")
@click.option("--force", is_flag=True, help="Do every stage even if nothing has changed.")
@click.option("--quiet", is_flag=True, help="Print what was done, but no results.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done, and the numbers, as JSON.")
def bench(
    folder: Path, raters: int | None, bad: int, *, locked: bool, force: bool, quiet: bool, as_json: bool
) -> None:
    """Run a benchmark from prompts to board with one command.

    Curates the prompts of curate.toml, generates with the generators of study.toml, asks simulated raters or
    reads the answers of people, consolidates, ranks, trains the models of [benchmark], measures, and writes
    board, report, site and study.lock. A stage whose inputs have not changed is skipped, so this is safe to
    repeat, and a run that was stopped continues. With --locked, everything is rebuilt from the sources as the
    lock says: exit code 0 where every table is the same, 1 where one differs.
    """
    if locked and (raters is not None or bad or force):
        raise click.UsageError("--locked repeats what the lock says: leave --simulate, --bad and --force out")
    if locked:
        _rebuild(folder, as_json=as_json)
    else:
        run_bench(folder, raters, bad, force=force, quiet=quiet, as_json=as_json)


def run_bench(
    folder: Path, raters: int | None, bad: int, *, force: bool = False, quiet: bool = False, as_json: bool = False
) -> "BenchOutcome":
    """Run a benchmark and print what was done, and the board."""
    from beholder.api.benchmark.bench import bench as run
    from beholder.cli.board import print_board
    from beholder.cli.progress import progress_report
    from beholder.tables.store import Store

    after = None if as_json else _say
    outcome = run(folder, simulate=raters, bad=bad, force=force, bar=progress_report, after=after)
    store = Store(folder)
    if as_json:
        _show_as_json(outcome, store.read("board").to_dicts() if not quiet else None)
        return outcome
    if not quiet:
        _print_who_answered(folder, store)
        board = store.read("board")
        directed = board.filter(board["better"].is_not_null())["measure"].unique(maintain_order=True).to_list()
        others = [name for name in board["measure"].unique(maintain_order=True) if name not in directed]
        print_board(store, tuple(directed or others))
        if directed and others:
            click.echo(f"\nWithout a better end: {', '.join(others)}. To print them: beholder board {folder}")
    click.echo(
        f"\nOpen {outcome.site / 'index.html'} and {outcome.report}. A rerun is compared with {outcome.lock}: "
        f"beholder bench {folder} --locked"
    )
    return outcome


def _print_who_answered(folder: Path, store: "Store") -> None:
    from beholder.api.results import load_results

    if not store.has("answers"):
        click.echo(
            f"\nNobody has answered yet: these are automatic measures. Ask people: beholder collect {folder}; or "
            f"rehearse: beholder bench {folder} --simulate 30"
        )
        return
    for caveat in load_results(folder).caveats():
        click.echo(f"\n{caveat}")


def _say(outcome: "Outcome") -> None:
    click.echo(str(outcome))


def _show_as_json(outcome: "BenchOutcome", board: list[dict[str, object]] | None) -> None:
    from beholder.cli.output import show_json

    content: dict[str, object] = {
        "stages": [asdict(stage) for stage in outcome.stages],
        "report": str(outcome.report),
        "site": str(outcome.site),
        "lock": str(outcome.lock),
    }
    show_json(content if board is None else content | {"board": board})


def _rebuild(folder: Path, *, as_json: bool) -> None:
    from beholder.api.benchmark.rebuild import rebuild
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report

    rebuilt = rebuild(folder, bar=progress_report, after=None if as_json else _say)
    if as_json:
        show_json(asdict(rebuilt))
    else:
        _print_verdict(rebuilt)
    if rebuilt.difference:
        raise click.exceptions.Exit(DIFFERENT)


def _print_verdict(rebuilt: "Rebuilt") -> None:
    if rebuilt.verified:
        click.echo(f"not repeatable, compared by hash: {', '.join(rebuilt.verified)}")
    if rebuilt.difference is None:
        click.echo("\nEvery table is the same as when it was locked.")
        return
    click.echo(f"\nfirst difference: {rebuilt.difference}")
    for package in rebuilt.packages:
        click.echo(f"another version: {package}")
