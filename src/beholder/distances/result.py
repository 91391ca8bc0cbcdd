"""The result of a distance: its value, its confidence interval, and the numbers and settings behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.errors import StatisticsError

Setting = int | float | str
"""A setting of a distance, such as the number of neighbours."""

JACKKNIFE = "infinitesimal jackknife over images"
"""Value ± z · √(Σψ²/n² + …), with ψ the influence of each image: the limit of the bootstrap's standard error."""


@dataclass(frozen=True)
class Distance:
    """How far generated images are from real ones, with a confidence interval for the sampling of images.

    The interval does not correct bias: where a distance is larger for fewer images, so are both of its ends.
    """

    name: str
    value: float
    low: float
    high: float
    level: float  # nominal coverage of [low, high], such as 0.95
    method: str  # how the confidence interval was computed
    real: int  # images; 0 where the distance looks at generated ones alone
    generated: int
    dims: int
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


def normal_quantile(level: float) -> float:
    """The z of a two-sided confidence interval: 1.96 for 0.95."""
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    return float(special.ndtri((1 + level) / 2))


def standard_error(*influences: NDArray[np.float64]) -> float:
    """√Σ var(ψ)/n over independent samples, from the influence ψ of each image of each sample."""
    return float(np.sqrt(sum(float(np.var(each, ddof=1)) / len(each) for each in influences)))
