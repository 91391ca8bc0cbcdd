"""Krippendorff's α with bootstrap draws, against the package krippendorff in a loop."""

from collections.abc import Iterator

import krippendorff
import numpy as np
from harness import Comparison

from beholder.stats.bootstrap import person_weights
from beholder.stats.krippendorff import krippendorff_alpha

PEOPLE, ITEMS, EACH, LOOPED = 60, 400, 100, 50


def comparisons() -> Iterator[Comparison]:
    """Five-point ratings of which everyone gave some."""
    rng = np.random.default_rng(2)
    truth = rng.uniform(1, 5, ITEMS)
    who = np.repeat(np.arange(PEOPLE), EACH)
    what = np.concatenate([rng.permutation(ITEMS)[:EACH] for _ in range(PEOPLE)])
    values = np.clip(np.rint(truth[what] + rng.normal(0, 0.8, len(what))), 1, 5)
    matrix = np.full((PEOPLE, ITEMS), np.nan)
    matrix[who, what] = values
    weights = person_weights(np.zeros(PEOPLE, dtype=np.int64), LOOPED, rng)

    def looped() -> None:
        for draw in weights:
            krippendorff.alpha(np.repeat(matrix, draw, axis=0), level_of_measurement="ordinal")

    yield Comparison(
        f"Krippendorff's α, ordinal, {LOOPED} draws over people; {PEOPLE} people × {EACH} of {ITEMS} items",
        lambda: krippendorff_alpha(who, what, values, weights, scale="ordinal"),
        looped,
        "krippendorff",
        turns=3,
    )
