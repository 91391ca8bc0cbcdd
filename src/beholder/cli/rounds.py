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
@click.option(
    "--simulate",
    type=click.IntRange(min=2),
    metavar="N",
    help="Rehearse a round: N simulated attackers, and simulated verifiers.",
)
@click.option("--model", metavar="NAME", help="With --simulate: the trained model that is attacked.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rounds(
    folder: Path,
    approve: tuple[str, ...],
    hide: tuple[str, ...],
    ban: tuple[str, ...],
    verifiers: int,
    simulate: int | None,
    model: str | None,
    *,
    listing: bool,
    as_json: bool,
) -> None:
    """Let others verify what raters claim of their own prompts.

    Makes FOLDER/rounds/N, a study about every approved claim of one target that is in no round yet: does the image
    show what the text says, or, where a scorer is attacked, which image is better? Its raters do not see the
    claims, which are in FOLDER/rounds/N/claims.csv. With --list, --approve, --hide or --ban
    no round is made: they show and decide what others may see, as the researcher's page does.
    """
    from beholder.api.rounds.rehearsal import rehearse_round
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
    if (simulate is None) != (model is None):
        raise click.UsageError("--simulate and --model go together: who attacks, and which trained model")
    if simulate is not None and model is not None:
        new_round = rehearse_round(folder, model, attackers=simulate, verifiers=verifiers)
    else:
        new_round = make_round(folder, verifiers=verifiers)
    if as_json:
        show_json(
            {
                "folder": str(new_round.folder),
                "target": new_round.target,
                "claims": new_round.claims,
                "waiting": new_round.waiting,
            }
            | {"hidden": new_round.hidden, "others": new_round.others}
        )
        return
    click.echo(
        f"{new_round.claims} claims about {new_round.target} in {new_round.folder}; "
        f"{new_round.waiting} wait for a decision, {new_round.hidden} are hidden"
    )
    if new_round.others:
        click.echo(f"{new_round.others} approved claims about other targets: beholder rounds {folder} again")
    if simulate is not None:
        click.echo(
            f"Simulated verifiers have answered. Next: beholder claims {new_round.folder / 'claims.csv'} --study "
            f"{new_round.folder}, or beholder learn {folder} --recipe RECIPE --rounds"
        )
        return
    click.echo(
        f"Next: beholder collect {new_round.folder}, beholder consolidate {new_round.folder}, then "
        f"beholder claims {new_round.folder / 'claims.csv'} --study {new_round.folder}"
    )
