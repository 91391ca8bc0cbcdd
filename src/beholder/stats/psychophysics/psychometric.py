"""The psychometric function: the chance to be right against stimulus strength (such as exposure time).

    ψ(x) = γ + (1 − γ − λ) F(x),    γ the guess rate, λ the lapse rate,

with F a logistic function, a cumulative Gaussian, or a Weibull function (which lives on log x). In all three, F
is ½ at the *threshold* and goes from .05 to .95 over the *width*. Fitted by maximum likelihood: Fisher scoring
with damping, from several starts at once.
"""

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate

Shape = Literal["logistic", "gaussian", "weibull"]
"""The form of F."""

_MOST_LAPSES = 0.1  # a fitted λ is at most this
_MOST_GUESSES = 0.6  # a fitted γ is at most this
_EDGE = 12.0  # a fitted rate is most · 1/(1 + e^−u) with |u| at most this
_REACH = {  # the argument of F runs through this between .05 and .95
    "logistic": 2 * np.log(19),
    "gaussian": 2 * float(special.ndtri(0.95)),
    "weibull": float(np.log(-np.log(0.05)) - np.log(-np.log(0.95))),
}
_MIDDLE = {"logistic": 0.0, "gaussian": 0.0, "weibull": float(np.log(np.log(2)))}  # the argument at F = ½


@dataclass(frozen=True, eq=False)
class Answers:
    """Trials added up by level."""

    levels: NDArray[np.float64]  # (levels,) rising; logarithms for Weibull
    right: NDArray[np.float64]  # (levels,)
    trials: NDArray[np.float64]  # (levels,)


@dataclass(frozen=True, eq=False)
class Psychometric:
    """A fitted function."""

    shape: Shape
    threshold: float  # where F = ½, in the unit of the levels
    width: float  # from F = .05 to F = .95; for Weibull on the log scale
    guess: float
    lapse: float
    log_likelihood: float
    deviance: (
        float  # against a chance of its own at every level; about levels − parameters where the form is right
    )
    doubtful: bool  # the threshold lies beyond the levels shown, or the width ran to the end of its range
    answers: Answers
    free: tuple[bool, bool]  # whether guess, lapse were fitted

    def chance(self, levels: ArrayLike) -> NDArray[np.float64]:
        """Return ψ at each level."""
        x = np.asarray(levels, np.float64)
        x = np.log(x) if self.shape == "weibull" else x
        value, _ = _sigmoid(self.shape, _argument(self.shape, x, self._middle, np.log(self.width)))
        return np.asarray(self.guess + (1 - self.guess - self.lapse) * value, np.float64)

    def level_at(self, proportion: float) -> float:
        """Return the level at which ``proportion`` are right, such as .75; nan where the function never is."""
        parameters = np.array([[self._middle, np.log(self.width)]])
        rates = np.array([self.guess]), np.array([self.lapse])
        return float(_levels_at(self.shape, parameters, *rates, proportion)[0])

    @property
    def _middle(self) -> float:
        return float(np.log(self.threshold)) if self.shape == "weibull" else self.threshold


def fit_psychometric(
    levels: ArrayLike,
    right: ArrayLike,
    trials: ArrayLike | None = None,
    *,
    shape: Shape = "weibull",
    guess: float | None = 0.5,
    lapse: float | None = None,
) -> Psychometric:
    """Fit ψ to answers: ``levels`` (n,), ``right`` (n,) counts of ``trials`` (n,), or 0 and 1 for single trials.

    ``guess`` and ``lapse`` are held fixed where given, and fitted (γ up to .6, λ up to .1) where None. The
    threshold is sought up to one range beyond the levels, the width from a tenth of the closest levels' distance
    to ten ranges.
    """
    answers = _collect(levels, right, trials, shape)
    for name, rate in (("guess", guess), ("lapse", lapse)):
        if rate is not None and not 0 <= rate < 1:
            raise StatisticsError(f"the {name} rate lies between 0 and 1; found {rate}")
    if (guess or 0.0) + (lapse or 0.0) >= 1:
        raise StatisticsError(f"guess and lapse rates leave nothing to see: found {guess} and {lapse}")
    fixed = (guess, lapse)
    starts = _starts(answers, shape, fixed)
    fits, likelihood = _maximise(answers.levels, answers.right[None], answers.trials, starts, shape, fixed)
    best = int(np.argmax(likelihood))
    middle, log_width = fits[best, :2]
    gamma, lam = _rates(fits[best : best + 1], fixed)
    low, high = _bounds(answers, fits.shape[1])
    beyond = not answers.levels[0] <= middle <= answers.levels[-1]
    proportion = answers.right / answers.trials
    saturated = np.sum(
        special.xlogy(answers.right, proportion) + special.xlogy(answers.trials - answers.right, 1 - proportion)
    )
    return Psychometric(
        shape=shape,
        threshold=float(np.exp(middle) if shape == "weibull" else middle),
        width=float(np.exp(log_width)),
        guess=float(gamma[0]),
        lapse=float(lam[0]),
        log_likelihood=float(likelihood[best]),
        deviance=float(max(2 * (saturated - likelihood[best]), 0.0)),
        doubtful=beyond or min(log_width - low[1], high[1] - log_width) < 1e-6,
        answers=answers,
        free=(guess is None, lapse is None),
    )


