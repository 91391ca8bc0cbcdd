"""Recovery of mean opinions by Recommendation ITU-T P.910: raters with a bias and an inconsistency of their own.

The score of rater i for item j is ψⱼ + Δᵢ + υᵢ·noise: opinion, bias, inconsistency. The alternating projection
takes turns: υᵢ is the standard deviation of i's residuals; ψⱼ the mean of scores less bias, weighted by 1/υᵢ²; Δᵢ
the mean of scores less opinion; until ψ moves by less than 1e-8. Careless raters are not rejected but weigh
little. Whoever gave one score only has a bias that explains it wholly, and weighs nothing; an item that only such
raters judged has the mean of its scores, and no error. Biases are shifted to a mean of 0. Li, Bampis, Krasula,
Janowski and Katsavounidis, "A simple model for subject behavior in subjective experiments" (2020).

The Recommendation's standard error takes υ as known; ± 1.96 of it covers the true value in 90–93 % of cases
instead of 95 %. The confidence interval here allows for it. A rater's n residuals are short of their true
spread, υ̂² ≈ υ² (1 − h)(n − 1)/n with h their proportion of an item's weight, and weights that were fitted to
noise cost precision (Meier 1953):

    υ̃² = υ̂² · n/(n − 1) / mean(1 − h),    V = 1/Συ̃⁻² · (1 + 4 Σ h (1 − h)/(n − 1)),

with t quantiles of 1/Σ(h²/(n − 1)) degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import LongAnswers, long_answers, places_by_first_answer

ITERATIONS = 1_000
"""Turns after which a fit has not converged."""

_WINDOW = 50  # turns over which the rate is taken at which the opinions settle
_LEAST_VARIANCE = 1e-8  # added to υ², so that someone without residuals does not decide alone


@dataclass(frozen=True, eq=False)
class P910:
    """Opinions of items with their errors, and bias and inconsistency of raters; nan where nothing is known."""

    opinion: NDArray[np.float64]  # (items,) ψ
    standard_error: NDArray[np.float64]  # (items,) 1/√Συᵢ⁻² over the item's raters
    low: NDArray[np.float64]  # (items,) of an interval with the fitted inconsistencies allowed for
    high: NDArray[np.float64]  # (items,)
    residual_error: NDArray[np.float64]  # (items,) SD of the item's residuals/√raters, as ITU's code prints
    bias: NDArray[np.float64]  # (raters,) Δ
    inconsistency: NDArray[np.float64]  # (raters,) υ
    level: float
    iterations: int
    converged: bool
    collapsed: bool  # someone's inconsistency went to 0, and the opinions are that rater's alone


def p910(
    raters: ArrayLike,
    items: ArrayLike,
    scores: ArrayLike,
    *,
    level: float = 0.95,
    iterations: int = ITERATIONS,
    tolerance: float = 1e-8,
    give_up: bool = False,
) -> P910:
    """Fit the model to long scores; raters and items may overlap in any way, but some item needs two raters.

    With about a dozen raters or fewer, one who is a little more consistent than the others can draw the opinions
    to their own scores until nothing of theirs is left over: the likelihood has no bound there. ``collapsed``
    says so; the opinions are then of one rater, their errors near 0, and the plain mean is the better choice.

    ``give_up`` stops a fit early that would not converge in so many iterations: for those who do not use it then.
    """
    if not 0 < level < 1 or iterations < 1:
        raise StatisticsError(
            f"the model needs a level between 0 and 1 and at least one iteration; found {level}, {iterations}"
        )
    answers = long_answers(raters, items, scores)
    who, what, score = answers.raters, answers.items, answers.values
    by_item, by_rater = np.bincount(what), np.bincount(who, minlength=answers.rater_count)
    if by_item.max() < 2:
        raise StatisticsError("biases need at least one item with two answers; found none")
    judged, present = by_item > 0, by_rater > 0
    telling = by_rater > 1  # (raters,) whose inconsistency can be told
    determined = np.bincount(what, telling[who]) > 0  # (items,)
    opinion = plain = np.bincount(what, score) / np.maximum(by_item, 1)
    bias = np.bincount(who, score - opinion[what], answers.rater_count) / np.maximum(by_rater, 1)
    stop = _Stop(iterations, tolerance, give_up=give_up)
    fitted = _alternate(answers, telling, determined, opinion, bias, stop)
    opinion, bias = fitted.opinion, fitted.bias
    residual = score - fitted.opinion_before[what] - fitted.bias_before[who]
    variance = _variance(residual, who, by_rater)

    shift = bias[present].mean()
    sure = np.where(telling, 1 / np.maximum(variance, np.finfo(float).tiny), 0.0)
    certainty = np.bincount(what, sure[who])
    opinion = np.where(judged, np.where(determined, opinion + shift, plain), np.nan)
    error = np.where(determined, 1 / np.sqrt(np.where(determined, certainty, 1.0)), np.nan)
    reach = _reach(who, what, variance, by_rater, level)
    spread = np.sqrt(_variance(residual, what, by_item) / np.maximum(by_item, 1))
    return P910(
        opinion=opinion,
        standard_error=error,
        low=opinion - reach,
        high=opinion + reach,
        residual_error=np.where(judged, spread, np.nan),
        bias=np.where(present, bias - shift, np.nan),
        inconsistency=np.where(telling, np.sqrt(variance), np.nan),
        level=level,
        iterations=fitted.iterations,
        converged=fitted.converged,
        collapsed=bool(telling.any() and variance[telling].min() < _LEAST_VARIANCE < variance[telling].max()),
    )


@dataclass(frozen=True, eq=False)
class _Alternated:
    """Where the projection ended, and what its last step began with."""

    opinion: NDArray[np.float64]  # (items,)
    bias: NDArray[np.float64]  # (raters,)
    opinion_before: NDArray[np.float64]
    bias_before: NDArray[np.float64]
    iterations: int
    converged: bool


@dataclass(frozen=True, slots=True)
class _Stop:
    """When the projection ends."""

    iterations: int
    tolerance: float
    give_up: bool

    def hopeless(self, steps: list[float]) -> bool:
        """Say whether opinions that moved by ``steps`` so far would still move at the last iteration.

        The logarithm of the steps of alternating projections is convex, as they are sums of powers λᵗ with λ > 0
        while the weights stay: at the rate of the last turns they would be smaller than they will be. The rate
        must not grow, and a tenfold margin is for weights that still change.
        """
        turn = len(steps)
        if not self.give_up or turn < 3 * _WINDOW or turn % _WINDOW or self.iterations <= turn:
            return False
        ends = np.log([max(steps[turn - 1 - back * _WINDOW], np.finfo(float).tiny) for back in (2, 1, 0)])
        before, rate = np.diff(ends) / _WINDOW
        last = ends[-1] + rate * (self.iterations - turn)
        return bool(before <= rate < 0 and last > np.log(10 * self.tolerance))


def _alternate(
    answers: LongAnswers,
    telling: NDArray[np.bool_],
    determined: NDArray[np.bool_],
    plain: NDArray[np.float64],
    bias: NDArray[np.float64],
    stop: _Stop,
) -> _Alternated:
    """Take turns until the opinions stay, from the plain means and biases.

    Each sum over a rater's or an item's scores is a product with one of two sparse matrices (raters, items): who
    judged what, and the scores, taken from their middle so that little cancels in υ² = E(s − ψ)² − (E(s − ψ))².
    Items lie in the order of their first answers; the numbers are added up in the order of the items' own numbers.
    """
    middle = float(answers.values.mean())
    centred = answers.values - middle
    count = np.maximum(np.bincount(answers.raters, minlength=answers.rater_count), 1)
    total = np.bincount(answers.raters, centred, answers.rater_count)
    squares = np.bincount(answers.raters, centred**2, answers.rater_count)
    scores = sparse.csr_array(
        (centred, (answers.raters, answers.items)), shape=(answers.rater_count, answers.item_count)
    )
    places = places_by_first_answer(answers)
    order = np.argsort(places)
    ones, scores_by = np.ones(len(centred)), scores.T.tocsr()[order]
    scores.indices = places.astype(scores.indices.dtype)[scores.indices]
    judged, judged_by = (
        sparse.csr_array((ones, by.indices, by.indptr), shape=by.shape) for by in (scores, scores_by)
    )
    del centred
    plain, determined = plain[order] - middle, determined[order]
    opinion, converged, steps = plain, False, list[float]()
    met = judged @ opinion  # (raters,)
    while len(steps) < stop.iterations and not converged and not stop.hopeless(steps):
        opinion_before, bias_before = opinion, bias
        mean = (total - met) / count
        variance = np.maximum((squares - 2 * (scores @ opinion) + judged @ opinion**2) / count - mean**2, 0.0)
        weight = np.where(telling, 1 / (variance + _LEAST_VARIANCE), 0.0)
        weighed = (scores_by @ weight - judged_by @ (weight * bias)) / np.maximum(
            judged_by @ weight, np.finfo(float).tiny
        )
        opinion = np.where(determined, weighed, plain)
        met = judged @ opinion
        bias = (total - met) / count
        steps.append(float(np.sqrt(np.sum((opinion - opinion_before) ** 2))))
        converged = steps[-1] < stop.tolerance
    opinion, opinion_before = opinion[places] + middle, opinion_before[places] + middle
    return _Alternated(opinion, bias, opinion_before, bias_before, len(steps), converged)


def _reach(
    who: NDArray[np.int64],
    what: NDArray[np.int64],
    variance: NDArray[np.float64],
    by_rater: NDArray[np.intp],
    level: float,
) -> NDArray[np.float64]:
    """Return half the width of each item's confidence interval (items,); see the head of this module."""
    spare = np.maximum(by_rater - 1, 1)
    fraction = _fractions(who, what, np.where(by_rater > 1, 1 / (variance + _LEAST_VARIANCE), 0.0))
    retained = np.bincount(who, 1 - fraction, len(by_rater)) / np.maximum(by_rater, 1)
    true = variance * by_rater / spare / np.maximum(retained, 1e-9)
    certain = np.where(by_rater > 1, 1 / np.maximum(true, np.finfo(float).tiny), 0.0)
    total = np.bincount(what, certain[who])
    fraction = _fractions(who, what, certain)
    extra = 4 * np.bincount(what, fraction * (1 - fraction) / spare[who])
    degrees = 1 / np.maximum(np.bincount(what, fraction**2 / spare[who]), np.finfo(float).tiny)
    determined = total > 0
    error = np.where(determined, np.sqrt((1 + extra) / np.where(determined, total, 1.0)), np.nan)
    return np.asarray(special.stdtrit(degrees, (1 + level) / 2) * error, np.float64)


def _fractions(
    who: NDArray[np.int64], what: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return each answer's proportion of the weight of its item (answers,)."""
    total = np.bincount(what, weight[who])[what]
    return np.asarray(weight[who] / np.where(total > 0, total, 1.0), np.float64)


def _variance(
    values: NDArray[np.float64], group: NDArray[np.int64], size: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the population variance of each group."""
    held = np.maximum(size, 1)
    off = values - (np.bincount(group, values, len(size)) / held)[group]
    return np.asarray(np.bincount(group, off**2, len(size)) / held, np.float64)
