"""QUEST+ for exposures (Watson 2017): the exposure that promises to tell most about a person's threshold.

The chance to be right at exposure t is a Weibull function from chance to 1 − lapse,

    p(t) = γ + (1 − γ − λ) · (1 − exp(−10^(slope · (log₁₀ t − threshold) )))        with γ = ½,

the posterior over (threshold, slope, lapse) lives on a grid, and the next exposure is the one whose answer is
expected to leave the least entropy.
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
"""How far, in powers of ten, thresholds are thought possible beyond the exposures that can be shown."""


@dataclass(frozen=True)
class QuestPlus:
    """The grid between two exposures: candidates to show, and the chance to be right at each for each person."""

    exposures: NDArray[np.float64]  # (exposures,) in ms
    thresholds: NDArray[np.float64]  # (parameters,) in ms
    right: NDArray[np.float64]  # (exposures, parameters)

    def posterior(self, shown: list[float], right: list[bool]) -> NDArray[np.float64]:
        """How likely each set of parameters is after these answers, from a flat start; (parameters,)."""
        log = np.zeros(self.right.shape[1])
        for exposure, answer in zip(shown, right, strict=True):
            chance = self.right[self._nearest(exposure)]
            log += np.log(chance if answer else 1 - chance)
        weights = np.exp(log - log.max())
        return np.asarray(weights / weights.sum())

    def next_exposure(self, shown: list[float], right: list[bool]) -> float:
        """The exposure with the least expected entropy of the posterior."""
        prior = self.posterior(shown, right)
        chance = self.right @ prior  # (exposures,) to be right
        after_right = self.right * prior / chance[:, None]  # (exposures, parameters)
        after_wrong = (1 - self.right) * prior / (1 - chance)[:, None]
        expected = chance * _entropy(after_right) + (1 - chance) * _entropy(after_wrong)
        return float(self.exposures[int(np.argmin(expected))])

    def threshold(self, shown: list[float], right: list[bool]) -> float:
        """The mean threshold of the posterior, on the logarithmic scale, in ms."""
        return float(10 ** (self.posterior(shown, right) @ np.log10(self.thresholds)))

    def _nearest(self, exposure: float) -> int:
        return int(np.argmin(np.abs(self.exposures - exposure)))


@lru_cache(32)
def quest_plus(shortest_ms: float, longest_ms: float) -> QuestPlus:
    """The grid for exposures between two lengths, evenly spaced on the logarithmic scale."""
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
