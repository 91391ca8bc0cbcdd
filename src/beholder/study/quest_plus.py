"""QUEST+ for exposures (Watson 2017): the most informative exposure about a rater's threshold.

The probability of a correct answer at exposure t is a Weibull function from chance to 1 − lapse,

    p(t) = γ + (1 − γ − λ) · (1 − exp(−10^(slope · (log₁₀ t − threshold) )))        with γ = ½,

the posterior over (threshold, slope, lapse) is computed on a grid, and the next exposure is the one with the least
expected entropy of the posterior after its answer.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

CHANCE = 0.5
SLOPES = (1.0, 2.0, 3.5, 5.0)
LAPSES = (0.0, 0.02, 0.05)
THRESHOLDS = 40
EXPOSURES = 46
BEYOND = 0.3
"""How far, in powers of ten, the grid of thresholds extends beyond the exposures that can be shown."""


@dataclass(frozen=True)
class QuestPlus:
    """The grid: candidate exposures, and the probability correct at each for each set of parameters."""

    exposures: NDArray[np.float64]  # (exposures,) in ms
    thresholds: NDArray[np.float64]  # (parameters,) in ms
    right: NDArray[np.float64]  # (exposures, parameters)

    def posterior(self, past_exposures: list[float], right: list[bool]) -> NDArray[np.float64]:
        """Return the posterior probability of each set of parameters under a flat prior; (parameters,)."""
        log = np.zeros(self.right.shape[1])
        for exposure, answer in zip(past_exposures, right, strict=True):
            chance = self.right[self._nearest(exposure)]
            log += np.log(chance if answer else 1 - chance)
        weights = np.exp(log - log.max())
        return np.asarray(weights / weights.sum())

    def next_exposure(self, past_exposures: list[float], right: list[bool]) -> float:
        """Return the exposure with the least expected entropy of the posterior."""
        prior = self.posterior(past_exposures, right)
        chance = self.right @ prior  # (exposures,) to be right
        after_right = self.right * prior / chance[:, None]  # (exposures, parameters)
        after_wrong = (1 - self.right) * prior / (1 - chance)[:, None]
        expected = chance * _entropy(after_right) + (1 - chance) * _entropy(after_wrong)
        return float(self.exposures[int(np.argmin(expected))])

    def threshold(self, past_exposures: list[float], right: list[bool]) -> float:
        """Return the posterior mean of the threshold, taken on the logarithmic scale, in ms."""
        return float(10 ** (self.posterior(past_exposures, right) @ np.log10(self.thresholds)))

    def _nearest(self, exposure: float) -> int:
        return int(np.argmin(np.abs(self.exposures - exposure)))


@lru_cache(32)
def quest_plus(shortest_ms: float, longest_ms: float) -> QuestPlus:
    """Return the grid for exposures between two limits, evenly spaced on the logarithmic scale."""
    low, high = np.log10(shortest_ms), np.log10(longest_ms)
    exposures = np.round(np.logspace(low, high, EXPOSURES), 1)
    candidates = np.linspace(low - BEYOND, high + BEYOND, THRESHOLDS)
    threshold, slope, lapse = (axis.ravel() for axis in np.meshgrid(candidates, SLOPES, LAPSES, indexing="ij"))
    steep = 10 ** (slope * (np.log10(exposures)[:, None] - threshold))
    right = CHANCE + (1 - CHANCE - lapse) * (1 - np.exp(-steep))
    return QuestPlus(exposures, 10**threshold, np.clip(right, 1e-6, 1 - 1e-6))


def _entropy(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy of each row in nats; (rows,)."""
    return np.asarray(-np.sum(weights * np.log(np.maximum(weights, 1e-300)), axis=1))
