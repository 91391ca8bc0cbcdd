"""The distribution of the range of k standard normal means over an independent standard deviation.

    P(range ≤ q) = ∫ g(s) · k ∫ φ(z) (Φ(z) − Φ(z − qs))^{k−1} dz ds,    s = √(χ²_ν/ν)

Both integrands are smooth and die off at both ends (the outer one in x = log s), where the trapezoidal rule
converges faster than any power of the step. Made because scipy's quantile takes some .4 s for each pair.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

_Z = np.linspace(-9.0, 9.0, 81)  # the inner variable
_STEPS, _FEW_STEPS = 64, 600  # of the outer variable: its density has a long left tail where degrees are few
_FEW = 8  # degrees of freedom


def range_cdf(q: ArrayLike, k: int, degrees: ArrayLike) -> NDArray[np.float64]:
    """Return P(range of k ≤ q) with ν ``degrees`` of freedom, to about 1e-10; q and degrees broadcast to (n,)."""
    reach, spare = np.broadcast_arrays(np.atleast_1d(np.asarray(q, np.float64)), np.asarray(degrees, np.float64))
    few = spare < _FEW
    probability = np.empty(reach.shape)
    probability[few] = _cdf(reach[few], k, spare[few], _FEW_STEPS)
    probability[~few] = _cdf(reach[~few], k, spare[~few], _STEPS)
    return np.clip(probability, 0.0, 1.0)


def range_quantile(level: float, k: int, degrees: ArrayLike) -> NDArray[np.float64]:
    """Return q with P(range of k ≤ q) = ``level`` for each number of degrees (n,), by secants with a bracket."""
    spare = np.atleast_1d(np.asarray(degrees, np.float64))
    low, high = np.zeros(len(spare)), np.full(len(spare), 6.0)
    below, above = np.full(len(spare), -level), range_cdf(high, k, spare) - level
    while np.any(short := above < 0):
        low, below = np.where(short, high, low), np.where(short, above, below)
        high = np.where(short, 2 * high, high)
        above = range_cdf(high, k, spare) - level
    for _ in range(60):
        guess = high - above * (high - low) / (above - below)
        value = range_cdf(guess, k, spare) - level
        if np.all(np.abs(value) < 1e-12):
            break
        left = value < 0  # the Illinois rule: the end that stays has its weight halved
        below, above = np.where(left, value, below / 2), np.where(left, above / 2, value)
        low, high = np.where(left, guess, low), np.where(left, high, guess)
    return np.asarray(guess, np.float64)


def normal_range_cdf(q: ArrayLike, k: int) -> NDArray[np.float64]:
    """Return P(range of k standard normal means ≤ q) for each q (n,): endlessly many degrees of freedom."""
    reach = np.atleast_1d(np.asarray(q, np.float64))
    gap = special.ndtr(_Z) - special.ndtr(_Z - reach[:, None])  # (n, z)
    density = np.exp(-0.5 * _Z**2) / np.sqrt(2 * np.pi) * (_Z[1] - _Z[0]) * k
    return np.asarray(np.clip(gap ** (k - 1) @ density, 0.0, 1.0), np.float64)


def _cdf(q: NDArray[np.float64], k: int, degrees: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Return the double integral (n,)."""
    scale = 1 / np.sqrt(2 * degrees)
    left = -np.maximum(9 * scale, 40 / degrees)
    right = np.minimum(9 * scale, 0.5 * np.log1p(100 / degrees) + 1)
    x = np.linspace(left, right, steps, axis=1)  # (n, steps) log s
    half = degrees[:, None] / 2
    log_density = (
        half * np.log(2 * half)
        - special.gammaln(half)
        - (half - 1) * np.log(2)
        + 2 * half * x
        - half * np.exp(2 * x)
    )
    inner = np.empty_like(x)
    upper = special.ndtr(_Z)
    density = np.exp(-0.5 * _Z**2) / np.sqrt(2 * np.pi) * (_Z[1] - _Z[0]) * k
    for row in range(len(q)):
        gap = upper - special.ndtr(_Z - (q[row] * np.exp(x[row]))[:, None])  # (steps, z)
        inner[row] = gap ** (k - 1) @ density
    return np.asarray(np.sum(np.exp(log_density) * inner, axis=1) * (right - left) / (steps - 1), np.float64)
