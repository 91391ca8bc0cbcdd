"""``beholder curate``: prompts from prompt sets."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.output import show_json, show_table

if TYPE_CHECKING:
    from beholder.curate.summary import CurationSummary

FOLDER = click.Path(path_type=Path, file_okay=False)


class NamedPath(click.ParamType[tuple[str, str, Path]]):
    """``NAME[:PART]=PATH``: a set of the catalogue, and its folder or file."""

    name = "NAME[:PART]=PATH"

    def convert(
        self, value: str | tuple[str, str, Path], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str, Path]:
        """Split at the first ``=``, and the name at the colon."""
        if isinstance(value, tuple):
            return value
        name, equals, path = value.partition("=")
        if not (name and equals and path):
            self.fail(f"'{value}' is not of the form NAME=PATH, such as geneval=downloads/geneval", param, ctx)
        set_name, _, part = name.partition(":")
        return set_name, part or "main", Path(path)


@click.command()
@click.argument("folder", type=FOLDER, required=False)
@click.option("--list", "list_sets", is_flag=True, help="List the prompt sets with version, licence and source.")
@click.option("--set", "sets", multiple=True, type=NamedPath(), help="A prompt set. Repeat for each.")
@click.option(
    "--prompts",
    "files",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Your own prompts: CSV, TSV, JSON, JSON lines, or text. Repeat for each.",
)
@click.option("--clean", is_flag=True, help="Remove style words by all rules.")
@click.option("--clean-command", metavar="COMMAND", help="Clean by a command of yours, in place of rules.")
@click.option("--swap", "swaps", multiple=True, metavar="TAG", help="Add counterfactual pairs: colour, person, …")
@click.option(
    "--drop", multiple=True, metavar="CHECK", help="Drop prompts for a check: contradiction, language, …"
)
@click.option("--choose", "count", type=click.IntRange(min=1), help="How many prompts to choose. [default: all]")
@click.option(
    "--balance", type=click.Choice(["category", "set", "none"]), help="Of what equally many. [default: category]"
)
@click.option(
    "--held-out", type=click.FloatRange(min=0, max=1, max_open=True), help="Proportion to hold out. [default: 0]"
)
@click.option("--seed", type=click.IntRange(min=0), help="Breaks ties. [default: 0]")
@click.option(
    "--write",
    "out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write the prompts: .csv, .jsonl, .txt.",
)
@click.option("--force", is_flag=True, help="Do the work even if nothing it depends on has changed.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def curate(
    folder: Path | None,
    sets: tuple[tuple[str, str, Path], ...],
    files: tuple[Path, ...],
    clean_command: str | None,
    swaps: tuple[str, ...],
    drop: tuple[str, ...],
    count: int | None,
    balance: str | None,
    held_out: float | None,
    seed: int | None,
    out: Path | None,
    *,
    list_sets: bool,
    clean: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Choose prompts from prompt sets, cleaned and tagged.

    Reads the settings in FOLDER/curate.toml. With --set or --prompts that file is written first, with every
    setting; it must not be there yet. Prompts that say the same as an earlier one are dropped, prompts that
    differ in a word are reported as minimal pairs, and every prompt that is not chosen has a row that says why.
    Writes the table `curated_prompts`, from which images can be generated, and eight more.
    """
    if list_sets:
        _list_sets(as_json=as_json)
        return
    if folder is None:
        raise click.UsageError("name a FOLDER, or --list")
    options: dict[str, object] = {
        "swaps": swaps,
        "drop": drop,
        "choose": count,
        "balance": balance,
        "held-out": held_out,
        "seed": seed,
    }
    options |= {"clean": clean, "clean-command": clean_command}
    if sets or files:
        _write_settings(folder, sets, files, options)
    else:
        used = [f"--{name}" for name, setting in options.items() if setting not in (None, (), False)]
        if used:
            raise click.UsageError(
                f"{', '.join(used)}: with --set or --prompts alone; else edit {folder}/curate.toml"
            )
    from beholder.cli.progress import progress_report
    from beholder.curate.export import write_prompts
    from beholder.curate.stage import run
    from beholder.curate.summary import summarise
    from beholder.tables.store import Store

    with progress_report("curate"):
        outcome = run(folder, force=force)
    summary = summarise(Store(folder))
    if out is not None:
        write_prompts(Store(folder).read("curated_prompts"), out)
    if as_json:
        show_json(asdict(outcome) | asdict(summary))
        return
    click.echo(str(outcome))
    _print_summary(summary)
    if out is not None:
        click.echo(f"\nThe prompts are in {out}.")


