"""How far one metric agrees with raters on the same items: four statistics, each with what it rests on.

Items are generators or images. An item's opinion comes from raters and has an error; the metric's value is taken
as it is. Two confidence intervals answer two questions: would the agreement hold on other items (items are
resampled, in clusters where they come in clusters), and would it hold with other raters (opinions are varied
within their errors)?
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.correlation.bootstrap import (
    cluster_index,
    correlation_replicates,
    leave_one_out,
    resampled_interval,
)
from beholder.stats.correlation.coefficients import (
    Kind,
    check_kind,
    columns,
    correlation,
    fisher_interval,
    standard_error,
)
from beholder.stats.correlation.jackknife import jackknife_interval
from beholder.stats.correlation.paired_values import PAIR_ACCURACY, paired_values
from beholder.stats.intervals.bootstrap_intervals import Rule

STATISTICS = ("pearson", "spearman", "kendall", PAIR_ACCURACY)
"""What is computed over items. Pair accuracy is over all pairs of items: ½ is chance."""

LEAST_CLUSTERS = 5
"""Fewer generators, prompts or images than this are too few to resample."""

MANY_CLUSTERS = 300
"""From here on percentiles do: leaving each out in turn takes long, and changes nothing."""

Replicates = Callable[[NDArray[np.integer]], NDArray[np.float64]]
"""From weights (replicates, clusters) to the statistic of each replicate."""


@dataclass(frozen=True, eq=False)
class Opinions:
    """What raters say of items: the higher, the better."""

    values: NDArray[np.float64]  # (items,)
    errors: NDArray[np.float64]  # (items,) standard errors over raters; nan where not known

    @property
    def vary(self) -> bool:
        """Whether every error is known, so that other raters can be imagined."""
        return bool(np.isfinite(self.errors).all())


@dataclass(frozen=True, eq=False)
class Agreement:
    """One statistic of one metric; nan where it is not defined."""

    statistic: str
    value: float
    low: float
    high: float
    people_low: float
    people_high: float
    p_value: float  # nan where items come in clusters
    items: int
    interval: str  # how it was made
    replicates: NDArray[np.float64]  # (replicates,)
    left_out: NDArray[np.float64]  # (clusters,) with each cluster left out; empty for very many


def agreement(
    metric: ArrayLike,
    opinions: Opinions,
    statistic: str,
    weights: NDArray[np.integer],
    *,
    clusters: ArrayLike | None = None,
    noise: NDArray[np.float64] | None = None,
    level: float = 0.95,
    keep_replicates: bool = True,
) -> Agreement:
    """Compare a metric (items,) with opinions.

    ``weights`` (replicates, clusters) say how often each cluster is drawn; ``noise`` (replicates, items) are
    standard normal numbers with which opinions are varied. Both are shared by all metrics, so that differences can
    be taken. Without ``keep_replicates``, replicates are made only where the confidence interval needs them.
    """
    x, y = columns(metric, opinions.values)
    group = cluster_index(clusters, len(x))
    statistic_of = replicates_of(x, y, statistic, group)
    value = statistic_of(np.ones((1, group.max() + 1), np.int32))
    enough = len(np.unique(group)) >= LEAST_CLUSTERS and bool(np.isfinite(value[0]))
    left_out = leave_one_out(statistic_of, group) if enough and group.max() < MANY_CLUSTERS else np.empty(0)
    needs_replicates = (
        keep_replicates or not len(left_out) or (statistic == PAIR_ACCURACY and clusters is not None)
    )
    replicates = statistic_of(weights) if enough and needs_replicates else np.empty(0)
    tried = replicates if len(replicates) else left_out
    distinguishable = (
        enough and len(np.unique(tried[np.isfinite(tried)])) > 1
    )  # a perfect order is perfect in every replicate
    resampled = (value, replicates, left_out, group)
    low, high, method = (
        _item_interval(statistic, *resampled, clusters is not None, level) if distinguishable else NOTHING
    )
    over_raters = _rater_interval(x, opinions, statistic, float(value[0]), noise, level)
    alone = clusters is None and statistic != PAIR_ACCURACY
    return Agreement(
        statistic=statistic,
        value=float(value[0]),
        low=low,
        high=high,
        people_low=over_raters[0],
        people_high=over_raters[1],
        p_value=correlation(x, y, kind=_kind(statistic)).p_value if alone else float(np.nan),
        items=len(x),
        interval=method,
        replicates=replicates,
        left_out=left_out,
    )


def replicates_of(
    x: NDArray[np.float64], y: NDArray[np.float64], statistic: str, group: NDArray[np.int64]
) -> Replicates:
    """Return the statistic of two columns as a function of weights."""
    if statistic == PAIR_ACCURACY:
        return partial(_pairs_right, x, y, group)
    kind = _kind(statistic)
    return lambda weights: correlation_replicates(x, y, weights, kind=kind, clusters=group)


def interval_of(
    value: NDArray[np.float64],
    replicates: NDArray[np.float64],
    left_out: NDArray[np.float64],
    group: NDArray[np.int64],
    level: float,
) -> tuple[float, float]:
    """Return the expanded BCa confidence interval, or the percentile one where no cluster was left out in turn."""
    rule: Rule = "bca" if len(left_out) else "percentile"
    units = left_out if len(left_out) else np.zeros(int(group.max()) + 1)
    return resampled_interval(value, replicates, units, group, level=level, rule=rule)


def single_value(x: ArrayLike, y: ArrayLike, statistic: str) -> float:
    """Return the statistic of two columns as they are; nan where a column is constant."""
    xs, ys = columns(x, y)
    return float(paired_values(xs, ys, statistic)[0])


def _kind(statistic: str) -> Kind:
    check_kind(statistic)
    return "pearson" if statistic == "pearson" else "spearman" if statistic == "spearman" else "kendall"


def _pairs_right(
    x: NDArray[np.float64], y: NDArray[np.float64], group: NDArray[np.int64], weights: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the proportion of pairs of items that the metric orders as raters do, for each replicate.

    Pairs that raters call equal are left out; a pair to which the metric gives equal values is half right. Copies
    of one item make no pair.
    """
    if weights.ndim != 2 or weights.shape[1] != group.max() + 1:
        raise StatisticsError(f"weights must be (replicates, {int(group.max()) + 1}); found {weights.shape}")
    by_metric, by_raters = np.sign(x[:, None] - x), np.sign(y[:, None] - y)  # (items, items)
    counts = (by_raters != 0).astype(np.float64)
    right = counts * (1 + by_metric * by_raters) / 2
    drawn = weights[:, group].astype(np.float64)  # (replicates, items)
    above, below = (np.einsum("dp,dp->d", drawn @ part, drawn) for part in (right, counts))
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)