def threshold_estimate(fit: Psychometric, proportion: float, *, level: float = 0.95) -> Estimate:
    """Return the level at which ``proportion`` are right, with a profile likelihood confidence interval.

    It holds the levels x at which 2 (L − max L(x)) is at most the quantile of χ² with one degree of freedom, L(x)
    being the likelihood of all functions that pass ``proportion`` at x. How the levels were chosen does not
    matter, so that it holds for staircases too. An end that the answers do not bound is 0 (for Weibull; else −inf)
    or inf. That is the uncertainty of one rater's trials; for a generator, average thresholds over raters and
    resample raters.
    """
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    value = fit.level_at(proportion)
    low, high = _profile_ends(fit, proportion, value, level) if np.isfinite(value) else (np.nan, np.nan)
    return Estimate(
        value=value,
        low=low,
        high=high,
        level=level,
        method="profile likelihood over trials",
        raters=1,
        answers=int(fit.answers.trials.sum()),
    )


def _profile_ends(fit: Psychometric, proportion: float, value: float, level: float) -> tuple[float, float]:
    """Return where the profile likelihood falls below its bound on both sides of ``value``."""
    log = fit.shape == "weibull"
    centre = np.log(value) if log else value
    span = fit.answers.levels[-1] - fit.answers.levels[0]
    best = max(fit.log_likelihood, float(_profile(fit, proportion, np.array([centre]))[0]))
    least = best - special.chdtri(1, 1 - level) / 2
    ends = []
    for side in (-1.0, 1.0):
        inner, outer = 0.0, np.inf  # distances from the centre: inside, and the first found outside
        for away in span * np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6]):
            if _profile(fit, proportion, np.array([centre + side * away]))[0] < least:
                outer = away
                break
            inner = away
        while np.isfinite(outer) and outer - inner > 1e-6 * span:
            between = np.linspace(inner, outer, 12)[1:-1]
            outside = _profile(fit, proportion, centre + side * between) < least
            first = int(np.argmax(outside)) if outside.any() else len(between)
            inner, outer = np.append(inner, between)[first], np.append(between, outer)[first]
        ends.append(centre + side * (inner + outer) / 2)
    low, high = np.exp(ends) if log else ends
    return float(low), float(high)


