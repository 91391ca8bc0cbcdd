"""``beholder export``: the study in the formats of other tools."""

from pathlib import Path

import click

from beholder.cli.options import database_options, database_url
from beholder.cli.output import show_json, show_table
from beholder.collect.database.schema import FILE_NAME
from beholder.collect.researcher.exports import write_export
from beholder.formats.catalogue import FORMATS


@click.command(epilog="Formats: " + ", ".join(FORMATS) + ".")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--format", "name", type=click.Choice(list(FORMATS)), help="What to write.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder, or a file that ends in .zip.")
@database_options
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def export(
    folder: Path | None, name: str | None, out: Path | None, database: str | None, *, as_json: bool
) -> None:
    """Write the answers of a study in another format.

    Without FOLDER: the formats there are. The answers are those that the study server holds now or, where there
    was none, those of the tables. Raters whom you excluded are in none of them; those who did not consent only in
    `parquet` and `csv`, which hold our tables row for row, and in `jspsych`. What raters who withdrew did not ask
    to have deleted is in all of them, as it counts in the results.
    """
    if folder is None:
        show_table(("format", "holds"), [(format_name, form.about) for format_name, form in FORMATS.items()])
        return
    if name is None or out is None:
        raise click.UsageError("--format and --out are needed: what to write, and where")
    embedded = (folder / FILE_NAME).is_file()
    url = database_url(folder, database) if database or embedded else None
    written = write_export(folder, url, name, out)
    files = [str(file) for file in written.files]
    if as_json:
        show_json({"files": files, "notes": list(written.notes)})
        return
    for line in (*files, *(f"note: {note}" for note in written.notes)):
        click.echo(line)
