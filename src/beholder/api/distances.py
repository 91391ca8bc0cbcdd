"""Distances in Python: ``beholder.distance(real, generated, metric=…, encoder=…)``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.api.inputs import Images
from beholder.api.sets.compare_sets import USUAL, SetDistance, choose_distances, compare_sets
from beholder.api.sets.encoded_sets import Report
from beholder.distances.aliases import resolve_distances
from beholder.distances.catalogue import Sets, compute_distances
from beholder.distances.cautions import cautions
from beholder.errors import StatisticsError, UserError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.stats.frames.display.cell_text import MINUS
from beholder.stats.frames.display.text_table import TextTable
from beholder.stats.frames.result_table import ResultTable, frame_of

if TYPE_CHECKING:
    import altair as alt

OWN_FEATURES = "own features"
"""Stands for the encoder of features that the caller computed."""

ImageSet: TypeAlias = Images | NDArray[np.floating]
"""Images, or their features (images, dims) by an encoder of the caller's own."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Distances(ResultTable):
    """Distances of sets of generated images to real ones: one row per set and metric.

    ``float(distances)`` is the figure where there is only one row.
    """

    distances: tuple[SetDistance, ...] = ()
    """The same with all settings: encoder, preprocessing, how each interval was computed, what was skipped."""

    def __float__(self) -> float:
        if len(self.distances) != 1:
            raise StatisticsError(f"{len(self.distances)} distances; a single one has a value of its own")
        return self.distances[0].distance.value

    def plot(self, *, width: int = 420) -> "alt.VConcatChart | alt.LayerChart":
        """Return a forest plot of every metric, each on a scale of its own.

        Args:
            width: Pixels of a plot without its labels.

        Returns:
            An Altair chart; ``chart.save("figure.pdf")`` writes it (also .svg, .png, .html).
        """
        # Altair takes a second to load, and only plots need it.
        import altair as alt  # noqa: PLC0415

        from beholder.stats.frames.display.forest_plot import forest_plot  # noqa: PLC0415

        parts = [
            forest_plot(own, label="generated", estimate="value", title=_axis_title(own), width=width)
            for own in self.rows.partition_by("metric", maintain_order=True)
        ]
        if len(parts) == 1:
            return parts[0]
        config = parts[0].config
        for part in parts:
            part.config = alt.Undefined  # Vega-Lite takes the configuration of the outermost chart alone
        charts = alt.vconcat(*parts)
        charts.config = config
        return charts

    def _text(self, most: int | None) -> TextTable:
        """Figures of different metrics have nothing in common: each has four digits of its own."""
        listed = self.distances if most is None else self.distances[:most]
        hidden = len(self.distances) - len(listed)
        cells = tuple(
            (
                row.generated,
                row.distance.name,
                _four_digits(row.distance.value),
                f"[{_four_digits(row.distance.low)}, {_four_digits(row.distance.high)}]",
                row.better,
                f"{row.distance.generated:,}",
                f"{row.distance.real:,}",
            )
            for row in listed
        )
        heads = ("generated", "metric", "value", f"{100 * (self.level or 0):g} % CI", "better", "images", "real")
        footer = ([f"… and {hidden:,} more rows"] if hidden else []) + self._footer()
        return TextTable(self.title, heads, (False, False, True, True, False, True, True), cells, tuple(footer))


