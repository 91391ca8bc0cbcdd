"""``beholder measure``: the stage, and its verdicts on the metrics in words."""

import logging
from dataclasses import asdict
from pathlib import Path

import click

from beholder.api.measuring import measure_settings, measure_study
from beholder.cli.options import engine_options
from beholder.cli.output import show_json
from beholder.cli.progress import progress_report
from beholder.cli.weights import named_weights
from beholder.distances.aliases import ALIASES
from beholder.distances.catalogue import DISTANCES
from beholder.engines.engine import open_engine
from beholder.measure.settings import OFFLINE
from beholder.models.encoders.catalogue import ENCODERS
from beholder.scorers.catalogue import SCORERS


@click.command(
    epilog=f"Encoders: {', '.join(ENCODERS)}. Distances: {', '.join((*DISTANCES, *ALIASES))}. "
    f"Scorers: {', '.join(SCORERS)}."
)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--encoder", help=f"Whose features distances are taken over. By default {OFFLINE}, which works offline."
)
@click.option("--encoder-weights", help="Its weights: a folder, a file or a hub name.")
@click.option("--metric", "distances", multiple=True, help="A distance; may be repeated. All by default.")
@click.option(
    "--scorer",
    "scorers",
    multiple=True,
    help="A scorer; may be repeated. By default those without weights, and those whose weights are installed.",
)
@click.option("--weights", multiple=True, metavar="NAME=PLACE", help="Weights of scorers: clip=…, aesthetic=….")
@click.option(
    "--published",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV of figures computed elsewhere: a column `generator` (and maybe `question`), each other a metric, "
    "whose name may end in ↓ or ↑.",
)
@engine_options
@click.option("--skip-broken", is_flag=True, help="Leave broken images out, and say how many.")
@click.option("--force", is_flag=True, help="Do the work even if nothing it depends on has changed.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done and found as JSON.")
def measure(
    folder: Path,
    encoder: str | None,
    encoder_weights: str | None,
    distances: tuple[str, ...],
    scorers: tuple[str, ...],
    weights: tuple[str, ...],
    published: Path | None,
    engine: str,
    address: str | None,
    workers: int | None,
    gpus: float | None,
    *,
    skip_broken: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Compute metrics of the images, and see which agree with raters.

    Reads the images, labels and ratings of FOLDER, scores the images and takes distances to the real ones, writes
    the tables `scores`, `features`, `distances`, `correlations` and `metric_separations`, and says which metric to
    trust for this study.
    """
    logging.basicConfig(level=logging.WARNING, format="note: %(message)s")
    settings, recipes = measure_settings(
        distances,
        scorers,
        encoder=encoder,
        encoder_weights=encoder_weights,
        weights=named_weights(weights),
        published=published,
        skip_broken=skip_broken,
    )
    for recipe in recipes:
        click.echo(recipe, err=True)
    with (
        open_engine(engine, address=address, workers=workers, gpus=gpus) as opened,
        progress_report("measure") as progress,
    ):
        by_engine = opened if engine != "local" else None
        measured = measure_study(folder, settings, force=force, progress=progress, engine=by_engine)
    if as_json:
        spoken = {
            "caveats": list(measured.caveats),
            "verdicts": [asdict(verdict) for verdict in measured.verdicts],
            "notes": list(measured.notes),
        }
        show_json(asdict(measured.outcome) | spoken)
        return
    click.echo(str(measured.outcome))
    for paragraph in (*measured.caveats, *measured.verdicts, *measured.notes):
        click.echo(f"\n{paragraph}")
