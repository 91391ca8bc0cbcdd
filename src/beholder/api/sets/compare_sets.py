"""Distances between sets of images: names resolved, images encoded once for all of them, distances computed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from beholder.api.inputs import Images, sources_of
from beholder.api.sets.encoded_sets import EncodedSet, Report, SetEncoder, load_by_name
from beholder.distances.aliases import NamedDistances, resolve_distances
from beholder.distances.catalogue import DISTANCES, Direction, Sets, compute_distances
from beholder.distances.cautions import cautions
from beholder.distances.result import Distance
from beholder.distances.shards.catalogue import IN_SHARDS, ROUNDED_BY_SHARD, ShardedSets
from beholder.engines.engine import Engine
from beholder.errors import ImageError, UserError
from beholder.images.background import DEFAULT_BACKGROUND, checked_background
from beholder.images.sources import ImageSource
from beholder.measure.settings import OFFLINE
from beholder.stats.each import in_threads

USUAL: tuple[str, ...] = ("frechet", "kernel", "precision", "recall", "density", "coverage")
"""What is computed where no metric is named."""


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
    images for a covariance. An ``engine`` encodes in shards, into the folder ``features``, and computes those
    distances from there that are in :data:`~beholder.distances.shards.catalogue.IN_SHARDS`.
    """
    if engine is not None and features is None:
        raise ValueError("an engine needs a folder for features")
    real_name, real_images = real
    background = checked_background(background)
    real_sources, training, *others = _sources_of_all(
        [real_images, () if train is None else train, *generated.values()], background
    )
    sources = dict(zip(generated, others, strict=True))
    encode = SetEncoder(background, features, engine, workers, progress, skip_broken=skip_broken)
    logits = [load_by_name(chosen.logits, None, background)] if chosen.logits else []
    counts = {name: len(sources[name]) for name in generated}
    rows: list[SetDistance] = []
    for encoder_name, names in chosen.by_encoder.items():
        encoder = load_by_name(encoder_name, weights, background)
        for sentence in cautions(names, encoder.encoder.dims, len(real_sources), counts):
            if caution:
                caution(sentence)
        reference = encode(real_name, real_sources, [encoder])[0]
        learned_from = encode("train", training, [encoder])[0] if training else None
        for name in generated:
            encoded = encode(name, sources[name], [encoder, *logits])
            compared = _Compared(reference, encoded[0], learned_from, encoded[1] if logits else None, seed, level)
            if progress:
                progress(f"distances of {name}", 0, 0)
            rows += [
                SetDistance(
                    real=real_name,
                    generated=name,
                    encoder=encoded[0].encoder,
                    preprocessing=encoded[0].preprocessing,
                    background=background,
                    distance=distance,
                    skipped_real=reference.skipped,
                    skipped_generated=encoded[0].skipped,
                )
                for distance in _distances(names, compared, engine)
            ]
    return rows


@dataclass(frozen=True, eq=False)
class _Compared:
    """The sets of one comparison."""

    real: EncodedSet
    generated: EncodedSet
    train: EncodedSet | None
    logits: EncodedSet | None
    seed: int
    level: float


def _distances(names: Sequence[str], compared: _Compared, engine: Engine | None) -> list[Distance]:
    """Return the distances in order; vectors are loaded for those only that an engine does not compute.

    Some are computed from shards without an engine, too: their last digits depend on how sums are divided, and the
    same images shall have the same figure.
    """
    in_shards = [name for name in names if name in (ROUNDED_BY_SHARD if engine is None else IN_SHARDS)]
    others = [name for name in names if name not in in_shards]
    computed: dict[str, Distance] = {}
    if in_shards:
        sharded = ShardedSets(
            compared.real.shards,
            compared.generated.shards,
            each=in_threads if engine is None else engine.map,
            seed=compared.seed,
            level=compared.level,
        )
        computed |= {name: IN_SHARDS[name](sharded) for name in in_shards}
    if others:
        sets = Sets(
            compared.real.vectors,
            compared.generated.vectors,
            train=None if compared.train is None else compared.train.vectors,
            logits=None if compared.logits is None else compared.logits.vectors,
            seed=compared.seed,
            level=compared.level,
        )
        computed |= compute_distances(others, sets)
    return [computed[name] for name in names]


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
