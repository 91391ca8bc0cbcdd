"""Standard errors, degrees of freedom and t intervals of ratings over few raters, in closed form.

Each rater moves the rating of a cell by an influence l: Σ l = 0, and for a ratio R = Σa/Σb over raters
l = (a − R b)/Σb. With the rater's share w of the cell's answers, the variance of a rating, and of a difference of
two ratings by the same or other raters, is

    Σ l̃²    and    Σ (l̃₁ − l̃₂)²,    l̃ = l / √(1 − w).

The factor undoes how far a rater pulls the rating towards their own answers ("CR2"): where all raters gave as many
answers, it makes the variance the familiar s²/n. The degrees of freedom are Satterthwaite's under the working
model that answers vary equally and independently: n − 1 where the same n raters gave as many answers in both
cells, n₁ + n₂ − 2 where equally many other raters did, and fewer where some raters gave most of the answers.

Reference: R. M. Bell and D. F. McCaffrey (2002), *Bias reduction in standard errors for linear regression with
multi-stage samples*, Survey Methodology 28(2).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimates
from beholder.stats.intervals.likelihood_lines import LikelihoodLines
from beholder.stats.intervals.proportions import arcsine_interval, wilson

FEWEST_RATERS = 5
"""Fewer raters say too little of how raters vary: no interval is given."""

METHOD = "t over raters"


@dataclass(frozen=True, eq=False)
class RaterInfluence:
    """Ratings of cells, and how far each rater moves each of them."""

    values: NDArray[np.float64]  # (cells,)
    influence: NDArray[np.float64]  # (raters, cells); 0 where the rater did not judge the cell
    answers: NDArray[np.float64]  # (raters, cells) how many answers, or how much weight, stand behind it
    floor: NDArray[np.float64] | None = None
    """Covariance (cells, cells) below which no variance is believed, as where votes have no finite maximum."""
    floor_when_still: bool = True
    """Whether the floor is for differences that do not vary between raters at all; otherwise it is for all."""
    proportions: bool = False
    """Whether the ratings lie between 0 and 1, so that their intervals have to."""
    likelihood: LikelihoodLines | None = None
    """Whose maximum the ratings are, as of votes: their tests and intervals then follow it."""
    raters: NDArray[np.int64] = field(init=False)  # (cells,) who judged the cell

    def __post_init__(self) -> None:
        shape = self.influence.shape
        if len(shape) != 2 or self.answers.shape != shape or self.values.shape != shape[1:]:
            raise StatisticsError(
                "an influence needs (raters, cells) arrays of one shape and values (cells,); found "
                f"{shape}, {self.answers.shape} and {self.values.shape}"
            )
        object.__setattr__(self, "raters", np.count_nonzero(self.answers, axis=0).astype(np.int64))

    @property
    def shares(self) -> NDArray[np.float64]:
        """Each rater's proportion of the answers of each cell (raters, cells)."""
        total = self.answers.sum(axis=0)
        return np.asarray(self.answers / np.where(total > 0, total, 1.0), np.float64)


