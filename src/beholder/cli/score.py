"""``beholder score``: scores of single images and their calibration, without a study."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click
import numpy as np

from beholder.api.scoring import ImageScores, score_by
from beholder.cli.options import background_option, engine_options, keep_option
from beholder.cli.output import show_json_with_rows, show_table
from beholder.cli.progress import progress_bar
from beholder.cli.prompts import read_prompts
from beholder.cli.weights import named_weights
from beholder.engines.engine import open_engine
from beholder.errors import UserError
from beholder.images.lazy import Mapped
from beholder.images.sources import captions, find_images
from beholder.measure.meaning import Meaning, read_choices
from beholder.scorers.aliases import resolve_scorers
from beholder.scorers.catalogue import (
    BEST,
    BEST_WITH_PROMPTS,
    SCORERS,
    check_names,
    default_of_images,
    learned_scorer_remark,
    load_scorer,
    recipe_of,
)
from beholder.scorers.shards.in_shards import Judges
from beholder.stats.prediction.calibration import Calibration


@click.command(
    "score", epilog="Scorers: " + "; ".join(f"{name}, {scorer.about}" for name, scorer in SCORERS.items()) + "."
)
@click.argument("images", nargs=-1, required=True)
@click.option(
    "--scorer",
    "scorers",
    multiple=True,
    help="A scorer, or the folder of a trained model (FOLDER:ASPECT where it has several); may be repeated. By "
    f"default {BEST} where the extra `models` is installed, with prompts also {BEST_WITH_PROMPTS}; else "
    "statistics of pixels.",
)
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with the columns `file` or `image` (name or path) and `prompt`; or a text file, one line per image.",
)
@click.option("--prompt", help="One prompt for all images, in place of a file.")
@click.option(
    "--weights", multiple=True, metavar="NAME=PLACE", help="Weights: clip=folder, aesthetic=file, hps-v2=file …"
)
@click.option("--reference", help="Images to compare scores with: percentile, and probability to be preferred.")
@click.option(
    "--reference-prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="As --prompts, for the reference; by default --prompts or --prompt.",
)
@click.option(
    "--choices",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Raters' choices, which calibrate probabilities: CSV with `first`, `second`, `share`, maybe `answers`; "
    "or the table `labels` of a study.",
)
@background_option()
@click.option("--device", help="Where networks run: cpu, cuda, mps. Left out: the fastest there is.")
@engine_options
@keep_option
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
    background: str,
    device: str | None,
    engine: str,
    address: str | None,
    workers: int | None,
    gpus: float | None,
    keep: Path | None,
    *,
    skip_broken: bool,
    as_json: bool,
) -> None:
    """Score single images by automatic scorers.

    IMAGES are files, folders, globs, manifests, tar or Parquet files, or arrays.
    """
    resolved, recipes = resolve_scorers(scorers or default_of_images(prompted=bool(prompts or prompt)))
    for line in (*recipes, None if scorers else learned_scorer_remark(resolved)):
        if line:
            click.echo(line, err=True)
    names, named = list(resolved), named_weights(weights)
    check_names(names, named, trained=True)
    needing = [name for name in names if "prompt" in recipe_of(name).needs]
    if prompts and prompt:
        raise click.UsageError("give either --prompts or --prompt")
    pictures = find_images(*images)
    if needing and prompts is None and prompt is None and None in captions(pictures):
        raise UserError(f"{', '.join(needing)} needs prompts: give a file with --prompts, or one with --prompt")
    reference_images = find_images(reference) if reference else []
    texts = read_prompts(prompts, prompt, pictures)
    reference_texts = (
        read_prompts(reference_prompts or prompts, prompt, reference_images) if reference_images else []
    )
    table = read_choices(choices) if choices else None
    loaded = [load_scorer(name, named, device) for name in names]
    judges = Judges(tuple(names), tuple(sorted(named.items())), device, background=background)
    with (
        open_engine(engine, address=address, workers=workers, gpus=gpus) as opened,
        progress_bar("images") as progress,
    ):
        scored = score_by(
            loaded,
            pictures,
            texts,
            reference=reference_images,
            reference_prompts=reference_texts,
            choices=table,
            background=background,
            skip_broken=skip_broken,
            progress=progress,
            engine=opened if engine != "local" else None,
            judges=judges,
            keep=keep,
        )
    show = _show_json if as_json else _show
    show(scored)


def _show_json(scored: list[ImageScores]) -> None:
    first = scored[0]
    broken = [{"image": image.name, "reason": image.reason} for image in first.broken]
    content: dict[str, object] = {
        "scorers": [each.scorer for each in scored],
        "scores": [],
        "skipped": broken,
        "notes": list(dict.fromkeys(note for scores in scored for note in scores.notes)),
    }
    if first.meaning:
        content["reference"] = {
            scores.name: {
                "images": scores.meaning.reference,
                "scale": scores.meaning.scale,
                "scale_from": scores.meaning.scale_from,
            }
            for scores in scored
            if scores.meaning
        }
    if first.calibration:
        content["calibration"] = {
            scores.name: _calibration(scores.calibration) for scores in scored if scores.calibration
        }
    show_json_with_rows(content, "scores", _rows(scored))


def _rows(scored: list[ImageScores]) -> Iterator[dict[str, object]]:
    """Yield the scores of one image after the other."""
    for place, name in enumerate(scored[0].names):
        row: dict[str, object] = {"image": name}
        row |= {scores.name: float(scores.scores[place]) for scores in scored}
        if scored[0].meaning:
            row["meaning"] = {
                scores.name: {
                    "percentile": float(scores.meaning.percentile[place]),
                    "chance": None if scores.meaning.chance is None else float(scores.meaning.chance[place]),
                }
                for scores in scored
                if scores.meaning
            }
        yield row


def _calibration(calibration: Calibration) -> dict[str, object]:
    reliability = calibration.reliability
    columns = {
        "chance": reliability.chance,
        "observed": reliability.observed,
        "low": reliability.low,
        "high": reliability.high,
        "pairs": reliability.pairs,
    }
    full = np.flatnonzero(reliability.pairs)
    curve = [{name: column[place].item() for name, column in columns.items()} for place in full]
    return {
        "scale": asdict(calibration.scale),
        "ece": reliability.ece,
        "ece_by_chance": reliability.ece_by_chance,
        "folds": calibration.folds,
        "pairs": calibration.pairs,
        "choices": calibration.choices,
        "reliability": curve,
    }


def _show(scored: list[ImageScores]) -> None:
    heads = ["image"]
    for scores in scored:
        heads.append(scores.name)
        if scores.meaning:
            heads.append("percentile")
        if scores.meaning and scores.meaning.chance is not None:
            heads.append("preferred")
    show_table(heads, Mapped(partial(_cells, scored), range(len(scored[0].names))))
    for scores in scored:
        if scores.meaning:
            click.echo(_describe_meaning(scores.name, scores.meaning), err=True)
    for scores in scored:
        if scores.calibration:
            click.echo(_describe_calibration(scores.name, scores.calibration), err=True)
    for note in dict.fromkeys(note for scores in scored for note in scores.notes):
        click.echo(note, err=True)


def _cells(scored: list[ImageScores], place: int) -> list[str]:
    """Return the row of one image."""
    cells = [scored[0].names[place]]
    for scores in scored:
        cells.append(f"{scores.scores[place]:.4g}")
        if scores.meaning:
            cells.append(f"{scores.meaning.percentile[place]:.0f}")
        if scores.meaning and scores.meaning.chance is not None:
            cells.append(f"{scores.meaning.chance[place]:.0%}")
    return cells


def _describe_meaning(name: str, meaning: Meaning) -> str:
    among = f"{name}: percentile among {meaning.reference} reference images"
    if meaning.scale is None:
        return (
            f"{among}; it was not trained on choices, so there is no probability to be preferred without --choices"
        )
    source = (
        "fitted to raters' choices" if meaning.scale_from == "choices" else "as it was trained, not calibrated"
    )
    return f"{among}; preferred: probability over one of them, σ({meaning.scale:.4g} · difference), {source}"


def _describe_calibration(name: str, calibration: Calibration) -> str:
    scale, reliability = calibration.scale, calibration.reliability
    return (
        f"{name}: {calibration.pairs} pairs, {calibration.choices:.0f} choices: scale {scale.value:.4g} "
        f"[{scale.low:.4g}, {scale.high:.4g}]; calibration error {reliability.ece:.3f} on choices held out "
        f"({reliability.ece_by_chance:.3f} would be chance)"
    )
