"""The measure stage: scores, features and distances of a study's images, and their agreement with raters."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from beholder.distances.catalogue import DISTANCES, Sets, compute_distances
from beholder.distances.cautions import cautions
from beholder.distances.distance_cache import DistanceCache, distance_key
from beholder.engines.engine import Engine
from beholder.errors import StatisticsError
from beholder.images.sources import named_files
from beholder.measure import metric_values, opinions
from beholder.measure.correlations import generator_rows, image_rows
from beholder.measure.joined import AgreementRows, AgreementSettings, finite_or_none
from beholder.measure.pair_rows import pair_rows
from beholder.measure.powered.step import run_powered
from beholder.measure.settings import MeasureSettings
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import Features
from beholder.models.encoders.named import NamedEncoder
from beholder.scorers.catalogue import SCORERS, load_scorer
from beholder.scorers.score import Scores, score
from beholder.scorers.scorer import Scorer
from beholder.scorers.shards.in_shards import Judges
from beholder.scorers.shards.stored import Measures, store_in_shards
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, file_hash
from beholder.tables.stages import MEASURE_AGREEMENT, MEASURE_IMAGES, STAGES
from beholder.tables.store import FEATURES_ROOM, SCORES_ROOM, Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["measure"]

logger = logging.getLogger(__name__)

LEAST_IMAGES = 2
REAL, NONE = "real", "none"
DISTANCES_FILE = "distances.json"

Report = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

Row = dict[str, object]


def run(
    folder: Path,
    *,
    force: bool = False,
    measuring: MeasureSettings | None = None,
    progress: Report | None = None,
    engine: Engine | None = None,
) -> Outcome:
    """Score and encode the images, then compute the agreement of every metric with every question.

    Each part is skipped where its inputs have not changed: new answers do not cause images to be encoded again.
    An ``engine`` scores and encodes in shards; the tables are the same.
    """
    study, store, settings = load_study(folder), Store(folder), measuring or MeasureSettings()
    settings.check()
    for name in ("judgements", "labels", "ratings", "predictions"):
        store.read_or_empty(name)  # a table that cannot be read is found before images are scored, not after
    figures = _figures(store, settings)
    images = perform(
        store,
        _image_work(study, settings),
        lambda tables: _images(tables, settings, study, progress, engine),
        force=force,
    )
    agreement = perform(
        store,
        _agreement_work(study, settings),
        lambda tables: _agreement(tables, figures, study, progress),
        force=force,
    )
    parts = (images, agreement, run_powered(folder, force=force))
    return Outcome(
        stage="measure",
        skipped=all(part.skipped for part in parts),
        rows={name: height for part in parts for name, height in part.rows.items()},
        seconds=sum(part.seconds for part in parts),
    )


def _image_work(study: Study, settings: MeasureSettings) -> Work:
    recorded: dict[str, Plain] = {
        "encoder": settings.encoder,
        "encoder_weights": settings.encoder_weights,
        "distances": list(settings.distances),
        "scorers": list(settings.scorers),
        "weights": dict(settings.weights),
        "skip_broken": settings.skip_broken,
        "background": study.images.background,
        "level": study.analysis.level,
    }
    return Work(MEASURE_IMAGES, recorded, study.seed)


def _agreement_work(study: Study, settings: MeasureSettings) -> Work:
    recorded: dict[str, Plain] = study.analysis.model_dump(mode="json")
    recorded["published"] = file_hash(settings.published) if settings.published else None
    return Work(MEASURE_AGREEMENT, recorded, study.seed)


def _images(
    store: Store, settings: MeasureSettings, study: Study, progress: Report | None, engine: Engine | None
) -> dict[str, pl.DataFrame]:
    """The tables of scores, features and distances; all empty where no image file is available."""
    images = store.read("images").filter(~pl.col("gold"))
    paths = [store.folder / path for path in images["path"]]
    if not any(path.is_file() for path in paths):
        logger.warning("no image file is available: nothing is scored or encoded")
        return {name: TABLES[name].empty() for name in MEASURE_IMAGES.outputs}
    sources = named_files(images["image"].to_list(), paths)
    scorers = [load_scorer(name, settings.weights) for name in settings.scorers]
    distances = usable_distances(settings.distances, images.filter("real").height)
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    prompts = [texts.get(prompt) for prompt in images["prompt"]]
    if engine is not None:
        store_in_shards(
            engine,
            named_files(images["image"].to_list(), [path.resolve() for path in paths]),
            prompts,
            _named_measures(settings, study.images.background, encodes=bool(distances)),
            features=store.folder / FEATURES_ROOM,
            cache=store.folder / SCORES_ROOM,
            progress=partial(progress, "images") if progress else None,
        )
    measures = score(
        sources,
        prompts,
        scorers,
        prompted=settings.prompted,
        left_out=training_images(scorers, images["sha256"].to_list()),
        encoders=[load_encoder(settings.encoder, settings.encoder_weights)] if distances else [],
        features=store.folder / FEATURES_ROOM,
        cache=store.folder / SCORES_ROOM,
        background=study.images.background,
        skip_broken=settings.skip_broken,
        progress=partial(progress, "images") if progress else None,
    )
    if measures.broken:
        logger.warning("%d broken images were left out", len(measures.broken))
    scores = _score_rows(measures, settings)
    if not distances:
        return {"scores": scores, "features": TABLES["features"].empty(), "distances": TABLES["distances"].empty()}
    features = measures.features[0]
    return {
        "scores": scores,
        "features": _feature_rows(features, store.folder),
        "distances": TABLES["distances"].frame(
            _distance_rows(features, images, distances, study, store.folder / SCORES_ROOM, progress)
        ),
    }


def _named_measures(settings: MeasureSettings, background: str, *, encodes: bool) -> Measures:
    """What an engine computes of the images."""
    weights = tuple(sorted(settings.weights.items()))
    encoder = NamedEncoder(settings.encoder, settings.encoder_weights, background)
    return Measures(
        Judges(tuple(settings.scorers), weights, background=background),
        tuple(settings.prompted),
        encoder if encodes else None,
    )


def _score_rows(measures: Scores, settings: MeasureSettings) -> pl.DataFrame:
    """One row per image and scorer; scorers that need a prompt leave out images without one."""
    names = [*(name for name in settings.scorers if name not in settings.prompted), *settings.prompted]
    frames = [TABLES["scores"].empty()]
    for name in names:
        columns = pl.DataFrame({"image": measures.names, "score": measures.values[name].astype(np.float64)})
        if name in settings.prompted:
            columns = columns.filter(pl.Series(measures.prompted, dtype=pl.Boolean))
        columns = columns.filter(pl.col("score").is_finite())
        recipe = SCORERS[name]
        frames.append(
            columns.select(
                scorer=pl.lit(name),
                aspect=pl.lit(recipe.aspect),
                image="image",
                score="score",
                better=pl.lit(recipe.better, pl.String),
            ).select(frames[0].columns)
        )
    return pl.concat(frames)


def training_images(scorers: Sequence[Scorer], hashes: Sequence[str]) -> dict[str, list[int]]:
    """Return the indices of the images that a scorer was trained on: it would agree with raters too well there."""
    return {
        scorer.name: [index for index, sha256 in enumerate(hashes) if sha256 in scorer.training_images]
        for scorer in scorers
        if scorer.training_images is not None
    }


def _feature_rows(features: Features, folder: Path) -> pl.DataFrame:
    file = features.file.relative_to(folder).as_posix() if features.file else ""
    rows: list[Row] = [
        {"encoder": features.encoder, "preprocessing": features.preprocessing, "image": image}
        | {"sha256": sha256, "file": file, "row": int(row)}
        for image, sha256, row in zip(features.names, features.sha256, features.rows, strict=True)
    ]
    return TABLES["features"].frame(rows)


def usable_distances(distances: Sequence[str], real: int) -> list[str]:
    """Return the distances for which there are real images enough; one warning names the others."""
    lacking = [name for name in distances if REAL in DISTANCES[name].needs and real < LEAST_IMAGES]
    if lacking:
        logger.warning(
            "the study has %s, so these are left out: %s",
            "no real images" if real == 0 else "one real image",
            ", ".join(lacking),
        )
    return [name for name in distances if name not in lacking]


def _distance_rows(
    features: Features,
    images: pl.DataFrame,
    names: Sequence[str],
    study: Study,
    cache_folder: Path,
    progress: Report | None,
) -> list[Row]:
    """One row per generator and distance, between all its images and all real images of the study.

    Distances of the same images, computed before, are read from ``cache_folder``.
    """
    cache = DistanceCache.load(cache_folder / DISTANCES_FILE)
    settings = (features.preprocessing, study.images.background, study.seed, study.analysis.level)
    kind = dict(images.select("image", pl.when("real").then(pl.lit(REAL)).otherwise("generator")).iter_rows())
    by_generator: dict[str, list[int]] = {}
    for index, image in enumerate(features.names):
        by_generator.setdefault(kind[image], []).append(index)
    real = by_generator.pop(REAL, [])
    rows: list[Row] = []
    counts = {generator: len(indices) for generator, indices in by_generator.items()}
    for caution in cautions(names, features.vectors.shape[1], len(real), counts):
        logger.warning("%s", caution)
    for number, (generator, indices) in enumerate(sorted(by_generator.items())):
        if progress:
            progress("distances", number, len(by_generator))
        if len(indices) < LEAST_IMAGES:
            logger.warning("no distances of %s: it has %d image, and two are needed", generator, len(indices))
            continue
        sets = Sets(features.vectors[real], features.vectors[indices], seed=study.seed, level=study.analysis.level)
        for name in names:
            needs_real = REAL in DISTANCES[name].needs
            reference = [features.sha256[index] for index in real] if needs_real else []
            key = distance_key(
                name, features.encoder, settings, reference, [features.sha256[index] for index in indices]
            )
            if key not in cache.figures:
                try:
                    distance = compute_distances([name], sets)[name]
                except StatisticsError as error:
                    logger.warning("%s of %s is left out: %s", name, generator, error)
                    continue
                ends = finite_or_none(distance.low), finite_or_none(distance.high)
                cache.figures[key] = (distance.value, *ends)
            value, low, high = cache.figures[key]
            row: Row = {"distance": name, "encoder": features.encoder, "generator": generator}
            row["better"] = DISTANCES[name].better
            row |= {"reference": REAL, "reference_images": len(real)} if needs_real else {"reference": NONE}
            row |= {"slice": opinions.ALL_STYLES, "value": value, "low": low, "high": high}
            rows.append(row | {"images": len(indices)})
    cache.save()
    return rows


def _figures(store: Store, settings: MeasureSettings) -> pl.DataFrame:
    """Figures that were computed elsewhere, if the settings name a file of them."""
    if settings.published is None:
        return pl.DataFrame(schema=metric_values.SCHEMA)
    images = store.read("images")
    return metric_values.of_file(settings.published, set(images.filter(~pl.col("real"))["generator"]))


def _agreement(
    store: Store, figures: pl.DataFrame, study: Study, progress: Report | None = None
) -> dict[str, pl.DataFrame]:
    """The tables of correlations and of tests of every two metrics."""
    images, labels = store.read("images"), store.read_or_empty("labels")
    scores, predictions = store.read("scores"), store.read_or_empty("predictions")
    by_image, by_generator = metric_values.of_scores(scores, predictions, images)
    metrics = [by_generator, metric_values.of_distances(store.read("distances")), figures]
    step = partial(progress, "comparisons with raters") if progress else None
    agreement_settings = AgreementSettings(study.analysis.level, study.analysis.draws, study.seed, step)
    parts: list[AgreementRows] = [
        generator_rows(
            opinions.of_generators(store.read_or_empty("ratings")), pl.concat(metrics), agreement_settings
        ),
        image_rows(opinions.of_images(labels, images, study.analysis.level), by_image, agreement_settings),
        pair_rows(opinions.of_pairs(labels, images), by_image, agreement_settings),
    ]
    return {
        "correlations": TABLES["correlations"].frame([row for part in parts for row in part.correlations]),
        "metric_separations": TABLES["metric_separations"].frame(
            [row for part in parts for row in part.separations]
        ),
    }
