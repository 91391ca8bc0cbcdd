"""One measure of all entries in one slice: ratings, confidence intervals, pairs, ranks, chances to be best."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.judgements.measures import Measure, influence_of
from beholder.stats.estimate import Estimates
from beholder.stats.intervals.crossed_t import (
    FEWEST,
    CrossedInfluence,
    contrast_errors,
    crossed_t,
    difference_contrasts,
)
from beholder.stats.intervals.crossed_variance import ContrastErrors
from beholder.stats.significance.chance_best import chance_best
from beholder.stats.significance.pair_comparison import PairComparison, compare_pairs


@dataclass(frozen=True, eq=False)
class Standings:
    """The entries by one measure in one slice."""

    entries: tuple[str, ...]
    cells: CrossedInfluence
    estimates: Estimates
    errors: ContrastErrors  # of the ratings
    pairs: PairComparison
    chances: NDArray[np.float64] | None  # (entries,) to be best; None where nothing is better

    @property
    def better_up(self) -> bool:
        """Whether higher is better."""
        return self.pairs.higher_is_better


def standings(measure: Measure, *, level: float, seed: int) -> Standings:
    """Rate all entries by one measure.

    Args:
        measure: The scores or votes of the slice.
        level: Of the confidence intervals; those of all pairs hold together.
        seed: For the draws behind the chances to be best.

    Returns:
        Ratings, pairs and chances.

    Raises:
        StatisticsError: Where entries were never compared with each other, even through others.
    """
    names = set(measure.rows["entry"]) | (set(measure.rows["other"]) if measure.votes else set())
    entries = sorted(names)
    if len(entries) < 2 and measure.votes:
        raise StatisticsError("votes need two entries")
    cells = influence_of(measure, entries)
    estimates = crossed_t(cells, level=level)
    errors = contrast_errors(cells, np.eye(len(entries)))
    _, _, contrasts = difference_contrasts(len(entries))
    apart = contrast_errors(cells, contrasts) if len(contrasts) else None
    pairs = compare_pairs(
        cells.values,
        np.zeros(0) if apart is None else np.where(_enough(apart, cells), apart.standard_error, np.nan),
        np.zeros(0) if apart is None else apart.tail_degrees,
        level=level,
        higher_is_better=measure.better != "lower",
    )
    return Standings(
        tuple(entries), cells, estimates, errors, pairs, _chances(measure, cells, errors, pairs, seed)
    )


def _enough(errors: ContrastErrors, cells: CrossedInfluence) -> NDArray[np.bool_]:
    sample = errors.prompts if cells.raters is None else np.minimum(errors.raters, errors.prompts)
    return np.asarray(sample >= FEWEST, np.bool_)


def _chances(
    measure: Measure, cells: CrossedInfluence, errors: ContrastErrors, pairs: PairComparison, seed: int
) -> NDArray[np.float64] | None:
    """Return the chance of each entry to be best, from the covariance that the variances of all pairs imply."""
    usable = len(pairs.first) > 0 and bool(np.all(np.isfinite(pairs.standard_error)))
    if measure.better is None or not usable:
        return None
    variance = errors.standard_error**2
    covariance = np.diag(variance)
    shared = (variance[pairs.first] + variance[pairs.second] - pairs.standard_error**2) / 2
    covariance[pairs.first, pairs.second] = covariance[pairs.second, pairs.first] = shared
    degrees = float(np.median(pairs.degrees))
    rng = np.random.default_rng(seed)
    return chance_best(cells.values, covariance, degrees, rng, higher_is_better=measure.better == "higher")
