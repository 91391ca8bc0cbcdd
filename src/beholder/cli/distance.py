"""``beholder distance``: how far sets of generated images are from real ones, without a study."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from beholder.api.sets.compare_sets import USUAL, SetDistance, choose_distances, compare_sets
from beholder.cli.options import background_option, engine_options
from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_report
from beholder.distances.aliases import ALIASES
from beholder.distances.catalogue import DISTANCES
from beholder.engines.engine import open_engine
from beholder.measure.settings import OFFLINE
from beholder.models.encoders.catalogue import ENCODERS


@click.command(
    epilog=f"Encoders: {', '.join(ENCODERS)}. Metrics: {', '.join(DISTANCES)}. Also: {', '.join(ALIASES)}. "
    "A set is a folder, a glob, a manifest, a tar or Parquet file, or an array."
)
@click.argument("real")
@click.argument("generated", nargs=-1, required=True)
@click.option("--encoder", help=f"Whose features are compared. By default {OFFLINE}, which works offline.")
@click.option("--weights", help="Its weights: a folder, a file or a hub name.")
@click.option("--metric", "metrics", multiple=True, help=f"May be repeated. By default: {', '.join(USUAL)}.")
@click.option("--train", help="Images that the generator was trained on: `ct` needs them.")
@click.option("--logits", help="An encoder of class scores: `inception_score` needs one.")
@click.option(
    "--features", type=click.Path(path_type=Path), help="Folder in which features are kept for next time."
)
@background_option()
@engine_options
@click.option("--seed", default=0, show_default=True, help="Of metrics that sample subsets.")
@click.option("--skip-broken", is_flag=True, help="Leave broken images out, and say how many.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def distance(
    real: str,
    generated: tuple[str, ...],
    encoder: str | None,
    weights: str | None,
    metrics: tuple[str, ...],
    train: str | None,
    logits: str | None,
    features: Path | None,
    background: str,
    engine: str,
    address: str | None,
    workers: int | None,
    gpus: float | None,
    seed: int,
    *,
    skip_broken: bool,
    as_json: bool,
) -> None:
    """Measure distances between sets of generated images and real ones.

    Each set GENERATED is compared with REAL. Every figure has a 95 % confidence interval over the sampling
    of images. Compare only figures of one encoder and of equal numbers of images.
    """
    chosen = choose_distances(
        metrics or USUAL,
        encoder=encoder,
        logits=logits,
        weights=weights,
        train=train is not None,
        option="--{}",
    )
    for recipe in chosen.recipes:
        click.echo(recipe, err=True)
    with (
        TemporaryDirectory() as scratch,
        open_engine(engine, address=address, workers=workers, gpus=gpus) as opened,
        progress_report("images") as progress,
    ):
        by_engine = opened if engine != "local" else None
        distances = compare_sets(
            (real, real),
            {place: place for place in generated},
            chosen,
            weights=weights,
            train=train,
            features=features or (Path(scratch) if by_engine else None),
            background=background,
            seed=seed,
            skip_broken=skip_broken,
            progress=progress,
            engine=by_engine,
            caution=lambda sentence: click.echo(f"note: {sentence}", err=True),
        )
    if as_json:
        show_json([_plain(row) for row in distances])
    else:
        _show(distances)


def _plain(row: SetDistance) -> dict[str, object]:
    figure = asdict(row.distance)
    images = {"real_images": figure.pop("real"), "generated_images": figure.pop("generated")}
    return {
        **{name: getattr(row, name) for name in ("real", "generated", "encoder", "preprocessing", "background")},
        **figure,
        **images,
        **{name: getattr(row, name) for name in ("better", "few_images", "skipped_real", "skipped_generated")},
    }


def _show(rows: Sequence[SetDistance]) -> None:
    show_table(
        ("generated", "metric", "value", "95 % CI", "better", "images"),
        [
            (
                row.generated,
                row.distance.name,
                f"{row.distance.value:.4g}",
                f"{row.distance.low:.4g} … {row.distance.high:.4g}",
                row.better,
                f"{row.distance.generated} and {row.distance.real}",
            )
            for row in rows
        ],
    )
    for row in {row.generated: row for row in rows}.values():
        if row.skipped_real or row.skipped_generated:
            click.echo(
                f"{row.generated}: broken images were skipped: {row.skipped_generated} generated, "
                f"{row.skipped_real} real",
                err=True,
            )
    if rows:
        click.echo(f"features: {', '.join(dict.fromkeys(row.encoder for row in rows))}", err=True)
