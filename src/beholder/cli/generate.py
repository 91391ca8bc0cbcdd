"""``beholder generate``: images from prompts, by any generator."""

import re
from dataclasses import asdict
from pathlib import Path

import click

from beholder.api.generating import Generated, GeneratorSummary, generate_images
from beholder.cli.options import engine_options
from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_report
from beholder.engines.engine import open_engine
from beholder.generate.settings import Energy, GenerateSettings
from beholder.generators.catalogue import GENERATORS, parse_generator
from beholder.study.study import read_generators

SIZE = re.compile(r"(\d{1,5})(?:[x×](\d{1,5}))?")

KINDS = "; ".join(f"{name}: {kind.about}" for name, kind in GENERATORS.items())


class Size(click.ParamType[tuple[int, int]]):
    """``512`` or ``768x512``: width and height in pixels."""

    name = "SIZE"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Split at the ``x``."""
        if isinstance(value, tuple):
            return value
        matched = SIZE.fullmatch(value.strip())
        if not matched or not int(matched[1]) or not int(matched[2] or 1):
            self.fail(f"'{value}' is no size in pixels, such as 512 or 768x512", param, ctx)
        return int(matched[1]), int(matched[2] or matched[1])


@click.command(epilog=f"Kinds of generators: {KINDS}.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="One prompt per line, or CSV or JSON. [default: those curated in FOLDER, or of its study]",
)
@click.option(
    "--generator",
    "shorthands",
    multiple=True,
    metavar="NAME=KIND:…",
    help="A generator, such as best=painter:aurora. Repeat for each.",
)
@click.option(
    "--generators",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A TOML file with [[generators]]. [default: those of study.toml]",
)
@click.option("--only", multiple=True, metavar="NAME", help="Run this one; may be repeated. [default: all]")
@click.option("--samples", type=click.IntRange(min=1), default=1, show_default=True, help="Images per prompt.")
@click.option("--size", type=Size(), help="512 or 768x512, in pixels. [default: the generator's own]")
@click.option("--seed", type=click.IntRange(min=0), help="Decides all seeds. [default: the study's, or 0]")
@click.option("--retry", is_flag=True, help="Try again what was refused or failed before.")
@click.option("--energy", type=click.Choice(["codecarbon"]), help="Estimate the energy of each image.")
@engine_options
@click.option("--force", is_flag=True, help="Generate images again that are there.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def generate(
    folder: Path,
    prompts: Path | None,
    shorthands: tuple[str, ...],
    file: Path | None,
    only: tuple[str, ...],
    samples: int,
    size: tuple[int, int] | None,
    seed: int | None,
    energy: Energy | None,
    engine: str,
    address: str | None,
    workers: int | None,
    gpus: float | None,
    *,
    retry: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Generate images from prompts, by any generator.

    FOLDER is a study, or any other folder. Writes images to FOLDER/generations and the tables `generations` and
    `generation_costs`: one row per image, also where the generator refused or failed, with the prompt as sent, the
    seed, the hash of the weights, the reason, and what it cost. Images of a study are added to its table `images`;
    `beholder new PROTOCOL FOLDER --from-generations FOLDER` makes a study of another folder.

    A run that was killed goes on where it was. Images that are there are not made again. With --engine ray, its
    workers run commands, workers and pipelines, each its own; services and folders are asked by this process.
    """
    named = tuple(parse_generator(shorthand) for shorthand in shorthands)
    generating = GenerateSettings(
        generators=(*(read_generators(file) if file else ()), *named),
        only=only,
        prompts=prompts,
        samples=samples,
        width=size[0] if size else None,
        height=size[1] if size else None,
        seed=seed,
        retry=retry,
        energy=energy,
    )
    with (
        open_engine(engine, address=address, workers=workers, gpus=gpus) as opened,
        progress_report("generate") as progress,
    ):
        by_engine = opened if engine != "local" else None
        generated = generate_images(folder, generating, force=force, progress=progress, engine=by_engine)
    if as_json:
        show_json(asdict(generated))
    else:
        _print(generated, folder)


def _print(generated: Generated, folder: Path) -> None:
    click.echo(str(generated.outcome))
    show_table(
        ["generator", "images", "refused", "failed", "seconds per image", "energy per image", "cost"],
        [_cells(summary) for summary in generated.generators],
    )
    added = generated.added
    if added is None:
        click.echo(f"Next: beholder new PROTOCOL {folder} --from-generations {folder}")
    elif added.images:
        counts = ", ".join(f"{count:,} {name}" for name, count in added.images.items())
        click.echo(f"added to the study's images: {counts}")


def _cells(summary: GeneratorSummary) -> list[str]:
    energy = "–" if summary.energy_wh is None else f"{summary.energy_wh:.3g} Wh ({summary.energy_method})"
    cost = "–" if summary.cost is None else f"{summary.cost:,.2f} {summary.currency}"
    counts = [f"{count:,}" for count in (summary.done, summary.refused, summary.failed)]
    return [summary.generator, *counts, f"{summary.seconds:.2f} s", energy, cost]
