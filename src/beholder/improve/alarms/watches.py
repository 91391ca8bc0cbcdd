"""Watches over a generator that is being changed, each a comparison with the same images before the change.

============ ============================================================== =====================================
watch        value                                                          raised where the interval is
============ ============================================================== =====================================
held-out     mean change of a scorer of another kind                        below 0
diversity    Vendi score of centred features, after ÷ before                below .90
realism      Fréchet distance to reference images, after ÷ before           above 1.25
colour       largest change of a colour statistic, in standard deviations   above .35
frequency    the same for power by frequency, and for regular patterns      above .70
distance     distance of images from before ÷ that of two seeds             above 1.15
============ ============================================================== =====================================

Intervals are at 99 %, over images; that of the largest of several changes is corrected for their number.
Thresholds were chosen on seeds of their own (docs/measured/tuning.md): best of 8 and tuning with an anchor should
raise nothing, tuning without one an alarm while images are still better than before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from beholder.distances.frechet import frechet_value
from beholder.distances.vendi import vendi_ratio
from beholder.improve.alarms.alarm import LEVEL, Alarm
from beholder.improve.alarms.statistics import COLOURS, STATISTICS, image_statistics

Images = NDArray[np.uint8]
"""(n, height, width, 3)"""

Score = Callable[[Images, Sequence[str]], NDArray[np.float64]]
"""From images and prompts to scores (n,); more is better."""

COMPONENTS = 24
"""Principal components of the features that the Fréchet distance is taken in: more than a look has images for are
noise."""
RESAMPLES = 200


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where each watch raises an alarm."""

    held_out: float = 0.0
    diversity: float = 0.90
    realism: float = 1.25
    colour: float = 0.35
    frequency: float = 0.70
    distance: float = 1.15


