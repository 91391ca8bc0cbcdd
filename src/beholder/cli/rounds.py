"""``beholder rounds``: decide what others may see of raters' own prompts, and let others verify claims blind."""

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--list", "listing", is_flag=True, help="Print what waits for a decision, and stop.")
@click.option("--approve", multiple=True, metavar="NAME", help="Let others see this result.")
@click.option("--hide", multiple=True, metavar="NAME", help="Let nobody see this result.")
@click.option("--ban", multiple=True, metavar="WORD", help="Refuse prompts with this word from now on.")
@click.option("--verifiers", type=click.IntRange(min=1), default=5, show_default=True, help="Of each claim.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rounds(
    folder: Path,
    approve: tuple[str, ...],
    hide: tuple[str, ...],
    ban: tuple[str, ...],
    verifiers: int,
    *,
    listing: bool,
    as_json: bool,
) -> None:
    """Let others verify what raters claim of their own prompts.

    Makes FOLDER/rounds/N, a study of one choice question about every approved claim that is in no round yet. Its
    raters do not see the claims, which are in FOLDER/rounds/N/claims.csv. With --list, --approve, --hide or --ban
    no round is made: they show and decide what others may see, as the researcher's page does.
    """
    from beholder.api.rounds.verification_study import make_round, moderate
    from beholder.cli.output import show_json, show_table

    if listing or approve or hide or ban:
        queue = moderate(folder, approve, hide, ban)
        if as_json:
            show_json({"waiting": queue})
            return
        click.echo(f"{len(queue)} results wait for a decision")
        if queue:
            show_table(
                ("name", "target", "prompt"), [(row["attempt"], row["target"], row["text"]) for row in queue]
            )
        return
    made = make_round(folder, verifiers=verifiers)
    if as_json:
        show_json(
            {"folder": str(made.folder), "claims": made.claims, "waiting": made.waiting, "hidden": made.hidden}
        )
        return
    click.echo(
        f"{made.claims} claims in {made.folder}; {made.waiting} wait for a decision, {made.hidden} are hidden"
    )
    click.echo(
        f"Next: beholder collect {made.folder}, beholder consolidate {made.folder}, then "
        f"beholder claims {made.folder / 'claims.csv'} --study {made.folder}"
    )
