"""``beholder import``: a study from published data."""

from pathlib import Path

import click

from beholder.cli.output import show_json
from beholder.cli.progress import progress_report
from beholder.formats.catalogue import FORMATS, READABLE
from beholder.formats.folder import NOTES
from beholder.formats.importing import import_folder


@click.command(
    "import", epilog="Formats: " + "; ".join(f"{name}, {FORMATS[name].about}" for name in READABLE) + "."
)
@click.argument("form", metavar="FORMAT", type=click.Choice(list(READABLE)))
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--images",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the image files lie, if you have them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def import_study(form: str, source: Path, folder: Path, images: Path | None, *, as_json: bool) -> None:
    """Make a study from published data.

    Reads SOURCE, a file or folder in FORMAT, and makes the study FOLDER, which `beholder run FOLDER` carries to a
    report. What the data lacks and what is inconsistent in it is printed and written to import.md there.
    All faults of SOURCE are listed at once, and nothing is written.
    """
    with progress_report("import"):
        imported = import_folder(form, source, folder, images=images)
    rows = {name: frame.height for name, frame in imported.tables.items() if frame.height}
    if as_json:
        differences = list(imported.differences)
        show_json({"folder": str(folder), "rows": rows, "notes": list(imported.notes), "differences": differences})
        return
    click.echo(f"import: {', '.join(f'{count:,} {name}' for name, count in rows.items())}")
    for note in imported.notes:
        click.echo(f"note: {note}")
    for difference in imported.differences:
        click.echo(f"does not add up: {difference}")
    click.echo(f"These lines are in {folder / NOTES}. Next: beholder run {folder}")