@dataclass(frozen=True, eq=False)
class Watches:
    """What is known before the change, and the comparison with it."""

    prompts: tuple[str, ...]
    before: Images
    """Images of the generator before the change, one per prompt."""
    others: Images
    """Images of the same prompts by other seeds, before the change."""
    features: Callable[[Images], NDArray[np.float32]]
    """From images to feature vectors (n, dims)."""
    reference: Images | None = None
    """Real images, or others that the generator's should resemble; without any, ``others`` stands for them."""
    held_out: Mapping[str, Score] = field(default_factory=dict)
    """Name -> a scorer that had no say in the change."""
    thresholds: Thresholds = field(default_factory=Thresholds)

    def __post_init__(self) -> None:
        vectors = self.features(self.before)
        reference = self.features(self.others if self.reference is None else self.reference)
        _, _, axes = np.linalg.svd(reference - reference.mean(0), full_matrices=False)
        scores = {name: score(self.before, self.prompts) for name, score in self.held_out.items()}
        for name, content in (
            ("_vectors", vectors),
            ("_reference", reference[: len(vectors)]),
            ("_axes", axes[: min(COMPONENTS, len(reference) // 2)]),
            ("_scores", scores),
            ("_statistics", image_statistics(self.before)),
            ("_apart", _distances(self.before, self.others).mean()),
        ):
            object.__setattr__(self, name, content)

    def look(self, after: Images) -> list[Alarm]:
        """Compare images of the same prompts and seeds after the change."""
        vectors = self.features(after)
        alarms = [self._held_out(name, after) for name in self.held_out]
        alarms += [self._diversity(vectors), self._realism(vectors)]
        statistics = image_statistics(after)
        columns = [place for place, name in enumerate(STATISTICS) if name in COLOURS]
        rest = [place for place in range(len(STATISTICS)) if place not in columns]
        alarms.append(self._shift("colour", statistics, columns, self.thresholds.colour))
        alarms.append(self._shift("frequency", statistics, rest, self.thresholds.frequency))
        return [*alarms, self._distance(after)]

    def _held_out(self, name: str, after: Images) -> Alarm:
        before: NDArray[np.float64] = self._scores[name]  # type: ignore[attr-defined]
        changes = self.held_out[name](after, self.prompts) - before
        value, low, high = _mean_interval(changes, LEVEL)
        threshold = self.thresholds.held_out
        sentence = f"{name}, which had no say, changed by {value:+.3f} [{low:+.3f}, {high:+.3f}]"
        return Alarm(f"held-out {name}", value, low, high, threshold, bool(high < threshold), sentence)

    def _diversity(self, vectors: NDArray[np.float32]) -> Alarm:
        middle = self._vectors.mean(axis=0)  # type: ignore[attr-defined]
        value, low, high = vendi_ratio(self._vectors - middle, vectors - middle, level=LEVEL)  # type: ignore[attr-defined]
        threshold = self.thresholds.diversity
        sentence = f"diversity (Vendi) is {value:.2f} [{low:.2f}, {high:.2f}] times that before"
        return Alarm("diversity", value, low, high, threshold, bool(high < threshold), sentence)

    def _realism(self, vectors: NDArray[np.float32]) -> Alarm:
        axes, reference = self._axes, self._reference  # type: ignore[attr-defined]
        projected = [rows @ axes.T for rows in (self._vectors, vectors, reference)]  # type: ignore[attr-defined]
        before, after, real = (np.asarray(rows, np.float64) for rows in projected)
        rng, count = np.random.default_rng(0), len(before)
        drawn = [rng.integers(count, size=count) for _ in range(RESAMPLES)]
        ratios = np.log([_frechet(after[rows], real) / _frechet(before[rows], real) for rows in drawn])
        value = _frechet(after, real) / _frechet(before, real)
        reach = float(stats.norm.ppf((1 + LEVEL) / 2) * ratios.std(ddof=1))
        low, high = value * float(np.exp(-reach)), value * float(np.exp(reach))
        threshold = self.thresholds.realism
        sentence = f"the Fréchet distance is {value:.2f} [{low:.2f}, {high:.2f}] times that before, at equal n"
        return Alarm("realism", value, low, high, threshold, bool(low > threshold), sentence)

    def _shift(
        self, watch: str, statistics: NDArray[np.float64], columns: Sequence[int], threshold: float
    ) -> Alarm:
        before: NDArray[np.float64] = self._statistics[:, columns]  # type: ignore[attr-defined]
        changes = (statistics[:, columns] - before) / before.std(axis=0, ddof=1).clip(1e-9)
        level = 1 - (1 - LEVEL) / len(columns)
        largest = int(np.argmax(np.abs(changes.mean(axis=0))))
        value, low, high = _mean_interval(changes[:, largest], level)
        sentence = f"{STATISTICS[columns[largest]]} changed by {value:+.2f} [{low:+.2f}, {high:+.2f}] SD of images"
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return Alarm(watch, value, low, high, threshold, bool(nearest > threshold), sentence)

    def _distance(self, after: Images) -> Alarm:
        ratios = _distances(self.before, after) / self._apart  # type: ignore[attr-defined]
        value, low, high = _mean_interval(ratios, LEVEL)
        threshold = self.thresholds.distance
        sentence = f"images are {value:.2f} [{low:.2f}, {high:.2f}] times as far from before as another seed's"
        return Alarm("distance", value, low, high, threshold, bool(low > threshold), sentence)


def _mean_interval(rows: NDArray[np.float64], level: float) -> tuple[float, float, float]:
    mean, spread = float(rows.mean()), float(rows.std(ddof=1)) / np.sqrt(len(rows))
    reach = float(stats.t.ppf((1 + level) / 2, len(rows) - 1)) * spread
    return mean, mean - reach, mean + reach


def _distances(first: Images, second: Images) -> NDArray[np.float64]:
    """The root mean squared difference of each pair of images."""
    squares = np.square(first.astype(np.float64) - second.astype(np.float64))
    return np.asarray(np.sqrt(squares.mean(axis=(1, 2, 3))), np.float64)


def _frechet(generated: NDArray[np.float64], real: NDArray[np.float64]) -> float:
    return max(frechet_value(real, generated), 1e-9)
