"""Options and printing that the commands of ``beholder improve`` have in common."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from beholder.cli.output import show_table

folder_argument = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
scorer_option = click.option(
    "--scorer", required=True, metavar="NAME", help="A scorer, or the folder of a trained model: FOLDER[:ASPECT]."
)
held_out_option = click.option(
    "--held-out", metavar="NAME", help="A second scorer, with no say in what is kept: it measures the gain."
)
device_option = click.option("--device", help="Where networks run: cpu, cuda, mps; the fastest by default.")
force_option = click.option("--force", is_flag=True, help="Replace an improvement of this name.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def name_option(default: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option that names the improvement."""
    return click.option("--name", default=default, show_default=True, help="Of the improvement, and its folder.")


def show_gains(gains: Sequence[Mapping[str, Any]]) -> None:
    """Print gains with their confidence intervals."""
    rows = [
        (
            ": ".join(filter(None, (row.get("step"), row["measure"]))),
            str(row["name"]),
            f"{row['gain']:+.3f}",
            "–" if row.get("low") is None else f"[{row['low']:+.3f}, {row['high']:+.3f}]",
            f"{row['gain'] / row['possible']:.0%}" if row.get("possible") else "",
            "" if row.get("worse") is None else f"{row['worse']:.1%}",
        )
        for row in gains
    ]
    show_table(("measured by", "name", "gain", "95 % CI", "of possible", "worse"), rows)


def _compared(row: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    """What a line of a proof is about: the method of analysis, or the kind of changes that it is about."""
    return str(row["method"] if row["comparison"] == first["comparison"] else row["comparison"])


def show_proof(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what raters say, in the form of the paper's table, and the net preference."""
    first = rows[0]
    names = ("much_better", "better", "same", "worse", "much_worse")
    counts = [int(first[name]) for name in names]
    total = sum(counts)
    heads = ("preference", "≫", ">", "≈", "<", "≪")
    percentages = ("per cent", *(f"{100 * number / total:.1f}" for number in counts))
    show_table(heads, [("answers", *map(str, counts)), percentages])
    lines = [
        (
            _compared(row, first),
            f"{row['net']:+.3f}",
            "–" if row["low"] is None else f"[{row['low']:+.3f}, {row['high']:+.3f}]",
            str(row["raters"]),
            str(row["prompts"]),
        )
        for row in rows
    ]
    click.echo()
    show_table(("net preference", "", "95 % CI", "raters", "prompts"), lines)
    if first["simulated"]:
        click.echo("The raters are simulated.")
