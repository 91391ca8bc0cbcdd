"""``beholder measure``: the stage, and its verdicts on the metrics in words."""

import logging
from dataclasses import asdict
from pathlib import Path

import click

from beholder.cli.output import show_json
from beholder.cli.progress import progress_report
from beholder.cli.weights import named_weights
from beholder.errors import UserError
from beholder.measure.distances.aliases import ALIASES, resolve_distances
from beholder.measure.distances.catalogue import DISTANCES
from beholder.measure.scorers.aliases import resolve_scorers
from beholder.measure.scorers.catalogue import DEFAULT, SCORERS
from beholder.measure.settings import OFFLINE, SIMPLE, MeasureSettings
from beholder.measure.stage import run
from beholder.models.encoders.catalogue import ENCODERS
from beholder.report.text.metric_verdict import verdicts
from beholder.tables.store import Store

NO_LEARNED_SCORER = (
    "No learned scorer was among these: the published ones need weights that no package brings. Train one on this "
    "study, on bundled features and without a network: beholder learn {folder} --recipe metric-transformer (for "
    "ratings); or give weights: --scorer pickscore --weights pickscore=FOLDER."
)
"""Why the default scorers are pixel statistics, and what to do about it."""


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
    "--scorer", "scorers", multiple=True, help="A scorer; may be repeated. Those without weights by default."
)
@click.option("--weights", multiple=True, metavar="NAME=PLACE", help="Weights of scorers: clip=…, aesthetic=….")
@click.option(
    "--published",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV of figures computed elsewhere: a column `generator` (and maybe `question`), each other a metric, "
    "whose name may end in ↓ or ↑.",
)
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
    named = resolve_distances(distances or SIMPLE, encoder, None, OFFLINE)
    faults = list(named.faults)
    if len(named.by_encoder) > 1:
        faults.append(f"distances of one study need one encoder; these need {', '.join(named.by_encoder)}")
    if faults:
        raise UserError("\n".join(faults))
    ((chosen_encoder, chosen_distances),) = named.by_encoder.items()
    chosen_scorers, scorer_recipes = resolve_scorers(scorers or DEFAULT)
    for recipe in (*named.recipes, *scorer_recipes):
        click.echo(recipe, err=True)
    settings = MeasureSettings(
        encoder=chosen_encoder,
        encoder_weights=encoder_weights,
        distances=chosen_distances,
        scorers=chosen_scorers,
        weights=named_weights(weights),
        published=published,
        skip_broken=skip_broken,
    )
    with progress_report("measure") as progress:
        outcome = run(folder, force=force, measuring=settings, progress=progress)
    store = Store(folder)
    metric_verdicts = verdicts(store.read("correlations"), store.read("metric_separations"))
    if as_json:
        show_json(asdict(outcome) | {"verdicts": [asdict(verdict) for verdict in metric_verdicts]})
        return
    click.echo(str(outcome))
    for verdict in metric_verdicts:
        click.echo(f"\n{verdict}")
    if not metric_verdicts:
        click.echo(f"No ratings to compare metrics with yet: beholder rank {folder}")
    if not scorers and store.read_or_empty("predictions").is_empty():
        click.echo(f"\n{NO_LEARNED_SCORER.format(folder=folder)}")
