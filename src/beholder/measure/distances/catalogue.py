"""All distances by name. A new one is a file beside this and a line below."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from beholder.errors import StatisticsError
from beholder.measure.distances.authenticity import authenticity
from beholder.measure.distances.cmmd import cmmd
from beholder.measure.distances.ct import ct
from beholder.measure.distances.density_coverage import coverage, density
from beholder.measure.distances.features import Features
from beholder.measure.distances.frechet import frechet
from beholder.measure.distances.frechet_infinity import frechet_infinity
from beholder.measure.distances.inception_score import inception_score
from beholder.measure.distances.kernel import kernel_distance, kernel_subsets
from beholder.measure.distances.neighbours import Neighbours, neighbours
from beholder.measure.distances.precision_recall import precision, recall
from beholder.measure.distances.realism import realism
from beholder.measure.distances.result import Distance
from beholder.measure.distances.sliced_wasserstein import sliced_wasserstein
from beholder.measure.distances.vendi import vendi

Direction = Literal["lower", "higher", "zero"]
"""Which values are better: low, high, or near 0."""

Need = Literal["real", "generated", "train", "logits"]
"""Features of held-out or any real images, of generated ones, of those trained on; a classifier's scores."""


@dataclass(frozen=True, eq=False)
class Sets:
    """What is compared. The search for neighbours is made once, and shared by all distances that need it."""

    real: Features
    generated: Features
    train: Features | None = None
    logits: Features | None = None  # of the generated images
    seed: int = 0
    level: float = 0.95

    @cached_property
    def neighbours(self) -> Neighbours:
        """Who is in whose ball."""
        return neighbours(self.real, self.generated)

    @property
    def rng(self) -> np.random.Generator:
        """A generator for one distance: the same whatever else is computed."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, slots=True)
class Measure:
    """How a distance is computed, which values are better, and what few images do to it."""

    compute: Callable[[Sets], Distance]
    better: Direction
    bias: str
    needs: tuple[Need, ...] = ("real", "generated")


def _ct(sets: Sets) -> Distance:
    assert sets.train is not None  # as `measured` has seen
    return ct(sets.real, sets.generated, sets.train, rng=sets.rng, level=sets.level)


def _inception_score(sets: Sets) -> Distance:
    assert sets.logits is not None
    return inception_score(sets.logits, rng=sets.rng, level=sets.level)


DISTANCES: dict[str, Measure] = {
    "frechet": Measure(
        lambda s: frechet(s.real, s.generated, level=s.level),
        "lower",
        "too large for few images, by about c/n with c of the generator: compare only at equal numbers",
    ),
    "frechet_infinity": Measure(
        lambda s: frechet_infinity(s.real, s.generated, rng=s.rng, level=s.level),
        "lower",
        "almost none from the generated images; that of the real images stays; noisier than FD",
    ),
    "kernel": Measure(
        lambda s: kernel_distance(s.real, s.generated, level=s.level),
        "lower",
        "none: unbiased at any number of images, and so below 0 at times",
    ),
    "kernel_subsets": Measure(
        lambda s: kernel_subsets(s.real, s.generated, rng=s.rng, level=s.level),
        "lower",
        "none; the draw of subsets adds noise",
    ),
    "cmmd": Measure(
        lambda s: cmmd(s.real, s.generated, level=s.level),
        "lower",
        "too large for few images, by about 10 (1 − |mean|²)(1/n + 1/m)",
    ),
    "precision": Measure(
        lambda s: precision(s.neighbours, level=s.level),
        "higher",
        "balls shrink as real images grow in number, and overlap less; compare only at equal numbers",
    ),
    "recall": Measure(
        lambda s: recall(s.neighbours, level=s.level),
        "higher",
        "balls shrink as generated images grow in number; compare only at equal numbers",
    ),
    "density": Measure(
        lambda s: density(s.neighbours, level=s.level),
        "higher",
        "little: a sum over balls whose mass is about k/n each",
    ),
    "coverage": Measure(
        lambda s: coverage(s.neighbours, level=s.level),
        "higher",
        "grows with generated per real images: 1 − 2⁻ᵏ at best for equal numbers, more for more",
    ),
    "authenticity": Measure(
        lambda s: authenticity(s.neighbours, level=s.level),
        "higher",
        "little; a perfect generator has less than 1, depending on the dims: compare with held-out real images",
    ),
    "realism": Measure(
        lambda s: realism(s.real, s.generated, level=s.level),
        "higher",
        "balls shrink as real images grow in number, and with them their distance to the nearest",
    ),
    "ct": Measure(
        _ct,
        "zero",
        "a test statistic: for the same fault it grows with the root of the number of images",
        ("real", "generated", "train"),
    ),
    "inception_score": Measure(
        _inception_score,
        "higher",
        "too small for few images a split, as their mean is fitted to them",
        ("generated", "logits"),
    ),
    "vendi": Measure(
        lambda s: vendi(s.generated, level=s.level),
        "higher",
        "too small for few images: it cannot exceed their number",
        ("generated",),
    ),
    "sliced_wasserstein": Measure(
        lambda s: sliced_wasserstein(s.real, s.generated, rng=s.rng, level=s.level),
        "lower",
        "too large for few images: two samples of one distribution are never alike",
    ),
}
"""The distances, with what is to be known of each."""


def measured(names: list[str], sets: Sets) -> dict[str, Distance]:
    """Compute the named distances; names that are not known and sets that are missing are all told at once."""
    faults = [f"'{name}' is not known; known: {', '.join(DISTANCES)}" for name in names if name not in DISTANCES]
    given = {"train": sets.train, "logits": sets.logits}
    faults += [
        f"'{name}' needs {need} features, which were not given"
        for name in names
        if name in DISTANCES
        for need in DISTANCES[name].needs
        if need in given and given[need] is None
    ]
    if faults:
        raise StatisticsError("; ".join(faults))
    return {name: DISTANCES[name].compute(sets) for name in names}