def distance(
    real: ImageSet,
    generated: ImageSet | Mapping[str, ImageSet],
    *,
    metric: str | Sequence[str] = USUAL,
    encoder: str | None = None,
    weights: str | Path | None = None,
    train: ImageSet | None = None,
    logits: str | None = None,
    features: str | Path | None = None,
    background: str = DEFAULT_BACKGROUND,
    seed: int = 0,
    level: float = 0.95,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Report | None = None,
) -> Distances:
    """Measure how far sets of generated images are from real ones, with confidence intervals.

    Compare only figures of one encoder and of equal numbers of images. With features of your own in place of
    images, no encoder is loaded.

    Args:
        real: The real images: a folder, a glob, a manifest, a tar file, an array, images in memory, or several of
            these; or their features, an array (images, dims) of floating-point numbers.
        generated: The generated images, or several sets of them by name.
        metric: A distance or several: ``frechet``, ``frechet_infinity``, ``kernel``, ``cmmd``, ``precision``,
            ``recall``, ``density``, ``coverage`` …; or a published name such as ``fid``, ``kid`` or ``prdc``.
        encoder: Whose features are compared. By default ``efficientnet-lite0``, which works offline.
        weights: Of the encoder: a folder, a file or a hub name.
        train: Images that the generator was trained on; ``ct`` needs them.
        logits: An encoder of class scores; ``inception_score`` needs one.
        features: Folder in which features are kept for next time.
        background: What transparent images are flattened on, as #rrggbb.
        seed: Of metrics that sample subsets.
        level: Of the confidence intervals, which are over the sampling of images.
        skip_broken: Leave broken images out, instead of an error that lists them.
        workers: Threads that decode and encode; all cores by default.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Returns:
        One row per set and metric: value, confidence interval, which values are better, numbers of images.
        Cautions, such as too few images for the encoder, are in its notes.

    Example:
        >>> import beholder as bh
        >>> bh.distance("pictures/real", "pictures/ember", metric="kernel", encoder="pixel")
        distances to pictures/real
        generated       metric      value              95 % CI  better  images  real
        ────────────────────────────────────────────────────────────────────────────
        pictures/ember  kernel  −0.009849  [−0.04401, 0.02431]  lower       20    20
        95 % CI: over the sampling of images · seed 0
        features: pixel@none
    """
    metrics = [metric] if isinstance(metric, str) else list(metric)
    sets = generated if isinstance(generated, Mapping) else {_name_of(generated, "generated"): generated}
    given_sets = [real, *sets.values(), *([] if train is None else [train])]
    of_features = [_is_features(images) for images in given_sets]
    notes: list[str] = []
    if any(of_features):
        if not all(of_features):
            raise UserError("features and images cannot be compared: pass images, or features, for all sets")
        rows = _compare_features(real, sets, train, metrics, encoder, logits, seed, level, notes)
    else:
        chosen = choose_distances(
            metrics, encoder=encoder, logits=logits, weights=weights, train=train is not None
        )
        rows = compare_sets(
            (_name_of(real, "real"), cast("Images", real)),
            cast("Mapping[str, Images]", sets),
            chosen,
            weights=weights,
            train=cast("Images | None", train),
            features=None if features is None else Path(features),
            background=background,
            seed=seed,
            level=level,
            skip_broken=skip_broken,
            workers=workers,
            progress=progress,
            caution=notes.append,
        )
        notes = [*chosen.recipes, *notes]
    return _as_table(rows, level, seed, notes)


def _four_digits(number: float) -> str:
    return f"{number:.4g}".replace("-", MINUS)


def _axis_title(rows: pl.DataFrame) -> str:
    metric, better = rows.row(0, named=True)["metric"], rows.row(0, named=True)["better"]
    return f"{metric} (near 0 is better)" if better == "zero" else f"{metric} ({better} is better)"


def _as_table(rows: Sequence[SetDistance], level: float, seed: int, notes: Sequence[str]) -> Distances:
    skipped = {(row.generated, row.skipped_generated, row.skipped_real) for row in rows}
    notes = [f"features: {', '.join(dict.fromkeys(row.encoder for row in rows))}", *notes]
    notes += [
        f"{name}: broken images were skipped: {of_generated} generated, {of_real} real"
        for name, of_generated, of_real in sorted(skipped)
        if of_generated or of_real
    ]
    columns: dict[str, list[object]] = {
        "generated": [row.generated for row in rows],
        "metric": [row.distance.name for row in rows],
        "value": [row.distance.value for row in rows],
        "low": [row.distance.low for row in rows],
        "high": [row.distance.high for row in rows],
        "better": [row.better for row in rows],
        "images": [row.distance.generated for row in rows],
        "real_images": [row.distance.real for row in rows],
        "encoder": [row.encoder for row in rows],
    }
    return Distances(
        title=f"distances to {rows[0].real}" if rows else "distances",
        rows=frame_of(columns),
        method="over the sampling of images",
        estimate="value",
        keys=2,
        level=level,
        seed=seed,
        notes=tuple(notes),
        distances=tuple(rows),
    )


def _compare_features(
    real: ImageSet,
    generated: Mapping[str, ImageSet],
    train: ImageSet | None,
    metrics: Sequence[str],
    encoder: str | None,
    logits: str | None,
    seed: int,
    level: float,
    notes: list[str],
) -> list[SetDistance]:
    """The distances of features that the caller computed."""
    named = resolve_distances(metrics, None, None, OWN_FEATURES)
    faults = list(named.faults)
    faults += [
        f"{option}=…: the images are features already"
        for option, name in (("encoder", encoder), ("logits", logits))
        if name
    ]
    faults += [
        f"{recipe}; over features of your own, ask for the distance itself"
        for recipe in named.recipes
        if "over the encoder that is chosen" not in recipe
    ]
    if faults:
        raise UserError("\n".join(faults))
    names = list(named.by_encoder[OWN_FEATURES])
    reference = cast("NDArray[np.float64]", real)
    counts = {name: len(cast("NDArray[np.float64]", own)) for name, own in generated.items()}
    notes += cautions(names, reference.shape[1], len(reference), counts)
    training = cast("NDArray[np.float64] | None", train)
    return [
        SetDistance("real", name, OWN_FEATURES, "none", "none", figure, 0, 0)
        for name, own in generated.items()
        for figure in compute_distances(
            names,
            Sets(reference, cast("NDArray[np.float64]", own), train=training, seed=seed, level=level),
        ).values()
    ]


def _is_features(images: object) -> bool:
    return isinstance(images, np.ndarray) and images.ndim == 2 and np.issubdtype(images.dtype, np.floating)


def _name_of(images: object, otherwise: str) -> str:
    return str(images) if isinstance(images, str | Path) else otherwise