def ratio_influence(
    numerators: ArrayLike, denominators: ArrayLike, *, proportions: bool = False
) -> RaterInfluence:
    """Return Σ numerators / Σ denominators over raters for each cell, with each rater's influence on it.

    Args:
        numerators: A rater's sum of scores in each cell, (raters, cells).
        denominators: The number of those scores, 0 where the rater did not judge the cell.
        proportions: Whether all scores lie between 0 and 1. Then a cell in which no rater differs from any other
            has the error of Wilson's interval for as many answers as there are raters.

    Returns:
        The ratings and influences.

    Example:
        >>> cells = ratio_influence([[3.0, 4.0], [1.0, 2.0]], [[4.0, 4.0], [4.0, 4.0]])
        >>> cells.values.tolist(), cells.influence.tolist()
        ([0.5, 0.75], [[0.125, 0.125], [-0.125, -0.125]])
    """
    above, below = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    if above.ndim != 2 or above.shape != below.shape or np.any(below < 0):
        raise StatisticsError(
            f"a ratio of sums needs two (raters, cells) arrays of one shape; found {above.shape}, {below.shape}"
        )
    total = below.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = above.sum(axis=0) / total
        moved = (above - values * below) / total
    moved[np.abs(moved) <= 1e-14 * np.abs(values)] = 0.0  # rounding; raters that answer alike do not vary
    floor = None
    if proportions:
        raters = np.maximum(np.count_nonzero(below, axis=0), 1)
        low, high = wilson(np.nan_to_num(values) * raters, raters.astype(np.float64), 0.95)
        floor = np.diag(((high - low) / 2 / special.ndtri(0.975)) ** 2)
    return RaterInfluence(values, np.nan_to_num(moved), below, floor=floor, proportions=proportions)


def standard_errors(cells: RaterInfluence) -> NDArray[np.float64]:
    """Return the standard error of every rating (cells,); nan with fewer than two raters.

    Args:
        cells: The ratings and influences.

    Returns:
        The standard errors; s/√n where every rater gave one score.

    Example:
        >>> scores = [[0.2], [0.4], [0.6], [0.8], [0.5]]
        >>> float(standard_errors(ratio_influence(scores, np.ones((5, 1))))[0].round(4))  # s = .2236, n = 5
        0.1
    """
    variance = _floored(
        (_unbiased(cells) ** 2).sum(axis=0), None if cells.floor is None else np.diag(cells.floor), cells
    )
    return np.where(cells.raters >= 2, np.sqrt(variance), np.nan)


