"""Do several groups differ at all? One-way analysis of variance, Kruskal–Wallis, and Levene for their spread.

The unit is the rater: one number each. With k generators judged by n raters altogether, each rater judging one,
the degrees of freedom are (k − 1, n − k), so (3, 116) for four generators and thirty raters each. Published tables
print (3, 29), which is the analysis of something else.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.stats import rankdata

from beholder.errors import StatisticsError
from beholder.stats.significance.grouped import grouped

Centre = Literal["median", "mean"]
"""What spread is measured from: the group's median (Brown–Forsythe) or its mean (Levene)."""


@dataclass(frozen=True)
class Anova:
    """F = between over within mean square, with both degrees of freedom."""

    statistic: float  # F; infinite where groups differ and nobody within a group does; nan where nothing differs
    between: int  # k − 1
    within: int  # n − k
    p_value: float
    eta_squared: float  # proportion of the sum of squares that lies between groups
    groups: int
    raters: int


@dataclass(frozen=True)
class KruskalWallis:
    """H on mid-ranks, corrected for ties; χ² with ``degrees`` under the null."""

    statistic: float  # nan where all values are equal
    degrees: int  # k − 1
    p_value: float
    groups: int
    raters: int


def one_way_anova(values: ArrayLike, groups: ArrayLike) -> Anova:
    """Compare the means of groups: ``values`` (n,) one per rater, ``groups`` (n,) indices from 0.

    F = (Σ nᵢ (x̄ᵢ − x̄)² / (k−1)) / (Σ (x − x̄ᵢ)² / (n−k)).
    """
    data = grouped(values, groups)
    n, k = len(data.values), data.k
    if n <= k:
        raise StatisticsError(f"an analysis of variance needs more raters than groups; found {n} in {k} groups")
    grand = data.values.mean()
    between = float(np.sum(data.counts * (data.means - grand) ** 2))
    within = float(np.sum(data.residuals**2))
    scale = float(np.sum(data.values**2)) * 1e-28  # rounding leaves equal values just above zero
    between, within = (0.0 if part <= scale else part for part in (between, within))
    nowhere = np.inf if between > 0 else np.nan  # nobody differs within a group
    f = (between / (k - 1)) / (within / (n - k)) if within > 0 else nowhere
    total = between + within
    return Anova(
        statistic=float(f),
        between=k - 1,
        within=n - k,
        p_value=float(special.fdtrc(k - 1, n - k, f)) if np.isfinite(f) else (0.0 if between > 0 else np.nan),
        eta_squared=between / total if total > 0 else np.nan,
        groups=k,
        raters=n,
    )


def kruskal_wallis(values: ArrayLike, groups: ArrayLike) -> KruskalWallis:
    """Compare groups by ranks: no assumption on the shape, as long as it is the same in all groups.

    H = 12/(n(n+1)) Σ Rᵢ²/nᵢ − 3(n+1), divided by 1 − Σ(t³−t)/(n³−n) over groups of t tied values.
    """
    data = grouped(values, groups)
    n = len(data.values)
    ranks = rankdata(data.values)
    sums = np.bincount(data.groups, ranks, data.k)
    raw = 12 / (n * (n + 1)) * float(np.sum(sums**2 / data.counts)) - 3 * (n + 1)
    ties = np.unique(data.values, return_counts=True)[1].astype(np.float64)
    correction = 1 - float(np.sum(ties**3 - ties)) / (n**3 - n)
    h = raw / correction if correction > 0 else np.nan
    return KruskalWallis(h, data.k - 1, float(special.chdtrc(data.k - 1, h)), data.k, n)


def levene(values: ArrayLike, groups: ArrayLike, *, centre: Centre = "median") -> Anova:
    """Compare the spread of groups: the analysis of variance of |x − centre of its group|.

    With the median it is Brown and Forsythe's test, which holds its level for skewed values.
    """
    data = grouped(values, groups)
    if centre not in ("median", "mean"):
        raise StatisticsError(f"spread is measured from the median or the mean; found {centre!r}")
    middle = data.means if centre == "mean" else _medians(data.values, data.groups, data.k)
    return one_way_anova(np.abs(data.values - middle[data.groups]), data.groups)


def _medians(values: NDArray[np.float64], groups: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    return np.array([np.median(values[groups == group]) for group in range(k)])
