"""``beholder export``: the study in the formats of other tools."""

from pathlib import Path

import click

from beholder.cli.options import database_options, database_url
from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_report
from beholder.collect.database.address import FILE_NAME
from beholder.collect.researcher.exports import write_export
from beholder.errors import UserError
from beholder.formats.catalogue import WRITABLE

PUSHED = "datasets"
"""The format that the hub takes."""


@click.command(epilog="Formats: " + ", ".join(WRITABLE) + ".")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--format", "name", type=click.Choice(list(WRITABLE)), help="What to write.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder, or a file that ends in .zip.")
@click.option("--licence", help="Of `datasets`: the licence that its card states, such as cc-by-4.0.")
@click.option(
    "--push",
    "repository",
    metavar="REPO",
    help="Of `datasets`: upload it to this dataset on the Hugging Face hub, by your own login there.",
)
@click.option("--public", is_flag=True, help="Of --push: a new dataset is public. [default: private]")
@database_options
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def export(
    folder: Path | None,
    name: str | None,
    out: Path | None,
    licence: str | None,
    repository: str | None,
    database: str | None,
    *,
    public: bool,
    as_json: bool,
) -> None:
    """Write the answers of a study in another format.

    Without FOLDER: the formats there are. The answers are those that the study server holds now or, where there
    was none, those of the tables. Raters whom you excluded are in none of them; those who did not consent only in
    `parquet` and `csv`, which hold our tables row for row, and in `jspsych`. What raters who withdrew did not ask
    to have deleted is in all of them, as it counts in the results.
    """
    if folder is None:
        show_table(("format", "holds"), [(format_name, form.about) for format_name, form in WRITABLE.items()])
        return
    if name is None or out is None:
        raise click.UsageError("--format and --out are needed: what to write, and where")
    _check_options(name, out, licence, repository, public=public)
    push_to = None
    if repository is not None:
        try:
            from beholder.formats.hub import open_repository
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "huggingface_hub":
                raise
            raise UserError('--push needs huggingface_hub: pip install "beholder[models]"') from error
        push_to = open_repository(repository, private=not public)
    embedded = (folder / FILE_NAME).is_file()
    url = database_url(folder, database) if database or embedded else None
    with progress_report("export"):
        written = write_export(folder, url, name, out, licence=licence)
    with progress_report("push"):
        address = None if push_to is None else push_to.push(out, written.files)
    files = [str(file) for file in written.files]
    if as_json:
        show_json({"files": files, "notes": list(written.notes)} | ({"pushed": address} if address else {}))
        return
    pushed = [f"pushed to {address}"] if address else []
    for line in (*files, *(f"note: {note}" for note in written.notes), *pushed):
        click.echo(line)


def _check_options(name: str, out: Path, licence: str | None, repository: str | None, *, public: bool) -> None:
    """Refuse options that mean nothing together, all at once."""
    options = {"--licence": licence is not None, "--push": repository is not None, "--public": public}
    faults = [
        f"{option} goes with --format {PUSHED} (found {name})"
        for option, is_set in options.items()
        if is_set and name != PUSHED
    ]
    if public and repository is None:
        faults.append("--public goes with --push")
    if repository is not None and out.suffix == ".zip":
        faults.append(f"--push uploads a folder; --out is the file {out}")
    if faults:
        raise click.UsageError("; ".join(faults))