def pair_errors(
    cells: RaterInfluence, first: NDArray[np.intp], second: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the standard error and the degrees of freedom of the difference of every pair.

    Args:
        cells: The ratings and influences.
        first: The one cell of each pair (pairs,).
        second: The other cell.

    Returns:
        Standard errors (pairs,), nan where a cell has fewer than two raters, and degrees of freedom (pairs,).

    Example:
        >>> both = ratio_influence([[1.0, 0.0], [2.0, 0.0], [3.0, 3.0]], np.ones((3, 2)))
        >>> error, degrees = pair_errors(both, np.array([0]), np.array([1]))  # differences 1, 2, 0
        >>> error.round(4).tolist(), degrees.round(4).tolist()
        ([0.5774], [2.0])
    """
    pulled = _unbiased(cells)
    covariance = pulled.T @ pulled  # (cells, cells)
    spread = np.diag(covariance)
    variance = np.maximum(spread[first] + spread[second] - 2 * covariance[first, second], 0.0)
    variance = np.where(variance <= 1e-13 * (spread[first] + spread[second]), 0.0, variance)
    floor = None
    if cells.floor is not None:
        least = np.diag(cells.floor)
        floor = least[first] + least[second] - 2 * cells.floor[first, second]
    has_error = np.minimum(cells.raters[first], cells.raters[second]) >= 2
    error = np.where(has_error, np.sqrt(_floored(variance, floor, cells)), np.nan)
    return error, _degrees(cells.answers, first, second)


def clustered_t(cells: RaterInfluence, *, level: float = 0.95, fewest: int = FEWEST_RATERS) -> Estimates:
    """Return every rating with its t interval over raters.

    A proportion has the interval on the scale of arcsin √p, which keeps it between 0 and 1 and steadies its
    variance; at 0 or 1 it is Wilson's for as many answers as there are raters. Ratings with a likelihood have the
    interval of :func:`likelihood_interval`, as differences from the mean of all cells: with two cells, the
    interval of a rating is half that of their difference.

    Args:
        cells: The ratings and influences.
        level: The level of each interval.
        fewest: Cells of fewer raters have no interval (nan).

    Returns:
        One estimate per cell.

    Example:
        >>> scores = [[0.2], [0.4], [0.6], [0.8], [0.5]]
        >>> print(clustered_t(ratio_influence(scores, np.ones((5, 1))))[0])  # .5 ± 2.776 · .1
        0.500 [0.222, 0.778]
    """
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    value, error = cells.values, standard_errors(cells)
    every = np.arange(len(value))
    reach = special.stdtrit(_degrees(cells.answers, every, every), (1 + level) / 2) * error
    low, high = value - reach, value + reach
    if cells.proportions:
        low, high = arcsine_interval(value, reach, cells.raters, level)
    if cells.likelihood is not None and len(value) > 1:
        low, high = likelihood_interval(cells.likelihood, np.eye(len(value)) - 1 / len(value), reach)
    enough = cells.raters >= max(fewest, 2)
    return Estimates(
        value=value,
        low=np.where(enough, low, np.nan),
        high=np.where(enough, high, np.nan),
        level=level,
        method=METHOD,
        raters=cells.raters,
    )


def likelihood_interval(
    likelihood: LikelihoodLines, contrasts: NDArray[np.float64], reach: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval estimate ± reach of contrasts, bent as their likelihood is.

    It ends where the likelihood ratio's normal score r, divided by the standard error over raters relative to the
    model's, is the critical value: r = t · SE/SE_model = reach/SE_model.

    Args:
        likelihood: Of the votes.
        contrasts: What each cell is multiplied by (contrasts, cells).
        reach: Half the widths of the plain intervals: critical value times standard error over raters.

    Returns:
        Lower and upper ends.

    Example:
        >>> flat = LikelihoodLines(lambda theta: -2 * theta[:, 0] ** 2, np.zeros(1), np.array([[0.25]]))
        >>> low, high = likelihood_interval(flat, np.array([[1.0]]), np.array([0.7]))  # of a normal one: plain
        >>> low.round(6).tolist(), high.round(6).tolist()
        ([-0.7], [0.7])
    """
    return likelihood.limits(contrasts, reach / likelihood.errors(contrasts))


def _unbiased(cells: RaterInfluence) -> NDArray[np.float64]:
    """Return l / √(1 − w) (raters, cells); 0 for a cell's only rater."""
    rest = 1 - cells.shares
    return np.asarray(cells.influence / np.sqrt(np.where(rest > 0, rest, np.inf)), np.float64)


def _floored(
    variance: NDArray[np.float64], floor: NDArray[np.float64] | None, cells: RaterInfluence
) -> NDArray[np.float64]:
    if floor is None:
        return variance
    still = variance <= 1e-12 * floor if cells.floor_when_still else np.ones(variance.shape, np.bool_)
    return np.where(still, np.maximum(variance, floor), variance)


def _degrees(
    answers: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return tr(Ω)²/tr(Ω²) of each pair, Ω the covariance of the raters' l̃₁ − l̃₂ in the working model.

    Answers of variance 1 give one cell of N answers

        N Ω = diag(w / (1 − w)) − u uᵀ,    u = w / √(1 − w),    tr(N Ω) = Σ w = 1,

    and two cells the sum of both. A pair of a cell with itself is that cell alone.
    """
    total = np.maximum(answers.sum(axis=0), 1e-300)
    w = answers / total
    rest = np.where(w < 1, 1 - w, np.inf)
    d, square = w / rest, w**2 / rest  # (raters, cells)
    crossed = d.T @ square
    u = np.sqrt(square)
    product = (d.T @ d - crossed - crossed.T + (u.T @ u) ** 2) / np.outer(total, total)  # tr(ΩₐΩ_b)
    trace = 1 / total
    other = np.where(first == second, 0.0, 1.0)
    above = (trace[first] + other * trace[second]) ** 2
    below = product[first, first] + other * (2 * product[first, second] + product[second, second])
    return np.asarray(np.maximum(above / np.where(below > 0, below, np.inf), 1.0), np.float64)
