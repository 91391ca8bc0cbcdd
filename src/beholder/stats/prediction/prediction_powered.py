"""Prediction-powered inference: valid, narrower confidence intervals from few labels and many automatic scores.

With labels Y and predictions f on the n labelled rows, predictions f̃ on N further rows, and a weight λ,

    θ = mean(Y) + λ (mean(f̃) − mean(f)),    V(λ) = V_Y − 2λ C_Yf + λ² (V_f + V_f̃),

V_Y, C_Yf, V_f being the variances and covariance of the labelled means and V_f̃ = var(f̃)/N. λ = 0 is the
classical mean, λ = 1 is PPI (Angelopoulos et al. 2023, Science), and the λ that makes V least, C_Yf/(V_f + V_f̃)
within [0, 1], is PPI++ (2023).

A λ that is fitted makes θ a regression estimate, and few raters say little about λ. With G clusters, p fitted λ
strictly between 0 and 1, V_R the variance of the labelled mean of Y − λf, and d = mean(f̃) − mean(f),

    V = V_R · (G−1)/(G−1−p) · (1 + dᵀ V_f⁻¹ d/(G−1)) + λ² V_f̃,    t with G−1−p degrees of freedom:

residuals about a fitted line are too small, and an error of λ is carried over the distance d.

Labels from several raters or for the same items are not independent. ``clusters`` groups the labelled rows by
rater (few raters, many answers each), by item (few items, many raters each), or, with two columns, by both;
variances then add up residuals within clusters first. The rows without labels must be drawn as the labelled ones
were.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError

Reference = Literal["t", "normal"]
"""Quantiles: t with (fewest clusters − 1) degrees, less one for each λ fitted; or normal."""

SIGNS = (1.0, -1.0)
"""A mean has one part; a difference is the first less the second."""


@dataclass(frozen=True, eq=False)
class Powered:
    """Labels with their predictions, and predictions alone: what the mean of one generator is estimated from."""

    labels: NDArray[np.float64]  # (n,)
    predictions: NDArray[np.float64]  # (n,)
    unlabelled: NDArray[np.float64]  # (N,) predictions
    clusters: NDArray[np.int64]  # (n, 1) or (n, 2)


@dataclass(frozen=True)
class PoweredEstimate:
    """A mean or a difference of means, beside what the labels alone would have given."""

    value: float
    low: float
    high: float
    standard_error: float
    classical: float  # the same from labels alone
    classical_low: float
    classical_high: float
    tuning: float  # λ; of a difference, that of the first generator
    level: float
    method: str
    labels: int
    unlabelled: int
    clusters: int  # the fewest of either kind


def powered(
    labels: ArrayLike, predictions: ArrayLike, unlabelled: ArrayLike, *, clusters: ArrayLike | None = None
) -> Powered:
    """Check labels (n,), predictions (n,), further predictions (N,) and clusters (n,) or (n, 2); rows by
    default."""
    label, score, more = (np.asarray(x, np.float64) for x in (labels, predictions, unlabelled))
    if label.ndim != 1 or label.shape != score.shape or more.ndim != 1 or len(label) < 2 or len(more) < 2:
        raise StatisticsError(
            "prediction-powered inference needs labels and predictions of one length and further predictions, at "
            f"least two of each; found shapes {label.shape}, {score.shape}, {more.shape}"
        )
    if not all(np.all(np.isfinite(x)) for x in (label, score, more)):
        raise StatisticsError("prediction-powered inference needs finite labels and predictions; leave others out")
    group = np.arange(len(label)) if clusters is None else np.asarray(clusters)
    group = group[:, None] if group.ndim == 1 else group
    if group.ndim != 2 or len(group) != len(label) or group.shape[1] not in (1, 2) or group.dtype.kind not in "iu":
        raise StatisticsError(
            f"clusters need one integer, or two, a label; found {group.dtype} {group.shape} for {len(label)}"
        )
    if any(len(np.unique(column)) < 2 for column in group.T):
        raise StatisticsError("one rater (or one item) has no interval: labels need at least two clusters")
    return Powered(label, score, more, group.astype(np.int64))


def powered_mean(
    data: Powered,
    *,
    tuning: float | None = None,
    level: float = 0.95,
    reference: Reference = "t",
) -> PoweredEstimate:
    """Return the mean of the labels' population; ``tuning`` is λ, by default the best one (PPI++)."""
    return _estimate([data], tuning, level, reference)


