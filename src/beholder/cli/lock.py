"""``beholder lock``: write the lock of a study, or compare the study with it."""

from pathlib import Path

import click

DIFFERENT = 1
"""Exit code where a study differs from its lock."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--check", is_flag=True, help="Write nothing: compare the tables as they are with study.lock.")
@click.option("--json", "as_json", is_flag=True, help="Print the lock, or the difference, as JSON.")
def lock(folder: Path, *, check: bool, as_json: bool) -> None:
    """Write study.lock: all that a rerun needs, and every table's hash.

    It names the versions of beholder and of the packages that numbers depend on, the settings and the seed, prompt
    sets, generators and scorers with the hashes of their weights, trained models with their recipes, and the hash
    of the content of every table. With --check, nothing is written or rebuilt: exit code 0 where every table is
    as it was locked, 1 where one differs. `beholder bench FOLDER --locked` rebuilds it.
    """
    from beholder.cli.progress import progress_report

    if check:
        _check(folder, as_json=as_json)
        return
    from beholder.api.benchmark.lock import gather_lock
    from beholder.cli.output import show_json
    from beholder.study.lock import write_lock

    with progress_report("lock"):
        locked = gather_lock(folder)
        path = write_lock(locked, folder)
    if as_json:
        show_json(locked.model_dump(mode="json"))
        return
    rows = sum(table.rows for table in locked.tables.values())
    click.echo(f"{path}: {len(locked.tables)} tables, {rows:,} rows")
    click.echo(f"a rerun repeats: {', '.join(locked.rebuilt) or 'nothing'}")
    if locked.generators:
        named = ", ".join(
            f"{name} ({each.images:,} images{f', weights {each.weights[:12]}' if each.weights else ''})"
            for name, each in locked.generators.items()
        )
        click.echo(f"generators: {named}")


def _check(folder: Path, *, as_json: bool) -> None:
    from dataclasses import asdict

    from beholder.api.benchmark.rebuild import check_lock
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report

    with progress_report("lock"):
        difference = check_lock(folder)
    if as_json:
        show_json({"difference": asdict(difference) if difference else None})
    else:
        click.echo(f"first difference: {difference}" if difference else "Every table is as it was locked.")
    if difference:
        raise click.exceptions.Exit(DIFFERENT)
