"""The measure stage: scores, features and distances of a study's images, and how far they agree with people."""

import logging
import math
from collections.abc import Callable
from pathlib import Path

import polars as pl

from beholder.errors import StatisticsError
from beholder.images.sources import named_files
from beholder.measure import metric_values, opinions
from beholder.measure.correlations import generator_rows, image_rows
from beholder.measure.distances.catalogue import DISTANCES, Sets, measured
from beholder.measure.joined import Rows, Settings
from beholder.measure.pair_rows import pair_rows
from beholder.measure.score import Scores, score
from beholder.measure.scorers.catalogue import SCORERS, load_scorer
from beholder.measure.settings import Measuring
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import Features
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, file_hash
from beholder.tables.stages import MEASURE_AGREEMENT, MEASURE_IMAGES, STAGES
from beholder.tables.store import FEATURES_ROOM, Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["measure"]

logger = logging.getLogger(__name__)

LEAST_IMAGES = 2
REAL, NONE = "real", "none"

Progress = Callable[[int, int], None]
Row = dict[str, object]


def run(
    folder: Path,
    *,
    force: bool = False,
    measuring: Measuring | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Measure the images, unless that was done; then hold every metric against every question.

    The two parts are redone by themselves: new answers do not cause images to be encoded again.
    """
    study, store, wanted = load_study(folder), Store(folder), measuring or Measuring()
    wanted.check()
    figures = _figures(store, wanted)
    images = perform(
        store,
        _image_work(study, wanted),
        lambda tables: _images(tables, wanted, study, progress),
        force=force,
    )
    people = perform(
        store, _people_work(study, wanted), lambda tables: _people(tables, figures, study), force=force
    )
    return Outcome(
        stage="measure",
        skipped=images.skipped and people.skipped,
        rows={**images.rows, **people.rows},
        seconds=images.seconds + people.seconds,
    )


def _image_work(study: Study, wanted: Measuring) -> Work:
    settings: dict[str, Plain] = {
        "encoder": wanted.encoder,
        "encoder_weights": wanted.encoder_weights,
        "distances": list(wanted.distances),
        "scorers": list(wanted.scorers),
        "weights": dict(wanted.weights),
        "skip_broken": wanted.skip_broken,
        "background": study.images.background,
        "level": study.analysis.level,
    }
    return Work(MEASURE_IMAGES, settings, study.seed)


def _people_work(study: Study, wanted: Measuring) -> Work:
    settings: dict[str, Plain] = study.analysis.model_dump(mode="json")
    settings["published"] = file_hash(wanted.published) if wanted.published else None
    return Work(MEASURE_AGREEMENT, settings, study.seed)


def _images(store: Store, wanted: Measuring, study: Study, progress: Progress | None) -> dict[str, pl.DataFrame]:
    """Scores, features and distances; none of them where no image file is at hand."""
    images = store.read("images").filter(~pl.col("gold"))
    paths = [store.folder / path for path in images["path"]]
    if not any(path.is_file() for path in paths):
        logger.warning("no image file is at hand: nothing is scored or encoded")
        return {name: TABLES[name].empty() for name in MEASURE_IMAGES.outputs}
    sources = named_files(images["image"].to_list(), paths)
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    measures = score(
        sources,
        [texts.get(prompt) for prompt in images["prompt"]],
        [load_scorer(name, wanted.weights) for name in wanted.scorers],
        prompted=wanted.prompted,
        encoders=[load_encoder(wanted.encoder, wanted.encoder_weights)] if wanted.distances else [],
        features=store.folder / FEATURES_ROOM,
        background=study.images.background,
        skip_broken=wanted.skip_broken,
        progress=progress,
    )
    if measures.broken:
        logger.warning("%d broken images were left out", len(measures.broken))
    scores = _score_rows(measures, wanted)
    if not wanted.distances:
        return {"scores": scores, "features": TABLES["features"].empty(), "distances": TABLES["distances"].empty()}
    features = measures.features[0]
    return {
        "scores": scores,
        "features": _feature_rows(features, store.folder),
        "distances": TABLES["distances"].frame(_distance_rows(features, images, wanted, study)),
    }


def _score_rows(measures: Scores, wanted: Measuring) -> pl.DataFrame:
    """One row per image and scorer; scorers that look at prompts leave images without one out."""
    rows: list[Row] = []
    for name in [*(one for one in wanted.scorers if one not in wanted.prompted), *wanted.prompted]:
        rows += [
            {"scorer": name, "aspect": SCORERS[name].aspect, "image": image, "score": float(value)}
            for image, value, prompted in zip(
                measures.names, measures.values[name], measures.prompted, strict=True
            )
            if prompted or name not in wanted.prompted
        ]
    return TABLES["scores"].frame(rows)


def _feature_rows(found: Features, folder: Path) -> pl.DataFrame:
    file = found.file.relative_to(folder).as_posix() if found.file else ""
    rows: list[Row] = [
        {"encoder": found.encoder, "preprocessing": found.preprocessing, "image": image}
        | {"sha256": sha256, "file": file, "row": int(row)}
        for image, sha256, row in zip(found.names, found.sha256, found.rows, strict=True)
    ]
    return TABLES["features"].frame(rows)


def _distance_rows(found: Features, images: pl.DataFrame, wanted: Measuring, study: Study) -> list[Row]:
    """Each generator against the real images of the study, as a whole."""
    kind = dict(images.select("image", pl.when("real").then(pl.lit(REAL)).otherwise("generator")).iter_rows())
    places: dict[str, list[int]] = {}
    for place, image in enumerate(found.names):
        places.setdefault(kind[image], []).append(place)
    real = places.pop(REAL, [])
    rows: list[Row] = []
    for generator, mine in sorted(places.items()):
        sets = Sets(found.vectors[real], found.vectors[mine], seed=study.seed, level=study.analysis.level)
        for name in wanted.distances:
            needs_real = REAL in DISTANCES[name].needs
            if len(mine) < LEAST_IMAGES or (needs_real and len(real) < LEAST_IMAGES):
                logger.warning("%s of %s: too few images (%d real)", name, generator, len(real))
                continue
            try:
                one = measured([name], sets)[name]
            except StatisticsError as error:
                logger.warning("%s of %s is left out: %s", name, generator, error)
                continue
            row: Row = {"distance": name, "encoder": found.encoder, "generator": generator}
            row |= {"reference": REAL, "reference_images": len(real)} if needs_real else {"reference": NONE}
            row |= {"slice": opinions.WHOLE, "value": one.value, "low": _known(one.low), "high": _known(one.high)}
            rows.append(row | {"images": len(mine)})
    return rows


def _figures(store: Store, wanted: Measuring) -> pl.DataFrame:
    """Figures that were computed elsewhere, if a file of them was given."""
    if wanted.published is None:
        return pl.DataFrame(schema=metric_values.SCHEMA)
    images = store.read("images")
    return metric_values.of_file(wanted.published, set(images.filter(~pl.col("real"))["generator"]))


def _people(store: Store, figures: pl.DataFrame, study: Study) -> dict[str, pl.DataFrame]:
    """Correlations, and tests of every two metrics."""
    images, labels = store.read("images"), store.read_or_empty("labels")
    scores, predictions = store.read("scores"), store.read_or_empty("predictions")
    by_image, by_generator = metric_values.of_scores(scores, predictions, images)
    metrics = [by_generator, metric_values.of_distances(store.read("distances")), figures]
    settings = Settings(study.analysis.level, study.analysis.draws, study.seed)
    parts: list[Rows] = [
        generator_rows(opinions.of_generators(store.read_or_empty("ratings")), pl.concat(metrics), settings),
        image_rows(opinions.of_images(labels, images, study.analysis.level), by_image, settings),
        pair_rows(opinions.of_pairs(labels, images), by_image, settings),
    ]
    return {
        "correlations": TABLES["correlations"].frame([row for part in parts for row in part.correlations]),
        "metric_separations": TABLES["metric_separations"].frame(
            [row for part in parts for row in part.separations]
        ),
    }


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
