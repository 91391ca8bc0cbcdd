"""``beholder improve repair``: paint again what is wrong with images, and keep what is better."""

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
)


@click.command()
@folder_argument
@scorer_option
@click.option(
    "--inpainter",
    required=True,
    metavar="NAME",
    help="What paints: exact or erring[:RATE] for images of the synthetic world, pixel-flow:FOLDER, "
    "diffusers:MODEL or worker:COMMAND.",
)
@held_out_option
@click.option("--generator", metavar="NAME", help="Only images of this generator.")
@click.option("--by-raters", is_flag=True, help="Repair what raters marked, instead of what the model predicts.")
@click.option("--tries", type=click.IntRange(1, 64), default=4, show_default=True, help="Of each image.")
@click.option(
    "--margin", type=click.FloatRange(min=0), help="Least gain to keep. [default: from the scorer's interval]"
)
@click.option("--images", type=click.IntRange(min=1), help="Repair at most so many.")
@name_option("repair")
@device_option
@force_option
@json_option
def repair(
    folder: Path,
    scorer: str,
    inpainter: str,
    held_out: str | None,
    generator: str | None,
    tries: int,
    margin: float | None,
    images: int | None,
    name: str,
    device: str | None,
    *,
    by_raters: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Paint again what is wrong with images, and keep what is better.

    A heatmap, predicted by a model of rich feedback or marked by raters, becomes a mask; the masked part is
    painted again several times; the best try is kept if its score is better by a margin that follows from the
    scorer's own interval. Thresholds and margin are chosen on other prompts. No pixel outside the mask changes.
    """
    from beholder.api.improving.repair import repair as repair_images
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report
    from beholder.improve.repair_run import RepairOptions

    options = RepairOptions(generator=generator, by_raters=by_raters, tries=tries, margin=margin, images=images)
    with progress_report("repair") as progress:
        run = repair_images(
            folder,
            scorer=scorer,
            inpainter=inpainter,
            name=name,
            held_out=held_out,
            options=options,
            device=device,
            force=force,
            progress=progress,
        )
    if as_json:
        show_json({"settings": run.settings, "gains": list(run.gains)})
        return
    changed = sum(repair.accepted for repair in run.repairs)
    choice, masks = run.choice, run.choice.masks
    click.echo(
        f"repair: {changed} of {len(run.repairs)} images changed; threshold {masks.threshold:.2f}, dilation "
        f"{masks.dilation:.2f}, margin {choice.margin:.3f}, chosen on {choice.images} other images"
    )
    show_gains(run.gains)
    click.echo(f"Open {folder / 'improvements' / name / 'improvement.html'}")
    click.echo(f"Next: beholder improve proof {folder} --name {name}")
