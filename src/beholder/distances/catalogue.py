"""All distances by name. A new distance is one file in this folder and one line below."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from beholder.distances.authenticity import authenticity
from beholder.distances.cmmd import cmmd
from beholder.distances.ct import ct
from beholder.distances.density_coverage import coverage, density
from beholder.distances.features import Features
from beholder.distances.frechet import frechet
from beholder.distances.frechet_infinity import frechet_infinity
from beholder.distances.inception_score import inception_score
from beholder.distances.kernel import kernel_distance, kernel_subsets
from beholder.distances.neighbours import Neighbours, neighbours
from beholder.distances.precision_recall import precision, recall
from beholder.distances.realism import realism
from beholder.distances.result import Distance
from beholder.distances.sliced_wasserstein import sliced_wasserstein
from beholder.distances.vendi import vendi
from beholder.errors import StatisticsError

Direction = Literal["lower", "higher", "zero"]
"""Which values are better: low, high, or near 0."""

Need = Literal["real", "generated", "train", "logits"]
"""Features of (held-out) real, generated or training images; a classifier's logits."""


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets that are compared. Neighbours are searched once, and shared by all distances that need them."""

    real: Features
    generated: Features
    train: Features | None = None
    logits: Features | None = None  # of the generated images
    seed: int = 0
    level: float = 0.95

    @cached_property
    def neighbours(self) -> Neighbours:
        """The nearest neighbours of the real and the generated images."""
        return neighbours(self.real, self.generated)

    @property
    def rng(self) -> np.random.Generator:
        """A new random generator for one distance: its value does not depend on what else is computed."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, slots=True)
class DistanceRecipe:
    """How a distance is computed, which values are better, and its bias for few images."""

    compute: Callable[[Sets], Distance]
    better: Direction
    bias: str
    needs: tuple[Need, ...] = ("real", "generated")


def _ct(sets: Sets) -> Distance:
    assert sets.train is not None  # checked by `compute_distances`
    return ct(sets.real, sets.generated, sets.train, rng=sets.rng, level=sets.level)


def _inception_score(sets: Sets) -> Distance:
    assert sets.logits is not None
    return inception_score(sets.logits, rng=sets.rng, level=sets.level)


DISTANCES: dict[str, DistanceRecipe] = {
    "frechet": DistanceRecipe(
        lambda s: frechet(s.real, s.generated, level=s.level),
        "lower",
        "too large for few images, by about c/n with c of the generator: compare only at equal numbers",
    ),
    "frechet_infinity": DistanceRecipe(
        lambda s: frechet_infinity(s.real, s.generated, rng=s.rng, level=s.level),
        "lower",
        "almost none from the generated images; that of the real images stays; noisier than FD",
    ),
    "kernel": DistanceRecipe(
        lambda s: kernel_distance(s.real, s.generated, level=s.level),
        "lower",
        "none: unbiased at any number of images, and so below 0 at times",
    ),
    "kernel_subsets": DistanceRecipe(
        lambda s: kernel_subsets(s.real, s.generated, rng=s.rng, level=s.level),
        "lower",
        "none; the random choice of subsets adds noise",
    ),
    "cmmd": DistanceRecipe(
        lambda s: cmmd(s.real, s.generated, level=s.level),
        "lower",
        "too large for few images, by about 10 (1 − |mean|²)(1/n + 1/m)",
    ),
    "precision": DistanceRecipe(
        lambda s: precision(s.neighbours, level=s.level),
        "higher",
        "balls shrink as real images grow in number, and overlap less; compare only at equal numbers",
    ),
    "recall": DistanceRecipe(
        lambda s: recall(s.neighbours, level=s.level),
        "higher",
        "balls shrink as generated images grow in number; compare only at equal numbers",
    ),
    "density": DistanceRecipe(
        lambda s: density(s.neighbours, level=s.level),
        "higher",
        "little: a sum over balls whose mass is about k/n each",
    ),
    "coverage": DistanceRecipe(
        lambda s: coverage(s.neighbours, level=s.level),
        "higher",
        "grows with generated per real images: 1 − 2⁻ᵏ at best for equal numbers, more for more",
    ),
    "authenticity": DistanceRecipe(
        lambda s: authenticity(s.neighbours, level=s.level),
        "higher",
        "little; below 1 for a perfect generator, depending on the dims: compare with held-out real images",
    ),
    "realism": DistanceRecipe(
        lambda s: realism(s.real, s.generated, level=s.level),
        "higher",
        "balls shrink as real images grow in number, and with them their distance to the nearest",
    ),
    "ct": DistanceRecipe(
        _ct,
        "zero",
        "a test statistic: for the same fault it grows with the root of the number of images",
        ("real", "generated", "train"),
    ),
    "inception_score": DistanceRecipe(
        _inception_score,
        "higher",
        "too small for few images per split, as their mean is fitted to them",
        ("generated", "logits"),
    ),
    "vendi": DistanceRecipe(
        lambda s: vendi(s.generated, level=s.level),
        "higher",
        "too small for few images: it cannot exceed their number",
        ("generated",),
    ),
    "sliced_wasserstein": DistanceRecipe(
        lambda s: sliced_wasserstein(s.real, s.generated, rng=s.rng, level=s.level),
        "lower",
        "too large for few images: two samples of one distribution always differ",
    ),
}
"""The distances by name."""


def compute_distances(names: list[str], sets: Sets) -> dict[str, Distance]:
    """Compute the named distances; one error lists all unknown names and all missing sets."""
    faults = [f"'{name}' is not known; known: {', '.join(DISTANCES)}" for name in names if name not in DISTANCES]
    optional_sets = {"train": sets.train, "logits": sets.logits}
    faults += [
        f"'{name}' needs {need} features, which were not given"
        for name in names
        if name in DISTANCES
        for need in DISTANCES[name].needs
        if need in optional_sets and optional_sets[need] is None
    ]
    if faults:
        raise StatisticsError("; ".join(faults))
    return {name: DISTANCES[name].compute(sets) for name in names}
