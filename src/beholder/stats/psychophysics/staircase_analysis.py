"""What a staircase of exposures says: where it turned, where it stayed, and where it must settle.

A staircase goes down by ``down`` after ``right_in_a_row`` right answers and up by ``up`` after a wrong one. It
is a Markov chain over (level, right answers so far), from which follows where it spends its time for a given
observer.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from beholder.errors import StatisticsError

FEWEST_REVERSALS = 6
MOST_AT_LIMIT = 0.5


@dataclass(frozen=True)
class StaircaseRun:
    """One block of trials, summed up."""

    mode: float  # the most frequent level (HYPE's own measure); of several, the lowest
    reversal_mean: float  # mean level at the reversals after the first ones; nan with fewer than two of them
    reversals: int
    floor_rate: float  # of trials at the lowest level allowed
    ceiling_rate: float  # of trials at the highest level allowed
    proportion_correct: float
    converged: bool  # at least six reversals, and at most half of the trials at a limit
    trials: int


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Where a staircase spends its time after long."""

    proportion_correct: float
    mean_level: float
    levels: NDArray[np.float64]  # (levels,)
    distribution: NDArray[np.float64]  # (levels,) proportion of trials at each


def summarise_staircase(
    levels: ArrayLike, right: ArrayLike, *, floor: float, ceiling: float, skip_reversals: int = 4
) -> StaircaseRun:
    """Sum up the ``levels`` (trials,) shown in one block and whether each answer was ``right`` (trials,)."""
    level, answer = np.asarray(levels, np.float64), np.asarray(right, np.float64)
    if level.ndim != 1 or level.shape != answer.shape or len(level) == 0:
        raise StatisticsError(
            f"a staircase needs levels and answers of one length, not 0; found {level.shape}, {answer.shape}"
        )
    if not np.all(np.isfinite(level)) or not np.all(np.isin(answer, (0, 1))):
        raise StatisticsError("a staircase needs finite levels and answers of 0 or 1; found others")
    turns = reversals(level)
    late = level[turns[skip_reversals:]]
    at_floor, at_ceiling = float(np.mean(level <= floor)), float(np.mean(level >= ceiling))
    return StaircaseRun(
        mode=modal_level(level),
        reversal_mean=float(late.mean()) if len(late) >= 2 else float(np.nan),
        reversals=len(turns),
        floor_rate=at_floor,
        ceiling_rate=at_ceiling,
        proportion_correct=float(answer.mean()),
        converged=len(turns) >= FEWEST_REVERSALS and max(at_floor, at_ceiling) <= MOST_AT_LIMIT,
        trials=len(level),
    )


def reversals(levels: ArrayLike) -> NDArray[np.int64]:
    """Return the trials at which the staircase had gone as far as it did before turning; plateaus count once."""
    level = np.asarray(levels, np.float64)
    change = np.diff(level)
    moves = np.flatnonzero(change)  # trial after which the level changed
    turned = np.sign(change[moves[1:]]) != np.sign(change[moves[:-1]])
    return np.asarray(moves[1:][turned], np.int64)


def modal_level(levels: ArrayLike) -> float:
    """Return the most frequent level; of several, the lowest. Levels are rounded to a thousandth."""
    values, counts = np.unique(np.round(np.asarray(levels, np.float64), 3), return_counts=True)
    return float(values[np.argmax(counts)])


def balanced_proportion(*, down: float, up: float, right_in_a_row: int = 1) -> float:
    """Return the proportion of right answers at which the staircase neither rises nor falls on average.

    At a constant chance p, the right answers so far (0 … k − 1) are a Markov chain of their own; the level
    drifts by up · (1 − p) − down · p · P(k − 1 so far) per trial, which is 0 at p = (up/(up + down))^(1/k).
    """
    _check_steps(down, up, right_in_a_row)

    def drift(p: float) -> float:
        so_far = p ** np.arange(right_in_a_row)
        so_far /= so_far.sum()  # stationary: each count is p times as frequent as the one before
        return float(up * (1 - p) - down * p * so_far[-1])

    return float(optimize.brentq(drift, 1e-12, 1 - 1e-12, xtol=1e-14))


def equilibrium(
    chance: ArrayLike, levels: ArrayLike, *, down: int, up: int, right_in_a_row: int = 1
) -> Equilibrium:
    """Return where a staircase spends its time, for an observer right with ``chance`` (levels,) at each level.

    ``levels`` (levels,) are evenly spaced and all there are: a step beyond the lowest or highest stops there.
    ``down`` and ``up`` are steps in numbers of levels.
    """
    p, scale = np.asarray(chance, np.float64), np.asarray(levels, np.float64)
    _check_steps(down, up, right_in_a_row)
    if p.ndim != 1 or p.shape != scale.shape or len(p) < 2 or not np.all((p >= 0) & (p <= 1)):
        raise StatisticsError(
            f"an equilibrium needs a chance in [0, 1] for each level; found {p.shape}, {scale.shape}"
        )
    p = np.clip(p, 1e-12, 1 - 1e-12)  # so that every level can be left
    count, k = len(p), right_in_a_row
    state = np.arange(count * k).reshape(count, k)  # (levels, right so far)
    moves = np.zeros((count * k, count * k))
    place = np.arange(count)
    for so_far in range(k):
        moves[state[:, so_far], state[np.minimum(place + up, count - 1), 0]] += 1 - p
        onward = state[place, so_far + 1] if so_far + 1 < k else state[np.maximum(place - down, 0), 0]
        moves[state[:, so_far], onward] += p
    stationary = _stationary(moves).reshape(count, k).sum(axis=1)
    return Equilibrium(float(stationary @ p), float(stationary @ scale), scale, stationary)


def _stationary(moves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return π with π P = π and Σ π = 1, for chances P (states, states)."""
    size = len(moves)
    equations = np.vstack([moves.T - np.eye(size), np.ones(size)])
    solution = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
    return np.asarray(np.clip(solution, 0, None) / np.clip(solution, 0, None).sum(), np.float64)


def _check_steps(down: float, up: float, right_in_a_row: int) -> None:
    if not (down > 0 and up > 0 and right_in_a_row >= 1):
        raise StatisticsError(
            f"steps must be above 0 and answers in a row at least 1; found {down}, {up}, {right_in_a_row}"
        )
