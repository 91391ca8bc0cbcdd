"""``beholder improve FOLDER``: filter, repair, tuning and proof with sound defaults."""

from pathlib import Path

import click

from beholder.cli.improve_options import (
    device_option,
    folder_argument,
    force_option,
    held_out_option,
    json_option,
    name_option,
    scorer_option,
    show_gains,
    show_proof,
)


@click.command("all")
@folder_argument
@click.option(
    "--generator",
    required=True,
    metavar="NAME",
    help="Of the study file, painted, pixel-flow:FOLDER, diffusers:MODEL, or NAME=KIND:ARGUMENT.",
)
@scorer_option
@click.option("--inpainter", metavar="NAME", help="What repairs. [default: erring, for painters; else no repair]")
@held_out_option
@click.option("--candidates", type=click.IntRange(2, 256), default=4, show_default=True, help="Per prompt.")
@click.option(
    "--prompts",
    type=click.IntRange(min=5),
    default=40,
    show_default=True,
    help="Filter at most so many, and at most half of the study's.",
)
@click.option("--tune-steps", type=click.IntRange(min=1), default=60, show_default=True, help="Steps of tuning.")
@click.option(
    "--skip",
    multiple=True,
    type=click.Choice(["repair", "tune", "proof"]),
    help="Leave a step out; may be repeated.",
)
@click.option("--simulate", is_flag=True, help="Let simulated raters judge the outcome: they see ground truth.")
@name_option("loop")
@device_option
@force_option
@json_option
def all_steps(
    folder: Path,
    generator: str,
    scorer: str,
    inpainter: str | None,
    held_out: str | None,
    candidates: int,
    prompts: int,
    tune_steps: int,
    skip: tuple[str, ...],
    name: str,
    device: str | None,
    *,
    simulate: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Filter, repair, tune and prove, with sound defaults, on one page.

    The same as `beholder improve FOLDER`: the best of several images per prompt, repaired where they are still
    wrong; then the generator itself is tuned on these prompts, until its steps are done or an alarm is raised, and
    compared on others; then raters compare images after with images before, blind. Without --simulate, the
    comparison is ready for `beholder collect`. A step that cannot be done is left out, and it is said why. Called
    again, the command does only what is not done.
    """
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_of_walk

    with progress_of_walk("improve") as progress:
        from beholder.api.improving.loop import improve  # some seconds

        improved = improve(
            folder,
            generator=generator,
            scorer=scorer,
            inpainter=inpainter,
            held_out=held_out,
            name=name,
            candidates=candidates,
            prompts=prompts,
            tune_steps=tune_steps,
            skip=skip,
            simulate=simulate,
            device=device,
            force=force,
            progress=progress,
        )
    proof = improved.proof
    if as_json:
        proof_study = proof and {"study": str(proof.study), "pairs": proof.pairs, "raters": proof.raters}
        content = {"gains": improved.rows.to_dicts(), "alarms": list(improved.alarms), "proof": proof_study}
        rows = list(proof.rows) if proof else []
        show_json(content | {"proofs": rows, "notes": list(improved.notes), "page": str(improved.page)})
        return
    for alarm in improved.alarms:
        click.echo(f"ALARM at {alarm}")
    show_gains(improved.rows.to_dicts())
    click.echo()
    if proof is not None and proof.rows:
        show_proof(proof.rows)
    elif proof is not None:
        click.echo(
            f"proof: {proof.pairs} pairs for {proof.raters} raters\nNext: beholder collect "
            f"{proof.study}, and then beholder improve proof {folder} --name {name}"
        )
    for note in improved.left_out:
        click.echo(note)
    click.echo(f"Open {improved.page}")