def powered_proportion(
    data: Powered,
    *,
    tuning: float | None = None,
    level: float = 0.95,
    reference: Reference = "t",
) -> PoweredEstimate:
    """The same for labels of 0 and 1; the confidence interval is cut at 0 and 1."""
    if not np.all(np.isin(data.labels, (0, 1))):
        raise StatisticsError("a proportion needs labels of 0 or 1; found others")
    estimate = powered_mean(data, tuning=tuning, level=level, reference=reference)
    value, low, high, plain_low, plain_high = np.clip(
        [estimate.value, estimate.low, estimate.high, estimate.classical_low, estimate.classical_high], 0.0, 1.0
    ).tolist()
    return replace(estimate, value=value, low=low, high=high, classical_low=plain_low, classical_high=plain_high)


def powered_difference(
    first: Powered,
    second: Powered,
    *,
    tuning: float | None = None,
    level: float = 0.95,
    reference: Reference = "t",
) -> PoweredEstimate:
    """Return the first generator's mean less the second's, each with its own λ, found together.

    Clusters are matched by their numbers: rater 3 of the first is rater 3 of the second, and what they share
    drops out of the difference. Give different raters different numbers.
    """
    if first.clusters.shape[1] != second.clusters.shape[1]:
        raise StatisticsError("a difference needs the same kinds of clusters for both generators")
    return _estimate([first, second], tuning, level, reference)


def best_tuning(*parts: Powered) -> list[float]:
    """Return the λ of each part, in [0, 1], that make the variance of their mean or difference least.

    V(λ) is a quadratic function; for a difference whose raters are shared it does not fall apart into the two.
    0 where predictions are constant.
    """
    moments = _moments(parts)
    curve = moments[1:, 1:] + np.diag([part.unlabelled.var(ddof=1) / len(part.unlabelled) for part in parts])
    best: list[float] = np.clip(np.linalg.lstsq(curve, moments[0, 1:], rcond=None)[0], 0.0, 1.0).tolist()
    return best


def shared_tuning(*parts: Powered) -> float:
    """Return the λ in [0, 1] that makes the sum of the variances of all parts' means least.

    It is Σ C_Yf / Σ (V_f + V_f̃) over the parts.

    Taken from other generators, it is a given λ for a generator of its own: nothing is fitted to its few labels,
    so its confidence interval pays no price for it, and a useless score does not widen it.
    """
    covariance = variance = 0.0
    for part in parts:
        moments = _moments([part])
        covariance += float(moments[0, 1])
        variance += float(moments[1, 1] + part.unlabelled.var(ddof=1) / len(part.unlabelled))
    return float(np.clip(covariance / variance, 0.0, 1.0)) if variance > 0 else 0.0


def _moments(parts: Sequence[Powered]) -> NDArray[np.float64]:
    """Return the clustered covariance of the mean, or difference of means, of labels, and of the predictions of
    each part (1 + parts, 1 + parts)."""
    clusters = np.concatenate([part.clusters for part in parts])
    pulls = np.zeros((len(clusters), 1 + len(parts)))
    begin = 0
    for column, (part, sign) in enumerate(zip(parts, SIGNS, strict=False), 1):
        rows = slice(begin, begin + len(part.labels))
        factor = sign * len(clusters) / len(part.labels)
        pulls[rows, 0] = factor * (part.labels - part.labels.mean())
        pulls[rows, column] = factor * (part.predictions - part.predictions.mean())
        begin += len(part.labels)
    return _covariance(pulls, clusters)


