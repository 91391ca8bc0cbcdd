"""``beholder improve FOLDER``: filter, repair and proof with sound defaults."""

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
@click.option("--generator", required=True, metavar="NAME", help="Of the study file, or NAME=KIND:ARGUMENT.")
@scorer_option
@click.option("--inpainter", metavar="NAME", help="What repairs. [default: erring, for painters; else no repair]")
@held_out_option
@click.option("--candidates", type=click.IntRange(2, 256), default=4, show_default=True, help="Per prompt.")
@click.option("--prompts", type=click.IntRange(min=5), default=40, show_default=True, help="At most so many.")
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
    name: str,
    device: str | None,
    *,
    simulate: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Filter, repair and prove, with sound defaults, on one page.

    The same as `beholder improve FOLDER`: the best of several images per prompt, repaired where they are still
    wrong, compared blind with the images that came first. Without --simulate, the comparison is ready for
    `beholder collect`.
    """
    from beholder.api.improving.loop import improve
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report

    with progress_report("improve") as progress:
        loop = improve(
            folder,
            generator=generator,
            scorer=scorer,
            inpainter=inpainter,
            held_out=held_out,
            name=name,
            candidates=candidates,
            prompts=prompts,
            simulate=simulate,
            device=device,
            force=force,
            progress=progress,
        )
    if as_json:
        show_json({"gains": list(loop.gains), "proofs": list(loop.proof.rows), "page": str(loop.improvement.page)})
        return
    show_gains(loop.gains)
    click.echo()
    if loop.proof.rows:
        show_proof(loop.proof.rows)
    else:
        click.echo(
            f"proof: {loop.proof.pairs} pairs for {loop.proof.raters} raters\nNext: beholder collect "
            f"{loop.proof.study}, and then beholder improve proof {folder} --name {name}"
        )
    click.echo(f"Open {loop.improvement.page}")
