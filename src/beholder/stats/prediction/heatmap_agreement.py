"""How far a predicted heatmap agrees with raters': MSE, CC, KLD, SIM, NSS and AUC-Judd of each image.

With P the prediction, G what raters marked, F the pixels that count as fixated and N the number of pixels:

- MSE = mean of (P − G)²
- CC = Pearson's r of P and G
- SIM = Σ min(P′, G′), where P′ and G′ are divided by their sums (not stretched to [0, 1] first)
- KLD = Σ G′ ln(ε + G′ / (P′ + ε)), ε = 2.2204e-16
- NSS = mean over F of (P − mean P) / sd P
- AUC-Judd = area under (false positives, hits) at every distinct P in F, by trapezoids from (0, 0) to (1, 1)

Where nobody marked anything, only the MSE is defined. How G becomes F is not part of the published metrics, so
the rule is named. A prediction that is the same everywhere has CC 0, NSS 0 and AUC ½, and one that is 0 everywhere
counts as even in SIM and KLD.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError

Rule = Literal["any", "majority", "points"]
"""Which pixels count as fixated: G > 0, G > ½, or the points that raters clicked."""

MEASURES = ("mse", "cc", "kld", "sim", "nss", "auc-judd")

EPSILON = 2.2204e-16


@dataclass(frozen=True, eq=False)
class HeatmapAgreement:
    """The measures of each image, nan where they are not defined."""

    values: Mapping[str, NDArray[np.float64]]  # measure -> (images,)
    empty: NDArray[np.bool_]  # (images,) where nobody marked anything
    rule: Rule

    def means(self) -> dict[str, float]:
        """Mean over the images on which a measure is defined; the MSE also over the empty ones alone."""
        means = {name: _mean(column) for name, column in self.values.items()}
        return {"mse": means.pop("mse"), "mse-empty": _mean(self.values["mse"][self.empty]), **means}


def heatmap_agreement(
    predicted: ArrayLike,
    marked: ArrayLike,
    *,
    rule: Rule = "any",
    points: ArrayLike | None = None,
    threads: int = 2,
) -> HeatmapAgreement:
    """Compare maps (images, height, width), all finite and not below 0.

    ``points`` (images, height, width) is true at the pixels that raters clicked, for the rule ``points`` alone.
    """
    model_maps, rater_maps = np.asarray(predicted), np.asarray(marked)
    _check_maps(model_maps, rater_maps)
    fixated = _fixated(rater_maps, rule, points)
    if threads == 1:
        rows = list(map(_measures, model_maps, rater_maps, fixated))
    else:
        with ThreadPoolExecutor(threads) as pool:
            rows = list(pool.map(_measures, model_maps, rater_maps, fixated))
    table = np.array(rows, np.float64).reshape(len(model_maps), len(MEASURES))
    columns = {name: table[:, column] for column, name in enumerate(MEASURES)}
    return HeatmapAgreement(MappingProxyType(columns), np.asarray(~rater_maps.any(axis=(1, 2))), rule)


def auc_judd(at_fixations: ArrayLike, everywhere: ArrayLike) -> float:
    """Area under the ROC curve with a point at each distinct value at a fixation; nan without a contrast.

    ``everywhere`` holds the values of all pixels, the fixated among them. Equal values are one point of the curve,
    so that a constant map has ½.
    """
    hit, pixels = np.sort(np.asarray(at_fixations)), np.asarray(everywhere).ravel()
    others = len(pixels) - len(hit)
    if not len(hit) or not others:
        return float(np.nan)
    ordered = np.sort(pixels[pixels >= hit[0]])  # those below every threshold count nowhere
    first = np.flatnonzero(np.r_[True, hit[1:] != hit[:-1]])  # of each run of equal values
    thresholds = hit[first]
    hits = len(hit) - first  # fixations at or above each threshold
    above = len(ordered) - np.searchsorted(ordered, thresholds) - hits
    # From the highest threshold down: (0, 0), a point a threshold, (1, 1).
    x = np.r_[0.0, above[::-1] / others, 1.0]
    y = np.r_[0.0, hits[::-1] / len(hit), 1.0]
    return float(np.trapezoid(y, x))


def _measures(model_map: NDArray[Any], rater_map: NDArray[Any], fixated: NDArray[np.bool_]) -> tuple[float, ...]:
    p, g = model_map.astype(np.float64).ravel(), rater_map.astype(np.float64).ravel()
    away = p - g
    mse = float(away @ away / len(p))
    if not g.any():
        return (mse, *[float(np.nan)] * 5)
    at = model_map.ravel()[fixated.ravel()]
    mean = p.mean()
    centred, rater_centred = p - mean, g - g.mean()
    spread, rater_spread = np.sqrt(centred @ centred), np.sqrt(rater_centred @ rater_centred)
    flat = model_map.min() == model_map.max()
    cc = float(np.nan) if g.min() == g.max() else 0.0
    if not flat and not np.isnan(cc):
        cc = float(centred @ rater_centred / (spread * rater_spread))
    nss = float(np.nan) if not len(at) else 0.0
    if not flat and len(at):
        nss = float((at.mean(dtype=np.float64) - mean) / (spread / np.sqrt(len(p))))
    marked = np.flatnonzero(g)  # elsewhere G′ is 0, and so is every term of both sums
    density = p[marked] / p.sum() if p.any() else np.full(len(marked), 1 / len(p))
    rater_density = g[marked] / g.sum()
    kld = float(rater_density @ np.log(EPSILON + rater_density / (density + EPSILON)))
    sim = float(np.minimum(density, rater_density).sum())
    return mse, cc, kld, sim, nss, auc_judd(at, model_map)


def _fixated(rater_maps: NDArray[Any], rule: Rule, points: ArrayLike | None) -> NDArray[np.bool_]:
    if rule == "points":
        if points is None or np.shape(points) != rater_maps.shape:
            description = "none" if points is None else f"shape {np.shape(points)}"
            raise StatisticsError(
                f"the rule 'points' needs points of shape {rater_maps.shape}; found {description}"
            )
        return np.asarray(points, np.bool_)
    if points is not None:
        raise StatisticsError(f"points belong to the rule 'points'; found the rule {rule!r}")
    if rule not in ("any", "majority"):
        raise StatisticsError(f"fixations are by the rule any, majority or points; found {rule!r}")
    return np.asarray(rater_maps > (0 if rule == "any" else 0.5))


def _check_maps(model_maps: NDArray[Any], rater_maps: NDArray[Any]) -> None:
    if model_maps.ndim != 3 or model_maps.shape != rater_maps.shape or 0 in model_maps.shape:
        raise StatisticsError(
            "heatmaps are compared as two arrays (images, height, width) of one shape; "
            f"found {model_maps.shape} and {rater_maps.shape}"
        )
    for name, maps in (("predicted", model_maps), ("marked", rater_maps)):
        if maps.dtype.kind not in "fiub" or not np.isfinite(maps.min()) or not np.isfinite(maps.max()):
            raise StatisticsError(f"the {name} heatmaps need finite numbers; found others")
        if maps.min() < 0:
            raise StatisticsError(f"the {name} heatmaps need values of 0 or more; found {maps.min():.6g}")


def _mean(column: NDArray[np.float64]) -> float:
    defined = column[~np.isnan(column)]
    return float(defined.mean()) if len(defined) else float(np.nan)
