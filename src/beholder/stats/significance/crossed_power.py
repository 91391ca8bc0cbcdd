"""The power of a board with other numbers of prompts and raters, from variance components, for a claim.

Every pair of entries has its variance components (:mod:`beholder.stats.intervals.crossed_precision`), from which
the standard error SE′ and the degrees of freedom ν′ of their difference follow for n′ prompts and m′ raters.
Then

    a pair        P(|t| > t_ν′,1−α/2),  t noncentral with δ/SE′ and ν′ degrees of freedom
    a half-width  P(t_ν′,1−α/2 · SE > h),  SE² ~ SE′² χ²_ν′/ν′: how likely the interval is narrow enough
    the winner    the best entry is separated from all others
    the order     all pairs are separated, in their true order

The last two are counted over simulated boards: ratings are drawn with the covariance that the variances of all
pairs imply, standard errors by χ², and the critical value allows for all pairs as on a board.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from beholder.errors import StatisticsError
from beholder.stats.intervals.crossed_precision import VarianceComponents, predicted_variance, variance_components
from beholder.stats.intervals.crossed_t import CrossedInfluence, difference_contrasts
from beholder.stats.significance.simultaneous import critical_t

Claim = Literal["pair", "winner", "order", "half-width"]

_BOARDS = 4000
"""Simulated boards of each size: the standard error of a power is at most .008."""


@dataclass(frozen=True, eq=False)
class CrossedDesign:
    """True ratings of entries, and the variance components of every difference of two."""

    values: NDArray[np.float64]  # (entries,) higher is better
    pairs: tuple[VarianceComponents, ...]  # in the order of ``numpy.triu_indices(entries, 1)``

    @property
    def people(self) -> bool:
        """Whether raters judge; otherwise a program scores, and raters have no meaning."""
        return self.pairs[0].raters > 0


@dataclass(frozen=True, eq=False)
class CrossedPower:
    """Power and half-width for each number of prompts and raters; every array is (sizes,)."""

    prompts: NDArray[np.int64]
    raters: NDArray[np.int64]
    half_width: NDArray[np.float64]  # of the difference that the claim is about
    power: NDArray[np.float64]
    claim: Claim
    level: float


def observed_design(cells: CrossedInfluence, *, higher_is_better: bool = True) -> CrossedDesign:
    """Take the ratings of a board, and the variance components of its differences, as the true ones.

    Args:
        cells: The ratings of at least two entries.
        higher_is_better: Otherwise ratings are turned.

    Returns:
        What :func:`crossed_power` needs.
    """
    _, _, contrasts = difference_contrasts(len(cells.values))
    if len(contrasts) == 0:
        raise StatisticsError("a plan needs at least two entries; found one")
    parts = tuple(variance_components(cells, contrast) for contrast in contrasts)
    return CrossedDesign(cells.values if higher_is_better else -cells.values, parts)


def stated_design(values: ArrayLike, rater: float, prompt: float, rest: float) -> CrossedDesign:
    """State the true ratings, and variance components that all differences have in common.

    Args:
        values: The ratings (entries,).
        rater: σ² of a difference between raters; 0 for a program.
        prompt: σ² of a difference between prompts.
        rest: σ² of a difference of a single pair of rater and prompt.

    Returns:
        What :func:`crossed_power` needs.
    """
    rating = np.asarray(values, np.float64)
    if rating.ndim != 1 or len(rating) < 2 or min(rater, prompt, rest) < 0 or rater + prompt + rest == 0:
        raise StatisticsError(
            "a plan needs the ratings of at least two entries and variances of at least 0, not all 0; found "
            f"{rating.shape}, {rater:g}, {prompt:g} and {rest:g}"
        )
    parts = VarianceComponents(rater, prompt, rest, 2, 2, 1.0, np.inf)
    return CrossedDesign(rating, (parts,) * (len(rating) * (len(rating) - 1) // 2))


def crossed_power(
    design: CrossedDesign,
    claim: Claim,
    prompts: ArrayLike,
    raters: ArrayLike,
    rng: np.random.Generator,
    *,
    pair: tuple[int, int] | None = None,
    difference: float | None = None,
    half_width: float | None = None,
    level: float = 0.95,
) -> CrossedPower:
    """Predict the power of a claim for numbers of prompts and raters.

    Args:
        design: From :func:`observed_design` or :func:`stated_design`.
        claim: What is to be shown.
        prompts: Numbers of prompts; they broadcast against ``raters``.
        raters: Numbers of raters; without meaning where a program scores.
        rng: For the boards that are simulated for the winner and the order.
        pair: The entries whose difference a pair or a half-width is about; by default the two best.
        difference: To be detected, of a pair; by default that of the design.
        half_width: That is narrow enough; needed for that claim.
        level: Of the intervals.

    Returns:
        Power and half-widths.

    Example:
        >>> design = stated_design([0.3, 0.0], rater=0.0, prompt=1.0, rest=0.0)
        >>> power = crossed_power(design, "pair", [50, 100, 200], 10, np.random.default_rng(0))
        >>> power.power.round(2).tolist()  # of a t test of n prompts with effect size 0.3
        [0.55, 0.84, 0.99]
    """
    n, m = np.broadcast_arrays(np.atleast_1d(np.asarray(prompts, np.int64)), np.asarray(raters, np.int64))
    if claim == "half-width" and (half_width is None or not half_width > 0):
        raise StatisticsError(f"a plan for a half-width needs the half-width, above 0; found {half_width}")
    first, second = _pair(design, pair)
    predicted = [predicted_variance(parts, n, m) for parts in design.pairs]
    variance, degrees, _ = predicted[_place(design, first, second)]
    error = np.sqrt(variance)
    reach = special.stdtrit(degrees, (1 + level) / 2)
    if claim == "pair":
        size = abs(float(design.values[first] - design.values[second])) if difference is None else abs(difference)
        away = size / np.where(error > 0, error, np.nan)
        power = stats.nct.sf(reach, degrees, away) + stats.nct.cdf(-reach, degrees, away)
        power = np.where(np.isnan(power) & (away > 2 * reach), 1.0, power)  # too far out for scipy
    elif claim == "half-width":
        most = (float(half_width or 0.0) / np.where(error > 0, reach * error, np.nan)) ** 2
        power = np.where(np.isfinite(degrees), special.chdtr(degrees, degrees * most), (most >= 1).astype(float))
    else:
        variances, freedoms = (np.stack([part[k] for part in predicted]) for k in (0, 2))  # (pairs, sizes)
        power = np.array(
            [_simulated(design, claim, variances[:, k], freedoms[:, k], rng, level) for k in range(len(n))]
        )
    return CrossedPower(n, m, np.asarray(reach * error, np.float64), np.asarray(power, np.float64), claim, level)


def _pair(design: CrossedDesign, pair: tuple[int, int] | None) -> tuple[int, int]:
    order = np.argsort(-design.values, kind="stable")
    first, second = (int(order[0]), int(order[1])) if pair is None else pair
    if first == second or max(first, second) >= len(design.values) or min(first, second) < 0:
        raise StatisticsError(f"a pair is two of the {len(design.values)} entries; found {first} and {second}")
    return first, second


def _place(design: CrossedDesign, first: int, second: int) -> int:
    """Return where the pair stands among all of them."""
    a, b = np.triu_indices(len(design.values), k=1)
    return int(np.flatnonzero((a == min(first, second)) & (b == max(first, second)))[0])


def _simulated(
    design: CrossedDesign,
    claim: Claim,
    variance: NDArray[np.float64],
    degrees: NDArray[np.float64],
    rng: np.random.Generator,
    level: float,
) -> float:
    """Return the proportion of simulated boards that show the claim; variances and degrees are (pairs,)."""
    count = len(design.values)
    first, second = np.triu_indices(count, k=1)
    apart = np.zeros((count, count))
    apart[first, second] = apart[second, first] = variance
    centre = np.eye(count) - 1 / count
    covariance = -centre @ apart @ centre / 2  # of ratings around their mean; differences have the variances
    roots, axes = np.linalg.eigh(covariance)
    ratings = design.values + rng.normal(size=(_BOARDS, count)) * np.sqrt(np.maximum(roots, 0.0)) @ axes.T
    freedom = np.minimum(degrees, 1e9)
    errors = np.sqrt(variance * rng.chisquare(freedom, (_BOARDS, len(first))) / freedom)
    critical = critical_t(level, count, freedom)
    lead = (ratings[:, first] - ratings[:, second]) * np.sign(design.values[first] - design.values[second])
    separated = lead > critical * errors  # (boards, pairs) the right way round
    best = int(np.argmax(design.values))
    needed = (first == best) | (second == best) if claim == "winner" else np.ones(len(first), np.bool_)
    return float(separated[:, needed].all(axis=1).mean())
