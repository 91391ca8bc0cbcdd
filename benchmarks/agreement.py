"""Krippendorff's α with a bootstrap, compared with the package krippendorff in a loop over the same replicates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import krippendorff
import numpy as np
from harness import Comparison
from numpy.typing import NDArray

from beholder.stats.agreement.krippendorff import Scale, krippendorff_alpha
from beholder.stats.intervals.bootstrap import rater_weights

DRAWS = 1000


@dataclass(frozen=True)
class Panel:
    """A synthetic study: each rater judges ``each`` of the items on a scale of ``points`` points."""

    raters: int
    items: int
    each: int
    points: int
    scale: Scale


PANELS = (
    Panel(raters=26, items=200, each=200, points=2, scale="nominal"),  # one model of the Layer 6 study
    Panel(raters=48, items=200, each=200, points=5, scale="ordinal"),
    Panel(raters=50, items=1000, each=100, points=2, scale="nominal"),
    Panel(raters=50, items=1000, each=100, points=5, scale="ordinal"),
    Panel(raters=48, items=200, each=200, points=5, scale="ratio"),
    Panel(raters=50, items=1000, each=100, points=5, scale="ratio"),
)


def comparisons() -> Iterator[Comparison]:
    """Return one row per panel: α and its confidence interval, 1,000 bootstrap replicates over raters."""
    for panel in PANELS:
        who, what, values, weights = _answers(panel)
        yield Comparison(
            f"Krippendorff's α, {panel.scale}, {DRAWS:,} draws over raters; {panel.raters} raters × {panel.each} "
            f"of {panel.items} items",
            _ours(panel, who, what, values, weights),
            _looped(panel, who, what, values, weights),
            "krippendorff",
            turns=5,
        )


def _answers(
    panel: Panel,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    rng = np.random.default_rng(2)
    truth = rng.uniform(0, panel.points - 1, panel.items)
    who = np.repeat(np.arange(panel.raters), panel.each)
    what = np.concatenate([rng.permutation(panel.items)[: panel.each] for _ in range(panel.raters)])
    values = np.clip(np.rint(truth[what] + rng.normal(0, 0.2 * panel.points, len(what))), 0, panel.points - 1)
    return who, what, values, rater_weights(np.zeros(panel.raters, np.int64), DRAWS, rng)


def _ours(
    panel: Panel,
    who: NDArray[np.int64],
    what: NDArray[np.int64],
    values: NDArray[np.float64],
    weights: NDArray[np.int32],
) -> Callable[[], object]:
    return lambda: krippendorff_alpha(who, what, values, weights, scale=panel.scale)


def _looped(
    panel: Panel,
    who: NDArray[np.int64],
    what: NDArray[np.int64],
    values: NDArray[np.float64],
    weights: NDArray[np.int32],
) -> Callable[[], object]:
    matrix = np.full((panel.raters, panel.items), np.nan)
    matrix[who, what] = values
    return lambda: [
        krippendorff.alpha(np.repeat(matrix, draw, axis=0), level_of_measurement=panel.scale) for draw in weights
    ]
