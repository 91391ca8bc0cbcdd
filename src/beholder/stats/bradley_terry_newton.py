"""Newton's method for Davidson's model, over many draws at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.bradley_terry_likelihood import Model, Tally, expect, information, log_likelihood, score
from beholder.stats.win_graph import strongly_connected

_STEPS = 200
_TOLERANCE = 1e-9  # of the largest step of a parameter
_SURE = 0.1  # steps up to this length are taken unchecked: Newton's method is near its end
_NO_GAIN = 1e-8  # of log-likelihood: a longer step for less climbs an endless slope
_LONGEST = 5.0


@dataclass(frozen=True, eq=False)
class Fits:
    """What was found for each draw."""

    parameters: NDArray[np.float64]  # (draws, params)
    log_likelihood: NDArray[np.float64]  # (draws,) of the votes given, pseudo-votes left out
    prior: NDArray[np.bool_]  # (draws,) whether pseudo-votes were added


def fit_totals(
    model: Model, totals: NDArray[np.float64], start: NDArray[np.float64] | None, *, prior: bool = False
) -> Fits:
    """Maximise the likelihood of each draw of ``totals`` (draws, pairs, 3), from ``start`` (params,) or zero.

    Pseudo-votes are added in a draw whose maximum would not be finite; with ``prior``, in every draw. Such draws
    are known beforehand (win graph not strongly connected; no ties, or nothing but ties, where δ is fitted) or
    show by climbing an endless slope: γ, where the side decides all, or d and δ together, where an item only wins
    and ties (ties bound d for a given δ only).
    """
    needs = np.full(len(totals), prior) | ~strongly_connected(model.pairs, totals, model.items)
    if model.tie is not None:
        needs |= (totals[:, :, 2].sum(axis=1) == 0) | (totals[:, :, :2].sum(axis=(1, 2)) == 0)
    origin = np.zeros(model.size) if start is None else start
    tally = Tally.of(totals + np.where(needs[:, None, None], model.prior, 0.0))
    beta, runaway = _newton(model, tally, np.tile(origin, (len(totals), 1)))
    again = np.flatnonzero(runaway & ~needs)
    if len(again):
        needs[again] = True
        tally = Tally.of(totals[again] + model.prior)
        beta[again], runaway[again] = _newton(model, tally, np.tile(origin, (len(again), 1)))
    if runaway.any():
        raise StatisticsError(
            f"Davidson's model has no finite fit in {int(runaway.sum())} of {len(totals)} draws, though each "
            f"compared pair had pseudo-votes; found {totals.sum(axis=(1, 2)).max():.3g} votes a draw"
        )
    value = log_likelihood(model, beta, Tally.of(totals), expect(model, beta))
    return Fits(beta, value, needs)


def _newton(
    model: Model, tally: Tally, start: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the maximum of each draw from ``start`` (draws, params), and which draws have no finite one.

    On an endless slope Newton's steps stay near 1 while what they gain goes to 0. Finished draws leave the batch.
    """
    beta = start.copy()
    runaway = np.zeros(len(beta), np.bool_)
    active = np.arange(len(beta))
    for _ in range(_STEPS):
        now = beta[active]
        expected = expect(model, now)
        gradient = score(model, tally, expected)
        step = np.linalg.solve(information(model, tally, expected), gradient[:, :, None])[:, :, 0]
        new = _climb(model, tally, now, np.asarray(step, np.float64), log_likelihood(model, now, tally, expected))
        beta[active] = new
        gain = np.einsum("dp,dp->d", step, gradient)  # of a full step, to second order twice the climb
        lost = (gain < _NO_GAIN) & (np.abs(step).max(axis=1) > _SURE)
        runaway[active[lost]] = True
        going = np.flatnonzero((np.abs(new - now).max(axis=1) > _TOLERANCE) & ~lost)
        if len(going) == 0:
            return beta, runaway
        if len(going) < len(active):
            active, tally = active[going], tally.take(going)
    runaway[active] = True
    return beta, runaway


def _climb(
    model: Model,
    tally: Tally,
    beta: NDArray[np.float64],
    step: NDArray[np.float64],
    value: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return beta + step; a long step is cut, and halved while it lowers a draw's likelihood ``value``."""
    length = np.abs(step).max(axis=1)
    scale = np.minimum(1.0, _LONGEST / np.maximum(length, _LONGEST))  # (draws,)
    doubtful = np.flatnonzero(length > _SURE)
    for _ in range(40):
        if len(doubtful) == 0:
            break
        trial = beta[doubtful] + scale[doubtful, None] * step[doubtful]
        reached = log_likelihood(model, trial, tally.take(doubtful), expect(model, trial))
        worse = reached < value[doubtful] - 1e-9 * np.abs(value[doubtful])
        doubtful = doubtful[worse]
        scale[doubtful] /= 2
    return np.asarray(beta + scale[:, None] * step, np.float64)
