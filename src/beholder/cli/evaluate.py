"""``beholder evaluate``: rich-feedback models, side by side in the paper's four tables."""

import csv
import io
import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.api.learning import NEEDED
from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_report
from beholder.errors import UserError
from beholder.learn.figures.figure import EvaluationSettings
from beholder.learn.formatting import format_interval, format_number
from beholder.study.study import load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.csv_text import escape
from beholder.tables.store import Store

if TYPE_CHECKING:
    from beholder.learn.rich.tables import Row, Table

MAX_REPLICATES = 2000
"""Upper limit of the bootstrap replicates over prompts."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("models", metavar="[MODEL]…", nargs=-1)
@click.option(
    "--together",
    metavar="NAME=MODEL,MODEL,…",
    multiple=True,
    help="Models that differ in their seed: one row with their mean, and the standard deviation between them.",
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
        from beholder.learn.rich.ground_truth import NAME, ground_truth_feedback
        from beholder.learn.rich.held_out import predict_held_out
        from beholder.learn.rich.tables import TABLES, evaluate_row, flatten_rows
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in NEEDED:
            raise
        raise UserError(f'evaluating needs {error.name}: pip install "beholder[models]"') from error
    settings = EvaluationSettings(study.analysis.level, min(study.analysis.draws, MAX_REPLICATES), study.seed)
    with progress_report("models"):
        held_out = predict_held_out(folder, [name for names in groups.values() for name in names])
        predictions = [(row, [held_out.by_model[name] for name in names]) for row, names in groups.items()]
        truth = ground_truth_feedback(Store(folder), held_out.rich_labels, held_out.images)
        if truth is not None:
            predictions.append((NAME, [truth]))
        with ThreadPoolExecutor(min(os.cpu_count() or 1, len(predictions))) as pool:
            rows = list(
                pool.map(
                    lambda group: evaluate_row(group[0], held_out.rich_labels, group[1], settings), predictions
                )
            )
    records = list(flatten_rows(rows))
    if csv_file is not None:
        _write_csv(csv_file, records)
    if as_json:
        show_json({"images": len(held_out.images), "level": settings.level, "figures": records})
        return
    for table in TABLES:
        _show(table, rows)
    prompts = len({held_out.rich_labels.examples[image].prompt for image in held_out.images})
    click.echo(
        f"{len(held_out.images):,} images of {prompts:,} prompts, held out; "
        f"{settings.level:.0%} confidence intervals over prompts; ± the standard deviation over models. "
        "Fixated are the pixels that any rater marked."
    )


def _groups(models: tuple[str, ...], together: tuple[str, ...]) -> dict[str, list[str]]:
    """Return row -> its models; an error lists all faults of the names at once."""
    groups = {name: [name] for name in models}
    faults = [f"model '{name}' is named twice" for name in {name for name in models if models.count(name) > 1}]
    for option in together:
        row, equals, listed = option.partition("=")
        names = [name for name in listed.split(",") if name]
        if not (row and equals and names):
            faults.append(f"--together {option}: expected NAME=MODEL,MODEL,…")
        elif row in groups:
            faults.append(f"--together {option}: there is a row '{row}' already")
        elif len(set(names)) < len(names):
            faults.append(f"--together {option}: a model is named twice")
        else:
            groups[row] = names
    if not models and not together:
        faults.append("no model: name those to compare, or --together NAME=MODEL,MODEL,…")
    if faults:
        raise UserError("\n".join(faults))
    return groups


def _show(table: "Table", rows: "list[Row]") -> None:
    """Print a table, each figure with its confidence interval below it; rows without any figure are left out."""
    columns = [column for column in table.columns if any(row.cell(column) for row in rows)]
    lines = []
    for row in rows:
        cells = [row.cell(column) for column in columns]
        if any(cells):
            lines.append(
                (
                    row.name,
                    *(
                        _cell(cell.figure.value, cell.spread, cell.figure.low, cell.figure.high) if cell else ""
                        for cell in cells
                    ),
                )
            )
    if lines:
        click.echo(table.title)
        show_table(("model", *(column.heading for column in columns)), lines)
        click.echo()


def _cell(value: float, spread: float, low: float, high: float) -> str:
    first_line = (
        f"{format_number(value)} ±{format_number(spread)}" if math.isfinite(spread) else format_number(value)
    )
    return f"{first_line}\n{format_interval(low, high)}"


def _write_csv(path: Path, records: list[dict[str, str | float | int | None]]) -> None:
    text = io.StringIO()
    columns = list(records[0]) if records else ["table", "row"]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: escape(value) if isinstance(value, str) else value for name, value in record.items()}
        for record in records
    )
    with write_atomically(path) as file:
        file.write(text.getvalue().encode())