def _profile(fit: Psychometric, proportion: float, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-likelihood of the best function that passes ``proportion`` at each level (levels sought,)."""
    answers, steps = fit.answers, 161
    low, high = _bounds(answers, 2)
    widths = np.linspace(low[1], high[1], steps)
    profile = np.full(len(at), -np.inf)
    for gamma, lam in product(*(_tried(rate, free) for rate, free in _tries(fit))):
        detected = (proportion - gamma) / (1 - gamma - lam)
        if not 0 < detected < 1:
            continue
        lead = (_inverse(fit.shape, detected) - _MIDDLE[fit.shape]) / _REACH[fit.shape]
        middles = at[:, None] - np.exp(widths) * lead  # (levels sought, widths)
        argument = _argument(fit.shape, answers.levels, middles[..., None], widths[:, None])
        chance = np.clip(gamma + (1 - gamma - lam) * _sigmoid(fit.shape, argument)[0], 1e-12, 1 - 1e-12)
        likelihood = np.log(chance) @ answers.right + np.log1p(-chance) @ (answers.trials - answers.right)
        profile = np.maximum(profile, _peak(likelihood))
    return profile


def _peak(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the height of each row's highest point (rows,), by a parabola through it and its neighbours."""
    top = np.clip(np.argmax(curves, axis=1), 1, curves.shape[1] - 2)
    rows = np.arange(len(curves))
    left, middle, right = (curves[rows, top + step] for step in (-1, 0, 1))
    bend = left - 2 * middle + right
    gain = np.where(bend < 0, -((left - right) ** 2) / (8 * np.where(bend < 0, bend, -1.0)), 0.0)
    return np.asarray(np.maximum(middle + gain, curves.max(axis=1)), np.float64)


def _tries(fit: Psychometric) -> tuple[tuple[float, float | None], tuple[float, float | None]]:
    """Return the guess and the lapse rate, each with the most it may be where it was fitted."""
    return (
        (fit.guess, _MOST_GUESSES if fit.free[0] else None),
        (fit.lapse, _MOST_LAPSES if fit.free[1] else None),
    )


def _tried(rate: float, most: float | None) -> list[float]:
    """Return the rates to try: the fixed one, or a grid of those it may be, with the fitted one."""
    return [rate] if most is None else sorted({rate, *np.linspace(0, most, 13).tolist()})


def _collect(levels: ArrayLike, right: ArrayLike, trials: ArrayLike | None, shape: str) -> Answers:
    """Check, and add up by level."""
    if shape not in _REACH:
        raise StatisticsError(f"a psychometric function is one of {', '.join(_REACH)}; found {shape!r}")
    x, k = np.asarray(levels, np.float64), np.asarray(right, np.float64)
    n = np.ones_like(k) if trials is None else np.asarray(trials, np.float64)
    if (
        x.ndim != 1
        or not x.shape == k.shape == n.shape
        or not np.all(np.isfinite(x) & np.isfinite(k) & np.isfinite(n))
    ):
        raise StatisticsError(
            f"a psychometric fit needs finite levels, right answers and trials of one length; found {x.shape}, "
            f"{k.shape}, {n.shape}"
        )
    if np.any((k < 0) | (k > n) | (n <= 0) | (n != np.rint(n))):
        raise StatisticsError(
            "a psychometric fit needs 0 ≤ right ≤ trials, and whole trials above 0; found otherwise"
        )
    if shape == "weibull" and np.any(x <= 0):
        raise StatisticsError("a Weibull function needs levels above 0; use logistic or gaussian")
    distinct, place = np.unique(x, return_inverse=True)
    if len(distinct) < 2:
        raise StatisticsError(f"a psychometric fit needs at least two levels; found {len(distinct)}")
    scale = np.log(distinct) if shape == "weibull" else distinct
    sums = (np.bincount(place, column).astype(np.float64) for column in (k, n))
    return Answers(scale, *sums)


def _bounds(answers: Answers, size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest parameters (params,): middle, log width, and the fitted rates."""
    span = answers.levels[-1] - answers.levels[0]
    gap = np.diff(answers.levels).min()
    low = np.array([answers.levels[0] - span, np.log(gap / 10), *[-_EDGE] * (size - 2)])
    high = np.array([answers.levels[-1] + span, np.log(10 * span), *[_EDGE] * (size - 2)])
    return low, high


def _starts(answers: Answers, shape: Shape, fixed: tuple[float | None, float | None]) -> NDArray[np.float64]:
    """Return the five likeliest points of a coarse grid (starts, params)."""
    size = 2 + sum(rate is None for rate in fixed)
    low, high = _bounds(answers, size)
    axes = [np.linspace(answers.levels[0], answers.levels[-1], 15), np.linspace(low[1], high[1], 14)[1:-1]]
    axes += [np.array([-2.5, 0.0])] * (size - 2)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    likelihood, _, _ = _score(answers.levels, answers.right[None], answers.trials, grid, shape, fixed)
    return np.asarray(grid[np.argsort(likelihood)[-5:]], np.float64)


def _maximise(
    levels: NDArray[np.float64],
    right: NDArray[np.float64],
    trials: NDArray[np.float64],
    starts: NDArray[np.float64],
    shape: Shape,
    fixed: tuple[float | None, float | None],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return parameters (fits, params) and log-likelihoods (fits,) by damped Fisher scoring, all fits at once."""
    low, high = _bounds(Answers(levels, right[0], trials), starts.shape[1])
    right = np.broadcast_to(right, (len(starts), len(levels)))
    best = np.clip(starts, low, high)
    likelihood, gradient, information = _score(levels, right, trials, best, shape, fixed)
    damping = np.full(len(best), 1e-3)
    diagonal = np.arange(best.shape[1])
    active = np.arange(len(best))
    for _ in range(200):
        damped = information[active]
        damped[:, diagonal, diagonal] *= 1 + damping[active, None]
        damped[:, diagonal, diagonal] += 1e-9
        step = np.linalg.solve(damped, gradient[active, :, None])[:, :, 0]
        then = np.clip(best[active] + step, low, high)
        proposed = _score(levels, right[active], trials, then, shape, fixed)
        gain = proposed[0] - likelihood[active]
        better = active[gain >= 0]
        best[better] = then[gain >= 0]
        likelihood[better], gradient[better], information[better] = (part[gain >= 0] for part in proposed)
        damping[active] *= np.where(gain >= 0, 0.1, 10.0)
        going = np.where(gain >= 0, gain > 1e-9, damping[active] < 1e9)
        active = active[going]
        if len(active) == 0:
            break
    return best, likelihood


def _score(
    levels: NDArray[np.float64],
    right: NDArray[np.float64],
    trials: NDArray[np.float64],
    parameters: NDArray[np.float64],
    shape: Shape,
    fixed: tuple[float | None, float | None],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return log-likelihood (fits,), its gradient (fits, params) and Fisher's information (fits, params,
    params)."""
    gamma, lam = (rate[:, None] for rate in _rates(parameters, fixed))
    middle, log_width = parameters[:, :1], parameters[:, 1:2]
    argument = _argument(shape, levels, middle, log_width)  # (fits, levels)
    value, slope = _sigmoid(shape, argument)
    room = 1 - gamma - lam
    chance = np.clip(gamma + room * value, 1e-12, 1 - 1e-12)
    steep = room * slope
    pulls = [-steep * _REACH[shape] / np.exp(log_width), -steep * (argument - _MIDDLE[shape])]
    if fixed[0] is None:
        pulls.append((1 - value) * gamma * (1 - gamma / _MOST_GUESSES))
    if fixed[1] is None:
        pulls.append(-value * lam * (1 - lam / _MOST_LAPSES))
    pull = np.stack(pulls, axis=2)  # (fits, levels, params)
    likelihood = np.sum(right * np.log(chance) + (trials - right) * np.log1p(-chance), axis=1)
    spread = chance * (1 - chance)
    gradient = np.einsum("fl,flp->fp", (right - trials * chance) / spread, pull)
    information = np.einsum("fl,flp,flq->fpq", trials / spread, pull, pull)
    return likelihood, gradient, information


def _argument(
    shape: Shape, levels: NDArray[np.float64], middle: ArrayLike, log_width: ArrayLike
) -> NDArray[np.float64]:
    apart = levels - np.asarray(middle, np.float64)
    return np.asarray(_REACH[shape] * apart / np.exp(np.asarray(log_width)) + _MIDDLE[shape], np.float64)


def _sigmoid(shape: Shape, argument: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return F and its slope in the argument."""
    if shape == "logistic":
        value = special.expit(argument)
        return value, value * (1 - value)
    if shape == "gaussian":
        return special.ndtr(argument), np.exp(-0.5 * argument**2) / np.sqrt(2 * np.pi)
    grown = np.exp(np.minimum(argument, 50.0))
    return -np.expm1(-grown), grown * np.exp(-grown)


def _inverse(shape: Shape, value: ArrayLike) -> NDArray[np.float64]:
    """Return the argument at which F has a value."""
    detected = np.asarray(value, np.float64)
    if shape == "logistic":
        return np.asarray(special.logit(detected), np.float64)
    return np.asarray(special.ndtri(detected) if shape == "gaussian" else np.log(-np.log1p(-detected)), np.float64)


def _levels_at(
    shape: Shape,
    parameters: NDArray[np.float64],
    gamma: NDArray[np.float64],
    lam: NDArray[np.float64],
    proportion: float,
) -> NDArray[np.float64]:
    """Return where ψ = proportion for each fit (fits,); nan where it never is."""
    detected = (proportion - gamma) / (1 - gamma - lam)
    passed = (detected > 0) & (detected < 1)
    argument = _inverse(shape, np.where(passed, detected, 0.5))
    x = parameters[:, 0] + np.exp(parameters[:, 1]) * (argument - _MIDDLE[shape]) / _REACH[shape]
    return np.where(passed, np.exp(x) if shape == "weibull" else x, np.nan)


def _rates(
    parameters: NDArray[np.float64], fixed: tuple[float | None, float | None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return guess and lapse rates (fits,) each: the fixed ones, or those in the parameters."""
    column, rates = 2, []
    for rate, most in zip(fixed, (_MOST_GUESSES, _MOST_LAPSES), strict=True):
        if rate is None:
            rates.append(most * special.expit(parameters[:, column]))
            column += 1
        else:
            rates.append(np.full(len(parameters), rate))
    return rates[0], rates[1]
