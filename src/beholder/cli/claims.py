"""``beholder claims``: which claims of an adversarial round others have verified, and who has earned credit."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from beholder.api.rounds.claims import VerifiedClaims


MOST = 20
"""Claimants that are listed; JSON has all."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--study", type=click.Path(path_type=Path, file_okay=False), help="The study that verifies the claims."
)
@click.option("--nibbler", is_flag=True, help="FILE is a submitted/*.json of Adversarial Nibbler.")
@click.option("--threshold", type=click.FloatRange(0.5, 1, min_open=True, max_open=True), default=0.95)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def claims(file: Path, study: Path | None, threshold: float, *, nibbler: bool, as_json: bool) -> None:
    """Say which claims of an adversarial round hold, and who earns credit.

    FILE is a CSV with the columns image, claimed and claimant, and failure where near-duplicates are to be
    credited once. --study names a consolidated study whose raters, who do not see the claims, say by one choice
    question what each image shows. With --nibbler, FILE is your own copy of a published file, whose validations
    verify its claims; its texts are not printed.
    """
    from beholder.api.rounds.claims import verify_nibbler, verify_study_claims

    if nibbler == (study is not None):
        raise click.UsageError("name the study that verifies the claims by --study, or say --nibbler")
    if study is None:
        verified = verify_nibbler(file, threshold=threshold)
    else:
        verified = verify_study_claims(study, file, threshold=threshold)
    _show(verified, as_json=as_json)


def _show(verified: "VerifiedClaims", *, as_json: bool) -> None:
    from beholder.cli.output import show_json, show_table

    earned = verified.credits
    columns = zip(verified.claimants, earned.claims, earned.verified, earned.credit, strict=True)
    people = sorted(columns, key=lambda row: (-row[3], row[0]))
    if as_json:
        heads = ("claimant", "claims", "verified", "credit")
        listed = [dict(zip(heads, (name, int(a), int(b), float(c)), strict=True)) for name, a, b, c in people]
        show_json({"counts": verified.counts(), "claims": verified.rows(), "claimants": listed})
        return
    counts = verified.counts()
    click.echo(", ".join(f"{count} {word}" for word, count in counts.items()))
    show_table(
        ("claimant", "claims", "verified", "credit"),
        [
            (name, str(claim_count), str(held), f"{credit:.2f}")
            for name, claim_count, held, credit in people[:MOST]
        ],
    )
