"""Likelihood-ratio tests and intervals of contrasts, along lines through the maximum of a log-likelihood.

A contrast ψ = cᵀθ of the parameters θ is moved from its estimate to a value ψ₀ along the line on which all else
adapts to first order,

    θ(ψ₀) = θ̂ + (ψ₀ − ψ̂) v,    v = H⁻¹c / (cᵀH⁻¹c),

and what the log-likelihood ℓ loses by that is measured on the scale of a normal score:

    r(ψ₀) = ± √(2 (ℓ(θ̂) − ℓ(θ(ψ₀)))).

Near the estimate r is (ψ̂ − ψ₀)/SE with the model's SE = √(cᵀH⁻¹c); further away it follows the likelihood,
which falls slowly where a generator wins almost always and log-odds could be much larger. On its line ℓ has the
first three derivatives of the profile likelihood, so no maximum has to be found again. H is the negative Hessian
at θ̂.

Answers of one rater belong together, so r is divided by the standard error over raters relative to the model's.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 200
_TOLERANCE = 1e-10  # of a limit, relative to its distance from the estimate


@dataclass(frozen=True, eq=False)
class LikelihoodLines:
    """A log-likelihood at its maximum; the first parameters are the ratings of cells."""

    value: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # (points, params) → (points,)
    maximum: NDArray[np.float64]  # (params,)
    covariance: NDArray[np.float64]  # (params, params) H⁻¹
    top: float = field(init=False)  # the value at the maximum

    def __post_init__(self) -> None:
        object.__setattr__(self, "top", float(self.value(self.maximum[None])[0]))

    def errors(self, contrasts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the model's standard error of each contrast of cells (contrasts, cells)."""
        variance = np.einsum("kp,kp->k", self._turned(contrasts), self._padded(contrasts))
        return np.asarray(np.sqrt(variance), np.float64)

    def roots(self, contrasts: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far ``values`` (contrasts,) lie below the estimates on the scale of a normal score.

        Args:
            contrasts: What each cell is multiplied by (contrasts, cells).
            values: The value of each contrast that is tested.

        Returns:
            r, positive where the estimate is above the value.

        Example:
            >>> from scipy import special  # 8 votes for one of two cells, 2 for the other: θ̂ = ± log(4)/2
            >>> def value(theta: NDArray[np.float64]) -> NDArray[np.float64]:
            ...     gap = theta[:, 0] - theta[:, 1]
            ...     return 8 * special.log_expit(gap) + 2 * special.log_expit(-gap)
            >>> votes = LikelihoodLines(value, np.log([2, 0.5]), np.array([[1, -1], [-1, 1]]) / 6.4)
            >>> votes.roots(np.array([[1.0, -1.0]]), np.zeros(1)).round(4).tolist()  # √(2 Σ k log(k/5)), k = 8, 2
            [1.9634]
        """
        steps = values - self._padded(contrasts) @ self.maximum
        return np.asarray(-np.sign(steps) * np.sqrt(self._falls(self._directions(contrasts), steps)), np.float64)

    def limits(
        self, contrasts: NDArray[np.float64], reach: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values of each contrast (contrasts,) at which r is ``reach`` and −``reach``.

        Args:
            contrasts: What each cell is multiplied by (contrasts, cells).
            reach: A normal score for each contrast; nan gives nan.

        Returns:
            Lower and upper limits.

        Example:
            >>> flat = LikelihoodLines(lambda theta: -2 * theta[:, 0] ** 2, np.zeros(1), np.array([[0.25]]))
            >>> low, high = flat.limits(np.array([[1.0]]), np.array([2.0]))  # normal with standard error .5
            >>> low.round(6).tolist(), high.round(6).tolist()
            ([-1.0], [1.0])
        """
        estimate, error = self._padded(contrasts) @ self.maximum, self.errors(contrasts)
        directions = self._directions(contrasts)
        low, high = (estimate + s * self._distance(s * directions, error, reach) for s in (-1.0, 1.0))
        return low, high

    def _distance(
        self, directions: NDArray[np.float64], error: NDArray[np.float64], reach: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how far to go until r is ``reach``: doubling, then secants that stay between both ends."""
        now = np.where(np.isfinite(reach) & (error > 0), reach * error, np.nan)
        near, far, before = np.zeros_like(now), np.full_like(now, np.inf), np.zeros_like(now)
        height_before = -reach
        for _ in range(_ROUNDS):
            height = np.sqrt(self._falls(directions, now)) - reach
            if not np.any(np.abs(height) > _TOLERANCE * reach):  # nan compares as False
                break
            near, far = np.where(height < 0, now, near), np.where(height < 0, far, now)
            with np.errstate(divide="ignore", invalid="ignore"):
                secant = now - height * (now - before) / (height - height_before)
            middle = np.where(np.isfinite(far), (near + far) / 2, 2 * now)
            before, height_before = now, height
            now = np.where((secant > near) & (secant < np.minimum(far, 4 * now)), secant, middle)
            now = np.where(height == 0, before, now)
        return np.asarray(now, np.float64)

    def _falls(self, directions: NDArray[np.float64], steps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return twice the loss of log-likelihood (lines,) after a step along each direction."""
        return np.maximum(2 * (self.top - self.value(self.maximum + steps[:, None] * directions)), 0.0)

    def _directions(self, contrasts: NDArray[np.float64]) -> NDArray[np.float64]:
        turned = self._turned(contrasts)
        length = np.einsum("kp,kp->k", turned, self._padded(contrasts))
        return np.asarray(turned / length[:, None], np.float64)

    def _turned(self, contrasts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._padded(contrasts) @ self.covariance, np.float64)

    def _padded(self, contrasts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the contrasts over all parameters; those that are no ratings take no part."""
        others = np.zeros((len(contrasts), len(self.maximum) - contrasts.shape[1]))
        return np.concatenate([contrasts, others], axis=1)