def _write_settings(
    folder: Path, sets: tuple[tuple[str, str, Path], ...], files: tuple[Path, ...], options: Mapping[str, object]
) -> None:
    """Write ``curate.toml`` from the options; an error where there is one already, or an option does not fit."""
    from pydantic import ValidationError

    from beholder.curate.settings import FILE_NAME, Curation, dump_curation
    from beholder.curate.sources import read_sources
    from beholder.errors import PromptsError
    from beholder.prompts.cleaning.rules import RULES
    from beholder.study.faults import faults_of
    from beholder.tables.atomic import write_atomically

    path = folder / FILE_NAME
    if path.exists():
        raise PromptsError(str(path), ["it is there already"], advice="Edit it, or remove it, and try again.")
    sources = [
        {"name": name, "part": part, "path": Path(os.path.relpath(place, folder)).as_posix()}
        for name, part, place in (*sets, *((file.stem, "main", file) for file in files))
    ]
    rules = list(RULES) if options["clean"] else []
    choose = {"prompts": options["choose"], "balance": options["balance"], "held_out": options["held-out"]}
    settings = {
        "seed": options["seed"] or 0,
        "sets": sources,
        "clean": {"rules": rules, "command": options["clean-command"]},
        "checks": {"drop": options["drop"]},
        "write": {"swaps": options["swaps"]},
        "choose": {name: setting for name, setting in choose.items() if setting is not None},
    }
    try:
        curation = Curation.model_validate(settings)
    except ValidationError as error:
        raise PromptsError("options", faults_of(error, Curation)) from error
    read_sources(curation.sets, folder)  # a fault of theirs leaves no settings behind
    folder.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as file:
        file.write(dump_curation(curation).encode())


def _list_sets(*, as_json: bool) -> None:
    from beholder.prompts.sets.catalogue import PROMPT_SETS

    rows = [
        (f"{name}:{part}" if part != "main" else name, about.count, entry)
        for name, entry in PROMPT_SETS.items()
        for part, about in entry.parts.items()
    ]
    if as_json:
        show_json(
            [
                {
                    "set": name,
                    "prompts": count,
                    "licence": entry.licence,
                    "version": entry.version,
                    "source": entry.source,
                    "about": entry.about,
                }
                for name, count, entry in rows
            ]
        )
        return
    heads = ("set", "prompts", "licence", "version", "source")
    show_table(
        heads,
        [
            (name, "" if count is None else f"{count:,}", entry.licence, entry.version, entry.source)
            for name, count, entry in rows
        ],
    )


def _print_summary(summary: "CurationSummary") -> None:
    click.echo()
    show_table(
        ("set", "version", "licence", "prompts", "distinct"),
        [
            (
                str(row["set"]),
                str(row["version"]),
                str(row["licence"]),
                f"{row['prompts']:,}",
                f"{row['distinct']:,}",
            )
            for row in summary.sets
        ],
    )
    for row in summary.overlaps:
        click.echo(f"shared: {row['first']} and {row['second']} have {row['shared']:,} prompts in common")
    for what in ("dropped", "pairs", "cuts", "findings"):
        counts: dict[str, int] = getattr(summary, what)
        if counts:
            click.echo(f"{what}: {', '.join(f'{count:,} {kind}' for kind, count in counts.items())}")
    click.echo()
    show_table(
        ("tag", "labels covered", "of", "prompts with it"),
        [(row.family, f"{row.covered:,}", f"{row.labels:,}", f"{row.prompts:,}") for row in summary.coverage],
    )
