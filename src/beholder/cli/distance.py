"""``beholder distance``: how far sets of generated images are from real ones, without a study."""

from dataclasses import asdict
from pathlib import Path

import click

from beholder.cli.options import background_option
from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_bar, progress_report
from beholder.errors import UserError
from beholder.images.sources import find_images
from beholder.measure.distances.aliases import ALIASES, NamedDistances, resolve_distances
from beholder.measure.distances.catalogue import DISTANCES, Sets, compute_distances
from beholder.measure.distances.cautions import cautions
from beholder.measure.settings import OFFLINE
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.encode import Features, encode_by
from beholder.models.encoders.encoder import Encoder

USUAL = ("frechet", "kernel", "precision", "recall", "density", "coverage")


@click.command(
    epilog=f"Encoders: {', '.join(ENCODERS)}. Metrics: {', '.join(DISTANCES)}. Also: {', '.join(ALIASES)}. "
    "A set is a folder, a glob, a manifest, a tar file or an array."
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
    seed: int,
    *,
    skip_broken: bool,
    as_json: bool,
) -> None:
    """Measure distances between sets of generated images and real ones.

    Each set GENERATED is compared with REAL. Every figure has a 95 % confidence interval over the sampling
    of images. Compare only figures of one encoder and of equal numbers of images.
    """
    named = resolve_distances(metrics or USUAL, encoder, logits, OFFLINE)
    _check_needs(named, train, weights)
    for recipe in named.recipes:
        click.echo(recipe, err=True)
    places = [real, *generated, *([train] if train else [])]
    find_images(*places)  # reports all wrong paths at once
    counts = {place: len(find_images(place)) for place in places}
    scores = load_encoder(named.logits) if named.logits else None
    rows: list[dict[str, object]] = []
    for encoder_name, names in named.by_encoder.items():
        network = load_encoder(encoder_name, weights)
        for caution in cautions(names, network.dims, counts[real], {place: counts[place] for place in generated}):
            click.echo(f"note: {caution}", err=True)

        def encoded(place: str, *by: Encoder) -> tuple[Features, ...]:
            with progress_bar(place) as progress:
                return encode_by(
                    find_images(place),
                    by,
                    background=background,
                    folder=features,
                    skip_broken=skip_broken,
                    progress=progress,
                ).features

        reference, training = encoded(real, network)[0], encoded(train, network)[0] if train else None
        for place in generated:
            vectors = encoded(place, network, *([scores] if scores else []))
            sets = Sets(
                reference.vectors,
                vectors[0].vectors,
                train=training.vectors if training else None,
                logits=vectors[1].vectors if scores else None,
                seed=seed,
            )
            common = {"real": real, "generated": place, "encoder": vectors[0].encoder}
            common |= {"preprocessing": vectors[0].preprocessing, "background": background}
            skipped = {"skipped_real": len(reference.broken), "skipped_generated": len(vectors[0].broken)}
            with progress_report(f"distances of {place}"):
                estimates = compute_distances(list(names), sets)
            for name, estimate in estimates.items():
                figure = asdict(estimate)
                counted = {"real_images": figure.pop("real"), "generated_images": figure.pop("generated")}
                better = {"better": DISTANCES[name].better, "few_images": DISTANCES[name].bias}
                rows.append({**common, **figure, **counted, **better, **skipped})
    _show(rows, as_json=as_json)


def _check_needs(named: NamedDistances, train: str | None, weights: str | None) -> None:
    """Refuse names that are not known and sets that are missing, all at once, before anything is encoded."""
    faults = list(named.faults)
    faults += [
        f"metric '{name}' needs --{need}"
        for need, option in (("train", train), ("logits", named.logits))
        for names in named.by_encoder.values()
        for name in names
        if need in DISTANCES[name].needs and option is None
    ]
    if weights and len(named.by_encoder) > 1:
        faults.append(f"--weights are those of one encoder; the metrics need {', '.join(named.by_encoder)}")
    if faults:
        raise UserError("\n".join(faults))


def _show(rows: list[dict[str, object]], *, as_json: bool) -> None:
    if as_json:
        show_json(rows)
        return
    heads = ("generated", "metric", "value", "95 % CI", "better", "images")
    show_table(
        heads,
        [
            (
                str(row["generated"]),
                str(row["name"]),
                f"{row['value']:.4g}",
                f"{row['low']:.4g} … {row['high']:.4g}",
                str(row["better"]),
                f"{row['generated_images']} and {row['real_images']}",
            )
            for row in rows
        ],
    )
    for row in {str(row["generated"]): row for row in rows}.values():
        if row["skipped_real"] or row["skipped_generated"]:
            click.echo(
                f"{row['generated']}: broken images were skipped: {row['skipped_generated']} generated, "
                f"{row['skipped_real']} real",
                err=True,
            )
    if rows:
        encoders = dict.fromkeys(str(row["encoder"]) for row in rows)
        click.echo(f"features: {', '.join(encoders)}", err=True)