def _estimate(parts: list[Powered], tuning: float | None, level: float, reference: Reference) -> PoweredEstimate:
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    if tuning is not None and not np.isfinite(tuning):
        raise StatisticsError(f"λ must be finite; found {tuning}")
    clusters = np.concatenate([part.clusters for part in parts])
    fewest = min(len(np.unique(column)) for column in clusters.T)
    nothing = [0.0] * len(parts)
    plain, plain_variance, _ = _combine(parts, nothing, clusters)
    plain_reach = float(np.sqrt(plain_variance)) * _quantile(level, fewest - 1, reference)
    weights = best_tuning(*parts) if tuning is None else [float(tuning)] * len(parts)
    fitted = [tuning is None and 0 < weight < 1 for weight in weights]
    if fewest - 1 <= sum(fitted):  # too few raters to fit λ from
        weights, fitted = nothing, [False] * len(parts)
    spare = fewest - 1 - sum(fitted)
    value, rest, extra = _combine(parts, weights, clusters)
    error = float(np.sqrt(rest * (fewest - 1) / spare * (1 + _carried(parts, fitted) / (fewest - 1)) + extra))
    reach = error * _quantile(level, spare, reference)
    kind = "PPI++" if tuning is None else "PPI" if tuning == 1 else "classical" if tuning == 0 else "PPI, λ given"
    return PoweredEstimate(
        value=value,
        low=value - reach,
        high=value + reach,
        standard_error=error,
        classical=plain,
        classical_low=plain - plain_reach,
        classical_high=plain + plain_reach,
        tuning=weights[0],
        level=level,
        method=f"{kind}, {reference} quantiles",
        labels=sum(len(part.labels) for part in parts),
        unlabelled=sum(len(part.unlabelled) for part in parts),
        clusters=fewest,
    )


def _quantile(level: float, degrees: int, reference: Reference) -> float:
    upper = (1 + level) / 2
    return float(special.ndtri(upper) if reference == "normal" else special.stdtrit(degrees, upper))


def _combine(
    parts: list[Powered], weights: list[float], clusters: NDArray[np.int64]
) -> tuple[float, float, float]:
    """Return Σ ± θ, its variance from labelled rows and from the others. Rows of all parts are put together, so
    that shared clusters meet."""
    value, extra, pulls = 0.0, 0.0, []
    for part, sign, weight in zip(parts, SIGNS, weights, strict=False):
        rest = part.labels - weight * part.predictions
        value += sign * float(rest.mean() + weight * part.unlabelled.mean())
        extra += weight**2 * float(part.unlabelled.var(ddof=1)) / len(part.unlabelled)
        pulls.append(sign * (rest - rest.mean()) * (len(clusters) / len(rest)))
    return value, max(_variance(np.concatenate(pulls), clusters), 0.0), extra


def _carried(parts: list[Powered], fitted: list[bool]) -> float:
    """Return dᵀ V_f⁻¹ d over the parts whose λ was fitted: how far the labelled predictions are from the rest."""
    which = np.flatnonzero(fitted)
    if len(which) == 0:
        return 0.0
    spread = _moments(parts)[1:, 1:][np.ix_(which, which)]
    apart = np.array([SIGNS[i] * (parts[i].unlabelled.mean() - parts[i].predictions.mean()) for i in which])
    return max(float(apart @ np.linalg.lstsq(spread, apart, rcond=None)[0]), 0.0)


def _variance(residuals: NDArray[np.float64], clusters: NDArray[np.int64]) -> float:
    """Return the clustered variance of the mean of rows with these residuals; two ways, at least that of
    either."""
    least = [_one_way(residuals[:, None], column)[0, 0] for column in clusters.T]
    return float(max(_covariance(residuals[:, None], clusters)[0, 0], *least))


def _covariance(residuals: NDArray[np.float64], clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the covariance of the means of several columns of ``residuals`` (rows, columns), clustered.

    One way: G/(G−1) Σ_g s_g s_gᵀ / n² with s_g the sums within cluster g. Two ways: that of either, less that of
    their meeting (Cameron, Gelbach and Miller 2011).
    """
    if clusters.shape[1] == 1:
        return _one_way(residuals, clusters[:, 0])
    meeting = np.unique(clusters, axis=0, return_inverse=True)[1].ravel()
    first, second = (_one_way(residuals, column) for column in clusters.T)
    return np.asarray(first + second - _one_way(residuals, meeting), np.float64)


def _one_way(residuals: NDArray[np.float64], clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    _, place = np.unique(clusters, return_inverse=True)
    sums = np.stack([np.bincount(place, column) for column in residuals.T], axis=1)  # (clusters, columns)
    return np.asarray(len(sums) / (len(sums) - 1) * (sums.T @ sums) / len(residuals) ** 2, np.float64)
