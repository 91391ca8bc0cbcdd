"""``beholder evaluate``: models that learnt rich feedback, side by side in the paper's four tables."""

import csv
import io
import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.learn import NEEDED
from beholder.cli.output import show_json, show_table
from beholder.errors import UserError
from beholder.learn.card import between, number
from beholder.learn.evaluate import Settings
from beholder.study.study import load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.csv_text import escape
from beholder.tables.store import Store

if TYPE_CHECKING:
    from beholder.learn.rich.tables import Row, Table

DRAWS = 2000
"""Of the bootstrap over prompts, at most."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("models", metavar="[MODEL]…", nargs=-1)
@click.option(
    "--together",
    metavar="NAME=MODEL,MODEL,…",
    multiple=True,
    help="Models that differ in their seed: one row with their mean, and the spread between them.",
)
@click.option("--csv", "csv_file", type=click.Path(path_type=Path, dir_okay=False), help="Write all figures here.")
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
def evaluate(
    folder: Path, models: tuple[str, ...], together: tuple[str, ...], csv_file: Path | None, *, as_json: bool
) -> None:
    """Compare models trained on rich feedback: the paper's tables.

    Prints four tables for the models below FOLDER/models (or folders elsewhere): scores, implausibility heatmaps,
    misalignment heatmaps, keywords; always on held-out images, which must be the same for all models. A study of
    the synthetic world has a row `truth`: how well the ground truth agrees with its raters.
    """
    groups, study = _groups(models, together), load_study(folder)
    try:
        from beholder.learn.rich.tables import TABLES, flat, row_of
        from beholder.learn.rich.trained import held_out
        from beholder.learn.rich.truth import NAME, true_feedback
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in NEEDED:
            raise
        raise UserError(f'evaluating needs {error.name}: pip install "beholder[models]"') from error
    settings = Settings(study.analysis.level, min(study.analysis.draws, DRAWS), study.seed)
    found = held_out(folder, [name for names in groups.values() for name in names])
    said = [(row, [found.said[name] for name in names]) for row, names in groups.items()]
    truth = true_feedback(Store(folder), found.judged, found.images)
    if truth is not None:
        said.append((NAME, [truth]))
    with ThreadPoolExecutor(min(os.cpu_count() or 1, len(said))) as pool:
        rows = list(pool.map(lambda one: row_of(one[0], found.judged, one[1], settings), said))
    records = list(flat(rows))
    if csv_file is not None:
        _write_csv(csv_file, records)
    if as_json:
        show_json({"images": len(found.images), "level": settings.level, "figures": records})
        return
    for table in TABLES:
        _show(table, rows)
    prompts = len({found.judged.examples[image].prompt for image in found.images})
    click.echo(
        f"{len(found.images):,} images of {prompts:,} prompts, held out; intervals of {settings.level:.0%} over "
        "prompts; ± the spread over models. Fixated are the pixels that anybody marked."
    )


def _groups(models: tuple[str, ...], together: tuple[str, ...]) -> dict[str, list[str]]:
    """Row -> its models; all that is wrong with the names at once."""
    groups = {name: [name] for name in models}
    faults = [f"model '{name}' is named twice" for name in {name for name in models if models.count(name) > 1}]
    for given in together:
        row, equals, listed = given.partition("=")
        names = [name for name in listed.split(",") if name]
        if not (row and equals and names):
            faults.append(f"--together {given}: expected NAME=MODEL,MODEL,…")
        elif row in groups:
            faults.append(f"--together {given}: there is a row '{row}' already")
        elif len(set(names)) < len(names):
            faults.append(f"--together {given}: a model is named twice")
        else:
            groups[row] = names
    if not models and not together:
        faults.append("no model: name those to compare, or --together NAME=MODEL,MODEL,…")
    if faults:
        raise UserError("\n".join(faults))
    return groups


def _show(table: "Table", rows: "list[Row]") -> None:
    """A table, the interval of a figure below it; rows that have no figure of it are left out."""
    columns = [one for one in table.columns if any(row.cell(one) for row in rows)]
    lines = []
    for row in rows:
        cells = [row.cell(one) for one in columns]
        if any(cells):
            lines.append(
                (
                    row.name,
                    *(
                        _cell(one.figure.value, one.spread, one.figure.low, one.figure.high) if one else ""
                        for one in cells
                    ),
                )
            )
    if lines:
        click.echo(table.title)
        show_table(("model", *(one.head for one in columns)), lines)
        click.echo()


def _cell(value: float, spread: float, low: float, high: float) -> str:
    above = f"{number(value)} ±{number(spread)}" if math.isfinite(spread) else number(value)
    return f"{above}\n{between(low, high)}"


def _write_csv(path: Path, records: list[dict[str, str | float | int | None]]) -> None:
    text = io.StringIO()
    heads = list(records[0]) if records else ["table", "row"]
    writer = csv.DictWriter(text, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: escape(value) if isinstance(value, str) else value for name, value in record.items()}
        for record in records
    )
    with write_atomically(path) as file:
        file.write(text.getvalue().encode())
