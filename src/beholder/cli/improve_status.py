"""``beholder improve status``: which improvements a study has, and what they gained."""

from pathlib import Path

import click

from beholder.cli.output import show_json, show_table


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(folder: Path, *, as_json: bool) -> None:
    """List the improvements of a study, and what they gained."""
    import polars as pl

    from beholder.api.stages import load_stage
    from beholder.tables.store import Store

    outcome = load_stage("improve").run(folder)
    store = Store(folder)
    gains, alarms = store.read("gains"), store.read("alarms").filter("raised")
    if as_json:
        tables = {name: store.read(name).to_dicts() for name in ("gains", "alarms", "proofs")}
        show_json({"skipped": outcome.skipped, **tables})
        return
    for sentence in alarms.select(pl.format("ALARM {}: {}", "improvement", "sentence")).to_series():
        click.echo(sentence)
    rows = [
        (
            row["improvement"],
            f"{row['measure']} ({row['name']})",
            f"{row['gain']:+.3f}",
            "–" if row["low"] is None else f"[{row['low']:+.3f}, {row['high']:+.3f}]",
            f"{row['images']:,}",
        )
        for row in gains.iter_rows(named=True)
    ]
    show_table(("improvement", "measured by", "gain", "95 % CI", "images"), rows)
