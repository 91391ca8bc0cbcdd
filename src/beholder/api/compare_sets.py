"""Distances between sets of images: names resolved, images encoded once for all of them, distances computed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from beholder.api.inputs import Images, sources_of
from beholder.distances.aliases import NamedDistances, resolve_distances
from beholder.distances.catalogue import DISTANCES, Direction, Sets, compute_distances
from beholder.distances.cautions import cautions
from beholder.distances.result import Distance
from beholder.engines.engine import Engine
from beholder.errors import ImageError, UserError
from beholder.images.background import DEFAULT_BACKGROUND, checked_background
from beholder.images.sources import ImageSource
from beholder.measure.settings import OFFLINE
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode_by
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.encoders.named import NamedEncoder
from beholder.scorers.shards.in_shards import Judges
from beholder.scorers.shards.stored import Measures, store_in_shards

USUAL: tuple[str, ...] = ("frechet", "kernel", "precision", "recall", "density", "coverage")
"""What is computed where no metric is named."""

Report: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class SetDistance:
    """One distance between a set of generated images and the real ones."""

    real: str
    generated: str
    encoder: str
    preprocessing: str
    background: str
    distance: Distance
    skipped_real: int
    skipped_generated: int

    @property
    def better(self) -> Direction:
        """Which values are better: low, high, or near 0."""
        return DISTANCES[self.distance.name].better

    @property
    def few_images(self) -> str:
        """Its bias for few images."""
        return DISTANCES[self.distance.name].bias


def choose_distances(
    metrics: Sequence[str],
    *,
    encoder: str | None = None,
    logits: str | None = None,
    weights: str | Path | None = None,
    train: bool = False,
    option: str = "{}=…",
) -> NamedDistances:
    """Return the distances that names stand for; one error lists unknown names and all sets that are missing.

    ``option`` is how the caller writes an argument, for the messages.
    """
    named = resolve_distances(metrics, encoder, logits, OFFLINE)
    faults = list(named.faults)
    faults += [
        f"metric '{name}' needs {option.format(need)}"
        for need, is_there in (("train", train), ("logits", named.logits is not None))
        for names in named.by_encoder.values()
        for name in names
        if need in DISTANCES[name].needs and not is_there
    ]
    if weights and len(named.by_encoder) > 1:
        faults.append(
            f"{option.format('weights')} are those of one encoder; the metrics need {', '.join(named.by_encoder)}"
        )
    if faults:
        raise UserError("\n".join(faults))
    return named


def compare_sets(
    real: tuple[str, Images],
    generated: Mapping[str, Images],
    chosen: NamedDistances,
    *,
    weights: str | Path | None = None,
    train: Images | None = None,
    features: Path | None = None,
    background: str = DEFAULT_BACKGROUND,
    seed: int = 0,
    level: float = 0.95,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Report | None = None,
    caution: Callable[[str], None] | None = None,
    engine: Engine | None = None,
) -> list[SetDistance]:
    """Return the distances of every set of generated images to the real ones, by every encoder that they need.

    ``caution`` is called before images are encoded with each reason why figures may mislead, such as too few
    images for a covariance. An ``engine`` encodes in shards, into the folder ``features``.
    """
    if engine is not None and features is None:
        raise ValueError("an engine needs a folder for features")
    real_name, real_images = real
    background = checked_background(background)
    real_sources, training, *others = _sources_of_all(
        [real_images, () if train is None else train, *generated.values()], background
    )
    sources = dict(zip(generated, others, strict=True))
    logits = load_encoder(chosen.logits) if chosen.logits else None
    counts = {name: len(sources[name]) for name in generated}
    rows: list[SetDistance] = []
    for encoder_name, names in chosen.by_encoder.items():
        encoder = load_encoder(encoder_name, weights)
        for sentence in cautions(names, encoder.dims, len(real_sources), counts):
            if caution:
                caution(sentence)
        encode = partial(
            _encoded,
            background=background,
            features=features,
            skip_broken=skip_broken,
            workers=workers,
            progress=progress,
        )
        if engine is not None and features is not None:
            named = NamedEncoder(encoder_name, None if weights is None else str(weights), background)
            for name, own in ((real_name, real_sources), ("train", training), *sources.items()):
                _store(engine, name, own, named, features, progress)
        reference = encode(real_name, real_sources, [encoder])[0]
        learned_from = encode("train", training, [encoder])[0].vectors if training else None
        for name in generated:
            encoded = encode(name, sources[name], [encoder, *([logits] if logits else [])])
            sets = Sets(
                reference.vectors,
                encoded[0].vectors,
                train=learned_from,
                logits=encoded[1].vectors if logits else None,
                seed=seed,
                level=level,
            )
            if progress:
                progress(f"distances of {name}", 0, 0)
            rows += [
                SetDistance(
                    real=real_name,
                    generated=name,
                    encoder=encoded[0].identity,
                    preprocessing=encoded[0].preprocessing,
                    background=background,
                    distance=distance,
                    skipped_real=reference.skipped,
                    skipped_generated=encoded[0].skipped,
                )
                for distance in compute_distances(list(names), sets).values()
            ]
    return rows


def _store(
    engine: Engine,
    name: str,
    sources: Sequence[ImageSource],
    encoder: NamedEncoder,
    features: Path,
    progress: Report | None,
) -> None:
    """Have an engine encode what is not stored yet."""
    measures = Measures(Judges(scorers=(), background=encoder.background), encoder=encoder)
    report = partial(progress, name) if progress else None
    store_in_shards(engine, sources, [None] * len(sources), measures, features=features, progress=report)


@dataclass(frozen=True, slots=True)
class _Encoded:
    """The vectors of a set, and how they came about."""

    vectors: Vectors
    identity: str
    preprocessing: str
    skipped: int


def _encoded(
    name: str,
    sources: Sequence[ImageSource],
    encoders: Sequence[Encoder],
    *,
    background: str,
    features: Path | None,
    skip_broken: bool,
    workers: int | None,
    progress: Report | None,
) -> list[_Encoded]:
    by_encoder = encode_by(
        sources,
        encoders,
        background=background,
        folder=features,
        skip_broken=skip_broken,
        workers=workers,
        progress=partial(progress, name) if progress else None,
    ).features
    return [_Encoded(own.vectors, own.encoder, own.preprocessing, len(own.broken)) for own in by_encoder]


def _sources_of_all(sets: Sequence[Images], background: str) -> list[Sequence[ImageSource]]:
    """The images of all sets; one error lists every place that is wrong. An empty tuple has no images."""
    sources: list[Sequence[ImageSource]] = []
    faults: list[str] = []
    for images in sets:
        try:
            sources.append([] if isinstance(images, tuple) and not images else sources_of(images, background))
        except ImageError as error:
            faults += error.faults
    if faults:
        raise ImageError("images", faults)
    return sources
