"""``beholder ethics``: what a review board asks for, from the study itself."""

from pathlib import Path

import click

from beholder.cli.output import show_json


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Where to write. [default: FOLDER]")
@click.option("--json", "as_json", is_flag=True, help="Print the files as JSON.")
def ethics(folder: Path, out: Path | None, *, as_json: bool) -> None:
    """Write what an ethics review asks for, from the study itself.

    Purpose, procedure, risks, the computation of pay, data, withdrawal and all consent texts with their hashes, as
    ethics.md and ethics.html. What only you know is listed at its end as open questions.
    """
    from beholder.collect.ethics.pack import OPEN_QUESTIONS, write_pack

    files = write_pack(folder, out or folder)
    if as_json:
        show_json({"files": [str(file) for file in files]})
        return
    click.echo(f"wrote {' and '.join(str(file) for file in files)}")
    click.echo(f"{len(OPEN_QUESTIONS)} questions are left for you, at its end")
