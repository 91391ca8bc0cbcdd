"""``beholder forget``: delete what identifies a rater, and what they answered."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from beholder.cli.options import database_options, existing_database_url
from beholder.cli.output import show_json
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.forget import ALL_IDENTITIES, Receipt, find_rater, forget_identities, forget_rater
from beholder.tables.stages import writer_of


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--rater", metavar="PSEUDONYM", help="The rater, as the tables name them.")
@click.option("--platform", help="Where the rater came from: prolific, mturk, panel.")
@click.option("--id", "identity", help="Their id on that platform.")
@click.option("--keep-answers", is_flag=True, help="Delete only who they are.")
@click.option("--all-identities", is_flag=True, help="Delete who everyone is; answers stay.")
@database_options
@click.option("--json", "as_json", is_flag=True, help="Print the receipt as JSON.")
def forget(
    folder: Path,
    rater: str | None,
    platform: str | None,
    identity: str | None,
    database: str | None,
    *,
    keep_answers: bool,
    all_identities: bool,
    as_json: bool,
) -> None:
    """Delete a rater's identity and answers, and print a receipt.

    The rater is named by --rater, or by --platform and --id. What identifies them is deleted with their sessions,
    answers, marks and comments, in the database and in the tables of FOLDER; their slots open again for someone
    else. With --keep-answers only what identifies them is deleted. Tables that were made from the answers are
    listed, with the command that makes them again. Copies that you exported before are yours to delete.
    """
    by_id = platform is not None and identity is not None
    if (platform is None) != (identity is None):
        raise click.UsageError("--platform and --id belong together")
    if sum((rater is not None, by_id, all_identities)) != 1:
        raise click.UsageError("name one: --rater PSEUDONYM, --platform P --id ID, or --all-identities")
    if all_identities and keep_answers:
        raise click.UsageError("--all-identities keeps the answers anyway")
    url = existing_database_url(folder, database)
    with usable_database():
        if all_identities:
            receipt = forget_identities(url)
        else:
            person = rater or find_rater(url, str(platform), str(identity))
            receipt = forget_rater(folder, url, person, keep_answers=keep_answers)
    if as_json:
        show_json(asdict(receipt))
    else:
        click.echo(_words(receipt))


def _by_command(stale: tuple[str, ...]) -> str:
    """The tables by the command that makes them again: models and metrics are left out by ``beholder run``."""
    commands: dict[str, list[str]] = {}
    for name in stale:
        stage = writer_of(name).name
        command = f"beholder {stage}" if stage in ("learn", "measure") else "beholder run"
        commands.setdefault(command, []).append(name)
    return "; ".join(f"{', '.join(names)} by `{command}`" for command, names in commands.items())


def _words(receipt: Receipt) -> str:
    moment = datetime.fromtimestamp(receipt.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    lines = [
        f"forgotten: {receipt.what}, {moment}",
        f"  identities deleted  {receipt.identities}",
        f"  sessions deleted    {receipt.sessions}",
        f"  answers deleted     {receipt.answers}",
        f"  marks deleted       {receipt.marks}",
        f"  slots open again    {receipt.slots_opened}",
        f"  tables rewritten    {', '.join(receipt.tables) or 'none'}",
        f"  receipt             {receipt.hash}",
    ]
    if receipt.what == ALL_IDENTITIES:
        lines.append(
            "The key of pseudonyms is a new one: whoever comes back is a new rater; no id finds who came before."
        )
    if receipt.stale:
        lines.append(f"Made from the answers, and to be made again: {_by_command(receipt.stale)}")
    return "\n".join(lines)
