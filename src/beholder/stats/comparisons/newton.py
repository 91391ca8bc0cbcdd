"""Newton's method for concave log-likelihoods, over many bootstrap replicates at once."""

from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

_STEPS = 200
_TOLERANCE = 1e-9  # of the largest step of a parameter
_CLOSE = 1e-3  # after a step of at most this length the curvature is kept: it hardly changes any more
_SURE = 0.1  # steps up to this length are taken unchecked: Newton's method is near its end
_NO_GAIN = 1e-8  # of log-likelihood: a longer step for less climbs an endless slope
_LONGEST = 5.0


class Likelihood(Protocol):
    """A log-likelihood for each replicate; ``beta`` is (replicates, params), or (1, params) for all."""

    def take(self, replicates: NDArray[np.int64]) -> Self:
        """Keep some of the replicates."""
        ...

    def value(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihood (replicates,)."""
        ...

    def slope(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its gradient (replicates, params)."""
        ...

    def curve(self, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return its gradient, and its negative Hessian made positive definite (replicates, params, params)."""
        ...


def maximise(
    likelihood: Likelihood, start: NDArray[np.float64], replicates: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the maximum of each replicate (replicates, params), and which have no finite one (replicates,).

    All replicates begin at ``start`` (params,). The last step of each is at most 1e-9 long. On an endless slope
    Newton's steps stay near 1 while what they gain goes to 0. Finished replicates leave the batch.
    """
    beta = np.tile(start, (replicates, 1))
    runaway = np.zeros(replicates, np.bool_)
    active = np.arange(replicates)
    now, curvature = start[None], np.empty(0)
    renew = True
    for _ in range(_STEPS):
        if renew:
            gradient, curvature = likelihood.curve(now)
        else:
            gradient = likelihood.slope(now)
        step = np.asarray(np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0], np.float64)
        length = np.abs(step).max(axis=1)
        new = _climb(likelihood, now, step, length)
        beta[active] = new
        gain = np.einsum("dp,dp->d", step, gradient)  # of a full step, to second order twice the climb
        lost = (gain < _NO_GAIN) & (length > _SURE)
        runaway[active[lost]] = True
        going = np.flatnonzero((length > _TOLERANCE) & ~lost)
        if len(going) == 0:
            return beta, runaway
        renew = bool((length[going] > _CLOSE).any())
        if len(going) < len(active):
            active, likelihood = active[going], likelihood.take(going)
            curvature = curvature[going]
        now = beta[active]
    runaway[active] = True
    return beta, runaway


def _climb(
    likelihood: Likelihood, beta: NDArray[np.float64], step: NDArray[np.float64], length: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return beta + step; a long step is cut, and halved while it lowers a replicate's likelihood."""
    scale = np.minimum(1.0, _LONGEST / np.maximum(length, _LONGEST))  # (replicates,)
    doubtful = np.flatnonzero(length > _SURE)
    if len(doubtful):
        origin = np.broadcast_to(beta, step.shape)
        before = likelihood.take(doubtful).value(origin[doubtful])
    for _ in range(40):
        if len(doubtful) == 0:
            break
        reached = likelihood.take(doubtful).value(origin[doubtful] + scale[doubtful, None] * step[doubtful])
        worse = reached < before - 1e-9 * np.abs(before)
        doubtful, before = doubtful[worse], before[worse]
        scale[doubtful] /= 2
    return np.asarray(beta + scale[:, None] * step, np.float64)
