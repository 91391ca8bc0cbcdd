"""``beholder score``: what automatic judges say of single images, and what that means, without a study."""

from dataclasses import asdict
from pathlib import Path

import click
import numpy as np

from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_bar
from beholder.cli.prompts import read_prompts
from beholder.cli.weights import named_weights
from beholder.errors import UserError
from beholder.measure.meaning import Meaning, choices_of, meaning, read_choices
from beholder.measure.score import Scores, score
from beholder.measure.scorers.catalogue import SCORERS, check_names, load_scorer, recipe_of
from beholder.measure.scorers.scorer import Scorer
from beholder.models.pictures import find_pictures
from beholder.stats.prediction.calibration import Calibration


@click.command(
    "score", epilog="Scorers: " + "; ".join(f"{name}, {one.about}" for name, one in SCORERS.items()) + "."
)
@click.argument("images", nargs=-1, required=True)
@click.option(
    "--scorer",
    "scorers",
    multiple=True,
    required=True,
    help="A scorer, or the folder of a trained model (FOLDER:ASPECT where it has several); may be repeated.",
)
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with the columns `image` (name or path) and `prompt`; or a text file, a line an image in order.",
)
@click.option("--prompt", help="One prompt for all images, in place of a file.")
@click.option(
    "--weights", multiple=True, metavar="NAME=PLACE", help="Weights: clip=folder, aesthetic=file, hps-v2=file …"
)
@click.option("--reference", help="Images beside which scores are put: percentile, and chance to be preferred.")
@click.option(
    "--reference-prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="As --prompts, for the reference; left out: --prompts or --prompt.",
)
@click.option(
    "--choices",
    type=click.Path(path_type=Path, dir_okay=False),
    help="People's choices, which calibrate chances: CSV with `first`, `second`, `share`, maybe `answers`; or the "
    "table `labels` of a study.",
)
@click.option("--device", help="Where networks run: cpu, cuda, mps. Left out: the fastest there is.")
@click.option("--skip-broken", is_flag=True, help="Leave broken images out, and say how many.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def score_images(
    images: tuple[str, ...],
    scorers: tuple[str, ...],
    prompts: Path | None,
    prompt: str | None,
    weights: tuple[str, ...],
    reference: str | None,
    reference_prompts: Path | None,
    choices: Path | None,
    device: str | None,
    *,
    skip_broken: bool,
    as_json: bool,
) -> None:
    """What automatic judges say of single images.

    IMAGES are files, folders, globs, manifests, tar files or arrays.
    """
    names, given = list(dict.fromkeys(scorers)), named_weights(weights)
    check_names(names, given, trained=True)
    needing = [name for name in names if "prompt" in recipe_of(name).needs]
    if needing and prompts is None and prompt is None:
        raise UserError(f"{', '.join(needing)} needs prompts: give a file with --prompts, or one with --prompt")
    if prompts and prompt:
        raise click.UsageError("give either --prompts or --prompt")
    pictures = find_pictures(*images)
    beside = find_pictures(reference) if reference else []
    texts = read_prompts(prompts, prompt, pictures)
    beside_texts = read_prompts(reference_prompts or prompts, prompt, beside) if beside else []
    table = read_choices(choices) if choices else None
    loaded = [load_scorer(name, given, device) for name in names]
    with progress_bar("images") as progress:
        found = score(pictures, texts, loaded, skip_broken=skip_broken, progress=progress)
    skipped = {one.name for one in found.broken}
    kept = [text for one, text in zip(pictures, texts, strict=True) if one.name not in skipped]
    chosen = choices_of(table, found.names, kept) if table is not None else None
    calibrations = {one.name: chosen.calibration(found.values[one.name]) for one in loaded} if chosen else {}
    meanings: dict[str, Meaning] = {}
    if beside:
        with progress_bar("reference") as progress:
            standing = score(beside, beside_texts, loaded, skip_broken=skip_broken, progress=progress)
        for one in loaded:
            values = found.values[one.name], standing.values[one.name]
            meanings[one.name] = meaning(*values, one, calibrations.get(one.name))
    show = _show_json if as_json else _show
    show(found, loaded, meanings, calibrations)


def _show_json(
    found: Scores, scorers: list[Scorer], meanings: dict[str, Meaning], calibrations: dict[str, Calibration]
) -> None:
    rows: list[dict[str, object]] = []
    for place, name in enumerate(found.names):
        row: dict[str, object] = {"image": name}
        row |= {one.name: float(found.values[one.name][place]) for one in scorers}
        if meanings:
            row["meaning"] = {
                one: {
                    "percentile": float(told.percentile[place]),
                    "chance": None if told.chance is None else float(told.chance[place]),
                }
                for one, told in meanings.items()
            }
        rows.append(row)
    broken = [{"image": one.name, "reason": one.reason} for one in found.broken]
    content: dict[str, object] = {"scorers": [one.identity for one in scorers], "scores": rows, "skipped": broken}
    if meanings:
        content["reference"] = {
            name: {"images": told.reference, "scale": told.scale, "scale_from": told.scale_from}
            for name, told in meanings.items()
        }
    if calibrations:
        content["calibration"] = {name: _calibration(one) for name, one in calibrations.items()}
    show_json(content)


def _calibration(found: Calibration) -> dict[str, object]:
    told = found.reliability
    columns = {
        "chance": told.chance,
        "observed": told.observed,
        "low": told.low,
        "high": told.high,
        "pairs": told.pairs,
    }
    full = np.flatnonzero(told.pairs)
    curve = [{name: column[place].item() for name, column in columns.items()} for place in full]
    return {
        "scale": asdict(found.scale),
        "ece": told.ece,
        "ece_by_chance": told.ece_by_chance,
        "folds": found.folds,
        "pairs": found.pairs,
        "choices": found.choices,
        "reliability": curve,
    }


def _show(
    found: Scores, scorers: list[Scorer], meanings: dict[str, Meaning], calibrations: dict[str, Calibration]
) -> None:
    heads, columns = ["image"], [list(found.names)]
    for one in scorers:
        heads.append(one.name)
        columns.append([f"{value:.4g}" for value in found.values[one.name]])
        told = meanings.get(one.name)
        if told:
            heads.append("percentile")
            columns.append([f"{value:.0f}" for value in told.percentile])
        if told and told.chance is not None:
            heads.append("preferred")
            columns.append([f"{value:.0%}" for value in told.chance])
    show_table(heads, list(zip(*columns, strict=True)))
    for name, told in meanings.items():
        click.echo(_told(name, told), err=True)
    for name, found_scale in calibrations.items():
        click.echo(_checked(name, found_scale), err=True)
    if found.broken:
        click.echo(f"{len(found.broken)} broken images were left out", err=True)


def _told(name: str, told: Meaning) -> str:
    among = f"{name}: percentile among {told.reference} reference images"
    if told.scale is None:
        return f"{among}; it was not trained on choices, so there is no chance to be preferred without --choices"
    source = "fitted to people's choices" if told.scale_from == "choices" else "as it was trained, not calibrated"
    return f"{among}; preferred: chance over one of them, σ({told.scale:.4g} · difference), {source}"


def _checked(name: str, found: Calibration) -> str:
    told = found.reliability
    return (
        f"{name}: {found.pairs} pairs, {found.choices:.0f} choices: scale {found.scale.value:.4g} "
        f"[{found.scale.low:.4g}, {found.scale.high:.4g}]; calibration error {told.ece:.3f} on choices held out "
        f"({told.ece_by_chance:.3f} would be chance)"
    )
