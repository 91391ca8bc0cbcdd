"""``beholder new``: a study from a protocol and images."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click

from beholder.cli.output import show_json
from beholder.cli.progress import progress_bar
from beholder.design.new import NewStudy, make_study
from beholder.generators.catalogue import parse_generator
from beholder.study.study import Pay
from beholder.study.wages import base_pay, describe_pay, hourly_pay, session_minutes

FOLDER = click.Path(path_type=Path, file_okay=False)


NUMBERS: dict[str, tuple[int, str]] = {
    "raters": (1, "Raters per question."),
    "trials": (1, "Trials per rater."),
    "raters_per_item": (0, "Answers per item; 0: all items evenly."),
    "training": (0, "Trials with feedback before the start."),
    "qualification": (0, "Trials that a rater must pass to be admitted."),
    "repeats": (0, "Trials that are asked again."),
    "gold_every": (0, "One trial with a known answer after every so many; 0: none."),
    "attention_every": (0, "One attention check after every so many; 0: none."),
    "blocks": (1, "Parts of a session, with a break between."),
    "images": (3, "Images per trial, where several are ranked."),
}
"""Numbers of the design that can be chosen: the least, and what the option's help says."""

REHEARSED = 20
"""Simulated raters of the rehearsal that is proposed."""

OPTION_NAMES = {"images": "images-per-trial"}
"""Options that are not called like the setting."""


def number_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for every number that is fitted to the images otherwise."""
    for name, (least, about) in reversed(NUMBERS.items()):
        option = f"--{OPTION_NAMES.get(name, name.replace('_', '-'))}"
        help_text = f"{about} [default: published, fitted to the images]"
        command = click.option(option, name, type=click.IntRange(min=least), help=help_text)(command)
    return command


class NamedFolder(click.ParamType[tuple[str, Path]]):
    """``NAME=DIR``: a generator's name and the folder, tar or Parquet file of its images."""

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
@click.option("--real", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Real images.")
@click.option("--gold", multiple=True, type=NamedFolder(), help="Images that serve only to check raters.")
@click.option(
    "--manifest", type=click.Path(path_type=Path), metavar="FILE", help="A CSV or Parquet list of images."
)
@click.option(
    "--from-generations",
    "generations",
    multiple=True,
    type=FOLDER,
    metavar="DIR",
    help="A folder of `beholder generate`; FOLDER itself makes it a study.",
)
@click.option(
    "--generator",
    "shorthands",
    multiple=True,
    metavar="NAME=KIND:…",
    help="A benchmark: images are generated from the prompts curated in FOLDER. Repeat for each.",
)
@click.option("--name", help="Name of the study. [default: from FOLDER]")
@click.option("--title", help="Title that participants see. [default: from the name]")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Makes all random draws reproducible."
)
@number_options
@click.option("--pay", type=click.FloatRange(min=0), help="For a complete session. [default: its time × the wage]")
@click.option("--currency", default="USD", show_default=True)
@click.option("--wage", type=click.FloatRange(min=0), default=12.0, show_default=True, help="Least pay per hour.")
@click.option("--accept-low-pay", is_flag=True, help="Pay less than the least wage all the same.")
@click.option("--copy", is_flag=True, help="Copy the images into FOLDER/images.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def new(
    protocol: str,
    folder: Path,
    generated: tuple[tuple[str, Path], ...],
    real: tuple[Path, ...],
    gold: tuple[tuple[str, Path], ...],
    manifest: Path | None,
    generations: tuple[Path, ...],
    shorthands: tuple[str, ...],
    name: str | None,
    title: str | None,
    seed: int,
    pay: float | None,
    currency: str,
    wage: float,
    *,
    accept_low_pay: bool,
    copy: bool,
    as_json: bool,
    **numbers: int | None,
) -> None:
    """Make a study from a protocol and your images.

    PROTOCOL is one of `beholder protocols`, or several with commas between; FOLDER must be new or empty, or hold
    the generations that are named, or, with --generator, curated prompts.

    Folders of images are searched with their subfolders. Prompts come from DIR/prompts.csv (columns file, prompt,
    style) or from a text file next to each image (cat.png, cat.txt). In place of a folder, DIR may be a tar or
    Parquet file with images and their prompts, or a folder of such files; these images are copied. A manifest has
    the columns path and generator and, optionally, image, prompt, style, gold and real; its paths are relative to
    its own folder.

    Every image is opened; if anything is wrong, all of it is listed and nothing is written.

    The published numbers of raters and trials, and what goes with them, are fitted to your images, and what was
    changed is printed. Numbers that you name are not changed. Pay follows from the time that a session takes and
    the least wage, unless you name it.
    """
    with progress_bar("images") as progress:
        new_study = make_study(
            [part.strip() for part in protocol.split(",") if part.strip()],
            folder,
            real=real,
            generated=generated,
            gold=gold,
            manifest=manifest,
            generations=generations,
            generators=[parse_generator(shorthand) for shorthand in shorthands],
            name=name,
            title=title,
            seed=seed,
            copy=copy,
            numbers={name: number for name, number in numbers.items() if number is not None},
            pay=Pay(currency=currency, base=pay, minimum_hourly=wage, accept_low=accept_low_pay),
            progress=progress,
        )
    if as_json:
        show_json(_plain(new_study, folder))
    else:
        _print(new_study, folder)


def _print(new_study: NewStudy, folder: Path) -> None:
    counts = ", ".join(f"{count:,} {generator}" for generator, count in new_study.images.items())
    click.echo(
        f"{folder}: study '{new_study.study.name}' with {sum(new_study.images.values()):,} images ({counts})"
    )
    study = new_study.study
    for question in study.questions:
        design = question.design
        click.echo(f"  {question.name}: {question.kind}, {design.raters} raters × {design.trials} trials")
        click.echo(f"    pay: {describe_pay(study, question)}")
        changes = new_study.changes[question.name]
        if changes:
            click.echo(f"    changed to fit: {'; '.join(str(change) for change in changes)}")
    for note in new_study.notes:
        click.echo(f"note: {note}")
    click.echo(f"Next:\n  edit {folder / 'study.toml'} if the numbers do not suit you")
    if study.benchmark is not None:
        click.echo(
            f"  generate and measure: beholder bench {folder}\n"
            f"  the same, and rehearse with simulated raters: beholder bench {folder} --simulate {REHEARSED}\n"
            f"  ask people, then bench again: beholder collect {folder}"
        )
        return
    click.echo(
        f"  rehearse with simulated raters: beholder run {folder} --simulate {REHEARSED}\n"
        f"  ask people: beholder collect {folder}"
    )


def _plain(new_study: NewStudy, folder: Path) -> dict[str, object]:
    study = new_study.study
    return {
        "folder": str(folder),
        "name": study.name,
        "images": dict(new_study.images),
        "questions": [
            {
                "name": question.name,
                "kind": question.kind,
                "protocol": question.protocol,
                "design": question.design.model_dump(mode="json"),
                "changes": [asdict(change) for change in new_study.changes[question.name]],
                "minutes": session_minutes(study, question),
                "pay": base_pay(study, question),
                "hourly_pay": hourly_pay(study, question),
                "currency": study.pay.currency,
            }
            for question in study.questions
        ],
        "notes": list(new_study.notes),
    }
