"""The distances that are computed from shards, by name: with an engine, no process holds the features of a set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from beholder.distances.authenticity import authenticity
from beholder.distances.density_coverage import coverage, density
from beholder.distances.neighbours import Neighbours
from beholder.distances.precision_recall import precision, recall
from beholder.distances.result import Distance
from beholder.distances.shards.frechet import frechet_infinity_of_shards, frechet_of_shards
from beholder.distances.shards.kernel import kernel_of_shards
from beholder.distances.shards.neighbours import neighbours_of_shards
from beholder.distances.shards.shard import Shard
from beholder.stats.each import Map, in_turn


@dataclass(frozen=True, eq=False)
class ShardedSets:
    """The sets that are compared, in shards. Neighbours are searched once for all distances that need them."""

    real: Sequence[Shard]
    generated: Sequence[Shard]
    each: Map = in_turn
    seed: int = 0
    level: float = 0.95

    @cached_property
    def neighbours(self) -> Neighbours:
        """The nearest neighbours of the real and the generated images."""
        return neighbours_of_shards(self.real, self.generated, each=self.each)

    @property
    def rng(self) -> np.random.Generator:
        """A new random generator for one distance: its value does not depend on what else is computed."""
        return np.random.default_rng(self.seed)


IN_SHARDS: dict[str, Callable[[ShardedSets], Distance]] = {
    "frechet": lambda s: frechet_of_shards(s.real, s.generated, level=s.level, each=s.each),
    "frechet_infinity": lambda s: frechet_infinity_of_shards(
        s.real, s.generated, rng=s.rng, level=s.level, each=s.each
    ),
    "kernel": lambda s: kernel_of_shards(s.real, s.generated, level=s.level, each=s.each),
    "precision": lambda s: precision(s.neighbours, level=s.level),
    "recall": lambda s: recall(s.neighbours, level=s.level),
    "density": lambda s: density(s.neighbours, level=s.level),
    "coverage": lambda s: coverage(s.neighbours, level=s.level),
    "authenticity": lambda s: authenticity(s.neighbours, level=s.level),
}
"""The distances by name; all others need the features of a set at once."""

ROUNDED_BY_SHARD: tuple[str, ...] = ("frechet", "frechet_infinity", "kernel")
"""Those whose last digits depend on the shards; the others count images, and equal those of the sets at once."""
