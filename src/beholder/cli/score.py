"""``beholder score``: what automatic judges say of single images, without a study."""

from pathlib import Path

import click
import polars as pl

from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_bar
from beholder.cli.weights import named_weights
from beholder.errors import UserError
from beholder.measure.score import Scores, score
from beholder.measure.scorers.catalogue import SCORERS, check_names, load_scorer
from beholder.measure.scorers.scorer import Scorer
from beholder.models.pictures import Picture, find_pictures


@click.command(
    "score", epilog="Scorers: " + "; ".join(f"{name}, {one.about}" for name, one in SCORERS.items()) + "."
)
@click.argument("images", nargs=-1, required=True)
@click.option("--scorer", "scorers", multiple=True, required=True, help="A scorer; may be repeated.")
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with the columns `image` (name or path) and `prompt`; or a text file, a line an image in order.",
)
@click.option("--weights", multiple=True, metavar="NAME=PLACE", help="Weights: clip=folder, aesthetic=file.")
@click.option("--skip-broken", is_flag=True, help="Leave broken images out, and say how many.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def score_images(
    images: tuple[str, ...],
    scorers: tuple[str, ...],
    prompts: Path | None,
    weights: tuple[str, ...],
    *,
    skip_broken: bool,
    as_json: bool,
) -> None:
    """What automatic judges say of single images.

    IMAGES are files, folders, globs, manifests, tar files or arrays.
    """
    names, given = list(dict.fromkeys(scorers)), named_weights(weights)
    check_names(names, given)
    needing = [name for name in names if "prompt" in SCORERS[name].needs]
    if needing and prompts is None:
        raise UserError(f"{', '.join(needing)} needs prompts: give a file with --prompts")
    pictures = find_pictures(*images)
    texts = _prompts(prompts, pictures) if prompts else [None] * len(pictures)
    loaded = [load_scorer(name, given) for name in names]
    with progress_bar("images") as progress:
        found = score(pictures, texts, loaded, skip_broken=skip_broken, progress=progress)
    _show(found, loaded, as_json=as_json)


def _prompts(path: Path, pictures: list[Picture]) -> list[str | None]:
    """The prompt of each picture; an error lists the pictures without one."""
    try:
        if path.suffix.lower() != ".csv":
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            if len(lines) != len(pictures):
                raise UserError(f"{path}: {len(lines)} lines for {len(pictures)} images; one a line is expected")
            return list(lines)
        table = pl.read_csv(path, infer_schema=False)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
    if not {"image", "prompt"} <= set(table.columns):
        raise UserError(f"{path}: columns 'image' and 'prompt' are expected; found: {', '.join(table.columns)}")
    known = dict(table.select("image", "prompt").drop_nulls().iter_rows())
    found = [known.get(one.name, known.get(Path(one.name).name)) for one in pictures]
    lost = [one.name for one, text in zip(pictures, found, strict=True) if text is None]
    if lost:
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        raise UserError(f"{path}: no prompt for {', '.join(lost[:5])}{more}")
    return found


def _show(found: Scores, scorers: list[Scorer], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"image": name, **{one.name: float(found.values[one.name][place]) for one in scorers}}
            for place, name in enumerate(found.names)
        ]
        broken = [{"image": one.name, "reason": one.reason} for one in found.broken]
        show_json({"scorers": [one.identity for one in scorers], "scores": rows, "skipped": broken})
        return
    show_table(
        ("image", *(one.name for one in scorers)),
        [
            (name, *(f"{found.values[one.name][place]:.4g}" for one in scorers))
            for place, name in enumerate(found.names)
        ],
    )
    if found.broken:
        click.echo(f"{len(found.broken)} broken images were left out", err=True)
