"""``beholder improve guide``, ``tune`` and ``words``: better images from the generator itself."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

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

if TYPE_CHECKING:
    from beholder.api.improving.guide import GeneratorChange
    from beholder.improve.tuning.settings import Method

generator_option = click.option(
    "--generator",
    required=True,
    metavar="NAME",
    help="painted[:SIZE], pixel-flow:FOLDER, or diffusers:MODEL (a folder or a name on the hub).",
)
images_option = click.option(
    "--images", type=click.IntRange(min=8), default=64, show_default=True, help="Prompts to compare on, at most."
)


@click.command()
@folder_argument
@generator_option
@scorer_option
@held_out_option
@click.option("--strength", type=click.FloatRange(min=0), default=0.0, show_default=True, help="Of guidance.")
@click.option(
    "--noise-steps",
    type=click.IntRange(min=0),
    default=8,
    show_default=True,
    help="Of the optimisation of the noise; 0 leaves it as it is.",
)
@images_option
@name_option("guide")
@device_option
@force_option
@json_option
def guide(
    folder: Path,
    generator: str,
    scorer: str,
    held_out: str | None,
    strength: float,
    noise_steps: int,
    images: int,
    name: str,
    device: str | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Sample images that a scorer likes better, without changing any weights.

    The scorer's gradient corrects each step of sampling (--strength), or the noise that sampling starts from is
    optimised (--noise-steps). Images of the same prompts and seeds, sampled plainly, are the comparison.
    """
    from beholder.api.improving.guide import guide as guide_samples
    from beholder.cli.progress import progress_report
    from beholder.improve.tuning.guide import GuideSettings

    with progress_report("guide") as progress:
        change = guide_samples(
            folder,
            generator=generator,
            scorer=scorer,
            name=name,
            held_out=held_out,
            settings=GuideSettings(strength=strength, iterations=noise_steps),
            images=images,
            device=device,
            force=force,
            progress=progress,
        )
    _show(change, folder, name, as_json=as_json)


@click.command()
@folder_argument
@generator_option
@click.option("--scorer", metavar="NAME", help="The reward: a scorer, FOLDER[:ASPECT], or FOLDER:ASPECT-map.")
@held_out_option
@click.option(
    "--method",
    type=click.Choice(["draft", "refl", "sft", "dpo", "ddpo"]),
    default="draft",
    show_default=True,
    help="How weights are tuned; dpo takes raters' own pairs, ddpo scorers without gradients.",
)
@click.option("--steps", type=click.IntRange(min=1), default=60, show_default=True)
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), default=1e-3, show_default=True)
@click.option("--rank", type=click.IntRange(min=1), default=8, show_default=True, help="Of the LoRA.")
@click.option(
    "--anchor",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Holds the generator near its base.",
)
@click.option(
    "--pairs-of",
    multiple=True,
    metavar="NAME",
    help="dpo: take pairs of this generator of the study; may be repeated. [default: all pairs]",
)
@click.option("--weigh", is_flag=True, help="sft: weigh the loss by the scorer's implausibility heatmap.")
@images_option
@name_option("tune")
@device_option
@force_option
@json_option
def tune(
    folder: Path,
    generator: str,
    scorer: str | None,
    held_out: str | None,
    method: str,
    steps: int,
    rate: float,
    rank: int,
    anchor: float,
    pairs_of: tuple[str, ...],
    images: int,
    name: str,
    device: str | None,
    *,
    weigh: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Tune a generator's weights by a scorer or by raters' pairs, and stop where an alarm is raised.

    A LoRA is tuned on some of the study's prompts; images of the others, from the same noise before and after,
    are compared. A run that was interrupted is resumed by the same command, to equal bits.
    """
    from beholder.api.improving.tune import tune as tune_generator
    from beholder.cli.progress import progress_report
    from beholder.improve.tuning.settings import TuneSettings

    settings = TuneSettings(method=cast("Method", method), steps=steps, rate=rate, rank=rank, anchor=anchor)
    with progress_report("tune") as progress:
        change = tune_generator(
            folder,
            generator=generator,
            scorer=scorer,
            name=name,
            held_out=held_out,
            settings=settings,
            pairs_of=pairs_of,
            weigh=weigh,
            images=images,
            device=device,
            force=force,
            progress=progress,
        )
    _show(change, folder, name, as_json=as_json)


@click.command()
@folder_argument
@generator_option
@click.option("--scorer", required=True, metavar="FOLDER", help="A rich-feedback model that predicts words.")
@click.option("--weight", type=float, default=3.0, show_default=True, help="Of the words that were missed.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.3,
    show_default=True,
    help="Probability from which a word counts as missed.",
)
@click.option(
    "--tries", type=click.IntRange(min=0), default=0, show_default=True, help="Other seeds, until aligned."
)
@click.option("--reword", is_flag=True, help="Put the words in front of the prompt, in place of weighing them.")
@images_option
@name_option("words")
@device_option
@force_option
@json_option
def words(
    folder: Path,
    generator: str,
    scorer: str,
    weight: float,
    threshold: float,
    tries: int,
    images: int,
    name: str,
    device: str | None,
    *,
    reword: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Sample again with more weight on the words that an image missed.

    A rich-feedback model predicts which words of the prompt an image does not show; sampling then follows these
    words more closely. As many random words of each prompt are the control.
    """
    from beholder.api.improving.words import words as follow_words
    from beholder.cli.progress import progress_report
    from beholder.improve.tuning.words import WordSettings

    with progress_report("words") as progress:
        change = follow_words(
            folder,
            generator=generator,
            scorer=scorer,
            name=name,
            settings=WordSettings(weight, threshold, tries, reword),
            images=images,
            device=device,
            force=force,
            progress=progress,
        )
    _show(change, folder, name, as_json=as_json)


def _show(change: "GeneratorChange", folder: Path, name: str, *, as_json: bool) -> None:
    """Print alarms first, then gains."""
    from beholder.cli.output import show_json

    if as_json:
        rows = [alarm.row(step) for step, alarm in change.alarms]
        show_json({"gains": list(change.gains), "alarms": rows, "step": change.step, "steps": change.steps})
        return
    for step, alarm in change.alarms:
        if alarm.raised:
            click.echo(f"ALARM at step {step}: {alarm.sentence} (threshold {alarm.threshold:g})")
    if change.steps:
        click.echo(f"tune: {change.steps} steps; the weights of step {change.step} are kept")
    show_gains(change.gains)
    click.echo(f"Open {folder / 'improvements' / name / 'improvement.html'}")
    click.echo(f"Next: beholder improve proof {folder} --name {name}")
