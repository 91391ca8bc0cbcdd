"""Drift of a rater's accuracy: a CUSUM on gold trials, with its false-alarm rate.

With baseline p₀ and the drop δ to be found, each gold trial adds the log likelihood ratio of p₀ − δ against p₀:

    S ← max(0, S + log((p₀ − δ)/p₀))        after a right answer,
    S ← max(0, S + log((1 − p₀ + δ)/(1 − p₀))) after a wrong one.

An alarm is S ≥ h. The threshold h is the one at which a rater who did not change has an alarm within a number
of gold trials with a given probability, computed from the Markov chain of S on a grid (Brook and Evans 1972),
and averaged over what the baseline may really be where it was itself estimated from few trials.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy import stats as distributions

from beholder.errors import StatisticsError

DROP = 0.15
HORIZON = 200
FALSE_ALARMS = 0.045
"""A little below 5 %, because a baseline is never known exactly."""
HIGHEST, LOWEST = 0.97, 0.52
"""Between which a baseline is used: at 1 a single wrong answer would be an alarm."""

CELLS = 400
NODES = 25
"""Quantiles of the baseline over which false alarms are averaged."""


@dataclass(frozen=True, eq=False)
class Drift:
    """The CUSUM of one rater."""

    statistic: NDArray[np.float64]  # (trials,) S after each gold trial
    threshold: float
    alarm: int | None
    """the gold trial, from 0, at which S first reached the threshold"""
    change: int | None
    """the gold trial from which on S had risen: the estimate of when the change happened"""
    baseline: float
    baseline_trials: float
    drop: float
    false_alarms: float
    """probability of an alarm within ``horizon`` gold trials without a change"""
    horizon: int


def find_drift(
    right: ArrayLike,
    *,
    baseline: float,
    baseline_trials: float = math.inf,
    drop: float = DROP,
    horizon: int = HORIZON,
    false_alarms: float = FALSE_ALARMS,
) -> Drift:
    """Run the CUSUM over a rater's gold trials.

    Args:
        right: Whether each was answered correctly, in order of time (trials,).
        baseline: The accuracy before, such as of the first gold trials.
        baseline_trials: Gold trials that the baseline rests on; infinite: it is known.
        drop: In accuracy, to be found.
        horizon: Gold trials to which the false-alarm rate refers.
        false_alarms: Probability of an alarm within them if nothing changed.

    Returns:
        The statistic, the threshold, and where the alarm was, if any.

    Example:
        >>> drift = find_drift([1] * 20 + [0, 1] * 10, baseline=0.9)
        >>> drift.alarm, drift.change
        (32, 20)
    """
    answers = np.asarray(right, np.bool_)
    base = min(max(baseline, LOWEST), HIGHEST)
    after_right, after_wrong = steps(base, drop)
    threshold = alarm_threshold(
        round(base, 2), round(baseline_trials, 0), drop=drop, horizon=horizon, false_alarms=false_alarms
    )
    statistic = np.zeros(len(answers))
    level, zero, alarm, change = 0.0, 0, None, None
    for trial, is_right in enumerate(answers):
        level = max(0.0, level + (after_right if is_right else after_wrong))
        if level == 0.0:
            zero = trial + 1
        statistic[trial] = level
        if alarm is None and level >= threshold:
            alarm, change = trial, zero
    return Drift(statistic, threshold, alarm, change, baseline, baseline_trials, drop, false_alarms, horizon)


def steps(baseline: float, drop: float = DROP) -> tuple[float, float]:
    """Return by how much S changes after a right and after a wrong answer.

    Args:
        baseline: The accuracy before.
        drop: In accuracy.

    Returns:
        The log likelihood ratios, the first below 0 and the second above.

    Example:
        >>> [round(step, 3) for step in steps(0.9)]  # log(.75/.9), log(.25/.1)
        [-0.182, 0.916]
    """
    lower = baseline - drop
    if not 0 < lower < baseline < 1:
        raise StatisticsError(f"a drop of {drop} from {baseline} must leave an accuracy between 0 and 1")
    return math.log(lower / baseline), math.log((1 - lower) / (1 - baseline))


@lru_cache(maxsize=1024)
def alarm_threshold(
    baseline: float,
    baseline_trials: float = math.inf,
    *,
    drop: float = DROP,
    horizon: int = HORIZON,
    false_alarms: float = FALSE_ALARMS,
) -> float:
    """Return the threshold h at which a rater who did not change has an alarm with the given probability.

    Args:
        baseline: The accuracy, or its estimate.
        baseline_trials: Gold trials behind the estimate; infinite: it is known.
        drop: In accuracy.
        horizon: Gold trials within which the alarm may come.
        false_alarms: Its probability.

    Returns:
        The threshold.

    Example:
        >>> 4.5 < alarm_threshold(0.8) < 5.2
        True
    """
    if not 0 < false_alarms < 1 or horizon < 1:
        raise StatisticsError(
            f"a threshold needs a rate between 0 and 1; found {false_alarms} in {horizon} trials"
        )
    if math.isinf(baseline_trials):
        accuracies = np.array([baseline])
    else:
        strength = max(baseline_trials, 2.0)
        quantiles = (np.arange(NODES) + 0.5) / NODES
        accuracies = distributions.beta.ppf(quantiles, baseline * strength, (1 - baseline) * strength)
    low, high = 0.5, 40.0
    for _ in range(14):
        middle = (low + high) / 2
        rate = alarm_rates(middle, accuracies, baseline, drop, horizon).mean()
        low, high = (middle, high) if rate > false_alarms else (low, middle)
    return high


def alarm_rates(
    threshold: float, accuracies: ArrayLike, baseline: float, drop: float, horizon: int
) -> NDArray[np.float64]:
    """Return the probability of an alarm within ``horizon`` gold trials, by the Markov chain of S on a grid.

    Args:
        threshold: h.
        accuracies: True accuracies of raters (raters,).
        baseline: The accuracy that the CUSUM assumes.
        drop: The drop that it looks for.
        horizon: Gold trials.

    Returns:
        The probabilities (raters,).

    Example:
        >>> alarm_rates(0.5, [0.5, 0.8], 0.9, 0.15, 1).round(3).tolist()  # one wrong answer is enough
        [0.5, 0.2]
    """
    chances = np.asarray(accuracies, np.float64)
    after_right, after_wrong = (_moves(threshold, step) for step in steps(baseline, drop))
    state = np.zeros((CELLS, len(chances)))
    state[0] = 1.0
    for _ in range(horizon):
        state = after_right @ (state * chances) + after_wrong @ (state * (1 - chances))
    return np.asarray(1 - state.sum(axis=0), np.float64)


def _moves(threshold: float, step: float) -> sparse.csr_array:
    """Return where each cell of S goes by a step (to, from), between two cells by interpolation; alarms leave."""
    places = np.maximum(np.arange(CELLS) + step * CELLS / threshold, 0.0)
    inside = np.flatnonzero(places < CELLS)
    floor = np.floor(places[inside]).astype(np.int64)
    rest = places[inside] - floor
    columns = np.concatenate([inside, inside])
    rows = np.concatenate([floor, np.minimum(floor + 1, CELLS - 1)])  # beyond the last cell it is no alarm yet
    return sparse.csr_array((np.concatenate([1 - rest, rest]), (rows, columns)), shape=(CELLS, CELLS))
