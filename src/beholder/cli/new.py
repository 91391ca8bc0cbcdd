"""``beholder new``: a study from a protocol and images."""

from pathlib import Path

import click

from beholder.cli.progress import progress_bar
from beholder.design.new import NewStudy, make_study

FOLDER = click.Path(path_type=Path, file_okay=False)


class NamedFolder(click.ParamType[tuple[str, Path]]):
    """``NAME=DIR``: a generator's name and the folder of its images."""

    name = "NAME=DIR"

    def convert(
        self, value: str | tuple[str, Path], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """Split at the first ``=``."""
        if isinstance(value, tuple):
            return value
        name, equals, folder = value.partition("=")
        if not (name.strip() and equals and folder):
            self.fail(f"'{value}' is not of the form NAME=DIR, such as sdxl=outputs/sdxl", param, ctx)
        return name.strip(), Path(folder)


@click.command()
@click.argument("protocol")
@click.argument("folder", type=FOLDER)
@click.option(
    "--generated", multiple=True, type=NamedFolder(), help="A generator and its images. Repeat for each."
)
@click.option("--real", multiple=True, type=FOLDER, metavar="DIR", help="Real images.")
@click.option("--gold", multiple=True, type=NamedFolder(), help="Images that serve only to check raters.")
@click.option(
    "--manifest", type=click.Path(path_type=Path), metavar="FILE", help="A CSV or Parquet list of images."
)
@click.option("--name", help="Name of the study. [default: from FOLDER]")
@click.option("--title", help="Title that participants see. [default: from the name]")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Makes all random draws reproducible."
)
@click.option("--raters", type=click.IntRange(min=1), help="Raters per question. [default: the protocol's]")
@click.option("--trials", type=click.IntRange(min=1), help="Trials per rater. [default: the protocol's]")
@click.option("--copy", is_flag=True, help="Copy the images into FOLDER/images.")
def new(
    protocol: str,
    folder: Path,
    generated: tuple[tuple[str, Path], ...],
    real: tuple[Path, ...],
    gold: tuple[tuple[str, Path], ...],
    manifest: Path | None,
    name: str | None,
    title: str | None,
    seed: int,
    raters: int | None,
    trials: int | None,
    *,
    copy: bool,
) -> None:
    """Make a study from a protocol and your images.

    PROTOCOL is one of `beholder protocols`, or several with commas between; FOLDER must be new or empty.

    Folders of images are searched with their subfolders. Prompts come from DIR/prompts.csv (columns file, prompt,
    style) or from a text file next to each image (cat.png, cat.txt). A manifest has the columns path and generator
    and, optionally, image, prompt, style, gold and real; its paths are relative to its own folder.

    Every image is opened; if anything is wrong, all of it is listed and nothing is written.
    """
    with progress_bar("images") as progress:
        new_study = make_study(
            [part.strip() for part in protocol.split(",") if part.strip()],
            folder,
            real=real,
            generated=generated,
            gold=gold,
            manifest=manifest,
            name=name,
            title=title,
            seed=seed,
            copy=copy,
            raters=raters,
            trials=trials,
            progress=progress,
        )
    _print(new_study, folder)


def _print(new_study: NewStudy, folder: Path) -> None:
    counts = ", ".join(f"{count:,} {generator}" for generator, count in new_study.images.items())
    click.echo(
        f"{folder}: study '{new_study.study.name}' with {sum(new_study.images.values()):,} images ({counts})"
    )
    for question in new_study.study.questions:
        design = question.design
        click.echo(f"  {question.name}: {question.kind}, {design.raters} raters × {design.trials} trials")
    for note in new_study.notes:
        click.echo(f"note: {note}")
    click.echo(
        f"Next:\n  edit {folder / 'study.toml'} if the defaults do not suit you\n  beholder collect {folder}"
    )
