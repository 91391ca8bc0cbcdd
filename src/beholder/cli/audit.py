"""``beholder audit``: gaps, bias, faults of scorers and labels, cost, and what practitioners choose."""

import logging
from dataclasses import asdict
from pathlib import Path

import click

logger = logging.getLogger(__name__)

MOST = 4
"""Findings of an audit that are printed; all of them are on the page."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--list", "listing", is_flag=True, help="List the audits, and what each of them asks.")
@click.option(
    "--scorer",
    "scorers",
    multiple=True,
    metavar="NAME",
    help="Scorer to audit; repeatable. [default: the study's]",
)
@click.option("--weights", multiple=True, metavar="NAME=PLACE", help="Weights of a scorer's network; repeatable.")
@click.option(
    "--images", type=click.IntRange(min=20), help="Images on which each scorer is audited. [default: 48]"
)
@click.option("--force", is_flag=True, help="Audit again even if nothing it depends on has changed.")
@click.option("--quiet", is_flag=True, help="Print what was done, but no findings.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done, and the findings, as JSON.")
def audit(
    folder: Path | None,
    names: tuple[str, ...],
    *,
    listing: bool,
    scorers: tuple[str, ...],
    weights: tuple[str, ...],
    images: int | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Look for gaps, bias, faults of scorers and labels, and cost.

    Makes all audits of FOLDER, or those named, writes their findings to the table `audits` and says them in words
    on audit.html. `beholder audit --list` says what each of them asks. Scorers run in a process of their own.
    """
    from beholder.cli.output import show_json, show_table

    if listing:
        from beholder.api.auditing import QUESTIONS

        if as_json:
            show_json(QUESTIONS)
        else:
            show_table(["audit", "asks"], list(QUESTIONS.items()))
        return
    if folder is None:
        raise click.UsageError("Missing argument 'FOLDER'; `beholder audit --list` lists the audits")
    from beholder.api.auditing import audit
    from beholder.cli.progress import progress_report
    from beholder.cli.weights import named_weights
    from beholder.tables.store import Store

    logger.info("audit: starting in %s", folder)
    with progress_report("audit") as progress:
        audited = audit(
            folder,
            names,
            scorers=scorers,
            weights=named_weights(weights),
            images=images,
            force=force,
            progress=progress,
        )
    findings = Store(folder).read("audits").to_dicts()
    if as_json:
        content: dict[str, object] = {"stage": asdict(audited.stage), "page": str(audited.page)}
        profiles = Store(folder).read("audit_profiles").to_dicts()
        show_json(content if quiet else content | {"findings": findings, "profiles": profiles})
        return
    click.echo(str(audited.stage))
    if not quiet:
        _print(findings)
    click.echo(f"\nOpen {audited.page}")


def _print(findings: list[dict[str, object]]) -> None:
    """Print the findings of every audit that matter most, in words."""
    from itertools import groupby

    order = ("problem", "caution", "undecided", "clear", "absent")
    for name, rows in groupby(findings, key=lambda row: row["audit"]):
        ranked = sorted(rows, key=lambda row: order.index(str(row["severity"])))
        click.echo(f"\n{name}")
        for row in ranked[:MOST]:
            click.echo(f"  {row['severity']}: {row['finding']}")
        if len(ranked) > MOST:
            click.echo(f"  … and {len(ranked) - MOST:,} more")
