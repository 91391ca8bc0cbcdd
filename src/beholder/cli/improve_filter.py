"""``beholder improve filter``: the best of several images per prompt."""

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


@click.command("filter")
@folder_argument
@click.option("--generator", required=True, metavar="NAME", help="Of the study file, or NAME=KIND:ARGUMENT.")
@scorer_option
@held_out_option
@click.option("--candidates", type=click.IntRange(2, 256), default=4, show_default=True, help="Per prompt.")
@click.option("--prompts", type=click.IntRange(min=2), help="At most so many of the study's prompts.")
@click.option(
    "--precision",
    type=click.FloatRange(0, 1),
    default=0.8,
    show_default=True,
    help="Proportion of good images that those kept to train on must reach, on held-out labels.",
)
@click.option("--good", type=click.FloatRange(0, 1), help="Label of a good image. [default: the upper third]")
@name_option("filter")
@device_option
@force_option
@json_option
def filter_command(
    folder: Path,
    generator: str,
    scorer: str,
    held_out: str | None,
    candidates: int,
    prompts: int | None,
    precision: float,
    good: float | None,
    name: str,
    device: str | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Generate several images per prompt, and keep the best by a scorer.

    The threshold from which an image is good enough to train on is chosen on images that raters of the study
    labelled, and so is the forecast of what is truly gained. The chosen images, with their prompts, are in the
    folder `after` of the improvement.
    """
    from beholder.api.improving.filter import filter_images
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report
    from beholder.improve.filter_run import FilterOptions

    options = FilterOptions(candidates=candidates, prompts=prompts, precision=precision, good=good)
    with progress_report("filter") as progress:
        run = filter_images(
            folder,
            generator=generator,
            scorer=scorer,
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
    best = f"filter: the best of {candidates} for {len(run.chosen)} prompts"
    if run.threshold is None:
        click.echo(f"{best}; no labels to choose a threshold by")
    else:
        scores = run.scores[range(len(run.chosen)), run.chosen]
        passed, bar = int((scores >= run.threshold.threshold).sum()), run.threshold
        click.echo(
            f"{best}; {passed} reach {bar.threshold:.3f}, from which {bar.precision:.0%} [{bar.low:.0%}, "
            f"{bar.high:.0%}] of {bar.images} labelled images are good"
        )
    show_gains(run.gains)
    click.echo(f"Open {folder / 'improvements' / name / 'improvement.html'}")
    click.echo(f"Next: beholder improve proof {folder} --name {name}")
