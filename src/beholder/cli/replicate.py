"""``beholder replicate``: rerun a study from its lock, and say which claims hold."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from beholder.api.replication.replicate import Replicated, ReplicatedClaim
    from beholder.tables.work import Outcome

DIFFERENT = 1
"""Exit code where a rerun differs from the lock."""


@click.command()
@click.argument("lock", type=click.Path(path_type=Path))
@click.option(
    "--fresh", type=click.IntRange(min=5), metavar="N", help="So many new simulated raters judge the same images."
)
@click.option("--seed", type=click.IntRange(min=0), help="Of the new raters. [default: the study's and 1]")
@click.option(
    "--with",
    "other",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="A study that replicates it, with answers of its own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done, and every claim, as JSON.")
def replicate(lock: Path, fresh: int | None, seed: int | None, other: Path | None, *, as_json: bool) -> None:
    """Rerun a study from its lock, and say which claims hold.

    Without options, everything is rebuilt from its sources and the answers, and every table is compared with LOCK:
    exit code 1 where one differs. With --fresh, new simulated raters judge the same images; with --with, another
    study is the replication. Then every claim has the interval in which the replication was to be expected, and a
    verdict. `beholder plan --replicate LOCK` says how many raters a replication needs.
    """
    if fresh is not None and other is not None:
        raise click.UsageError("--fresh simulates a replication, and --with names one: give one of them")
    from beholder.api.replication.replicate import replicate as run
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report

    after = None if as_json else _say
    replicated = run(lock, fresh=fresh, seed=seed, other=other, bar=progress_report, after=after)
    if as_json:
        show_json(asdict(replicated) | {"lock": str(replicated.lock)})
    else:
        _print(replicated)
    if replicated.rebuilt is not None and replicated.rebuilt.difference is not None:
        raise click.exceptions.Exit(DIFFERENT)


def _say(outcome: "Outcome") -> None:
    click.echo(str(outcome))


def _print(replicated: "Replicated") -> None:
    from beholder.cli.output import show_table

    rebuilt = replicated.rebuilt
    if rebuilt is not None:
        same = "\nEvery table is the same as when it was locked: the study is reproduced bit for bit."
        click.echo(f"\nfirst difference: {rebuilt.difference}" if rebuilt.difference else same)
    heads = ["claim", "original", "CI", f"{replicated.level:.0%} prediction interval"]
    compared = replicated.compared > 0
    heads += ["replication", "verdict"] if compared else []
    show_table(heads, [_row(each, replicated.level, compared=compared) for each in replicated.claims])
    drawn = "raters, the same prompts" if replicated.scope == "raters" else "raters and prompts"
    click.echo(f"\nIntervals are over {drawn}.")
    if compared:
        held = sum(
            each.comparison is not None and each.comparison.verdict == "replicated" for each in replicated.claims
        )
        click.echo(
            f"{replicated.within} of {replicated.compared} replications lie in their prediction intervals; "
            f"{held} claims are replicated: inside, same sign and significant."
        )


def _row(each: "ReplicatedClaim", level: float, *, compared: bool) -> tuple[str, ...]:
    low, high = each.original.interval(level)
    size = f"{each.original.estimate:+.3g}"
    cells = (each.claim.words, size, f"[{low:+.3g}, {high:+.3g}]", f"[{each.low:+.3g}, {each.high:+.3g}]")
    if not compared:
        return cells
    if each.comparison is None:
        return (*cells, "", "not compared")
    return (*cells, f"{each.comparison.replication.estimate:+.3g}", each.comparison.verdict)