def _rater_interval(
    x: NDArray[np.float64],
    opinions: Opinions,
    statistic: str,
    value: float,
    noise: NDArray[np.float64] | None,
    level: float,
) -> tuple[float, float]:
    """Return percentiles over varied opinions, moved so that their median is the value.

    Varying adds noise to noise and so lowers the agreement; moving takes that out.
    """
    if noise is None or not opinions.vary or np.isnan(value):
        return float(np.nan), float(np.nan)
    varied = paired_values(x, opinions.values + opinions.errors * noise, statistic)
    ends = np.nanquantile(varied, [(1 - level) / 2, 0.5, (1 + level) / 2])
    least, most = (0.0, 1.0) if statistic == PAIR_ACCURACY else (-1.0, 1.0)
    low, high = np.clip(value + ends[[0, 2]] - ends[1], least, most)
    return float(low), float(high)


def _item_interval(
    statistic: str,
    value: NDArray[np.float64],
    replicates: NDArray[np.float64],
    left_out: NDArray[np.float64],
    group: NDArray[np.int64],
    clustered: bool,
    level: float,
) -> tuple[float, float, str]:
    """Return the ends and how they were made: for each case what had the best coverage in simulated studies.

    Orders of independent items have closed forms (the accuracy over pairs is (τ + 1)/2); resampling few
    items is too wide. Pearson's r, and whatever comes in clusters, leaves each out in turn; very many are drawn.
    """
    unit = "prompts" if clustered else "items"
    points, coefficient = len(group), float(value[0])
    if not clustered and statistic == "spearman":
        return *fisher_interval(
            coefficient, standard_error(coefficient, points, "spearman"), level
        ), "Bonett–Wright"
    if not clustered and statistic == "kendall":
        return *fisher_interval(coefficient, standard_error(coefficient, points, "kendall"), level), "Fieller"
    if not clustered and statistic == PAIR_ACCURACY:
        ends = fisher_interval(2 * coefficient - 1, standard_error(coefficient, points, "kendall"), level)
        return (ends[0] + 1) / 2, (ends[1] + 1) / 2, "Fieller"
    if statistic != PAIR_ACCURACY and len(left_out):
        return *jackknife_interval(coefficient, left_out, level=level), f"jackknife over {unit}, Fisher z"
    rule = "BCa" if len(left_out) else "percentile"
    return *interval_of(value, replicates, left_out, group, level), f"expanded {rule} bootstrap over {unit}"


NOTHING = (float(np.nan), float(np.nan), "none")
