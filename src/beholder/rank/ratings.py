"""Generators rated by one question, and the rows of ``ratings`` and ``separations`` that follow."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from beholder.stats.estimate import Estimates
from beholder.stats.significance.separation import Separation, separate

POWER = 0.8
"""Power for which the number of further raters is computed."""

ALL_IMAGES = "all"
"""Name of the slice that is not limited to one style."""

Row = dict[str, object]


@dataclass(frozen=True, eq=False)
class GeneratorRatings:
    """Ratings of all generators by one method, with the joint replicates behind their confidence intervals."""

    aspect: str
    method: str
    generators: tuple[str, ...]
    estimates: Estimates
    replicates: NDArray[np.float64]  # (replicates, generators)
    naive: tuple[NDArray[np.float64], NDArray[np.float64]]
    """The confidence interval if all answers were independent: (low, high), each (generators,)."""
    answers: NDArray[np.int64]  # (generators,)
    images: NDArray[np.int64]  # (generators,)
    within: bool
    """Whether the same raters judged all generators."""
    ties: str | None = None
    rater_counts: NDArray[np.int64] | None = None  # (generators,)
    """Raters behind each rating where the bootstrap resamples something else, such as prompts."""
    se: NDArray[np.float64] | None = None  # (generators,)
    """Standard errors over raters; without any, those of the replicates."""
    higher_is_better: bool = True
    prior_used: bool | None = None
    """Of strengths fitted to votes: whether they needed pseudo-votes to be finite …"""
    prior_share: float | None = None
    """… and the proportion of the replicates that did."""


def table_rows(
    question: str,
    slice_name: str,
    rated: GeneratorRatings,
    level: float,
    *,
    everyone: GeneratorRatings | None = None,
) -> tuple[list[Row], list[Row]]:
    """Return the rows of ``ratings`` and of ``separations`` for one slice.

    ``everyone`` are the ratings with no rater excluded by screening, where they are known.
    """
    separation = separate(
        rated.estimates.value,
        rated.replicates,
        rated.estimates.raters,
        within=rated.within,
        level=level,
        higher_is_better=rated.higher_is_better,
    )
    errors = _standard_errors(rated)
    common: Row = {"question": question, "aspect": rated.aspect, "method": rated.method, "slice": slice_name}
    ratings = [
        common
        | {
            "generator": generator,
            "rating": estimate.value,
            "low": _number_or_none(estimate.low),
            "high": _number_or_none(estimate.high),
            "se": _number_or_none(errors[cell]),
            "naive_low": _number_or_none(rated.naive[0][cell]),
            "naive_high": _number_or_none(rated.naive[1][cell]),
            "level": level,
            "rank_low": int(separation.rank_low[cell]),
            "rank_high": int(separation.rank_high[cell]),
            "ties": rated.ties,
            "answers": int(rated.answers[cell]),
            "images": int(rated.images[cell]),
            "raters": estimate.raters if rated.rater_counts is None else int(rated.rater_counts[cell]),
            "draws": len(rated.replicates),
            "prior_used": rated.prior_used,
            "prior_share": rated.prior_share,
        }
        | _unscreened(generator, everyone)
        for cell, (generator, estimate) in enumerate(zip(rated.generators, rated.estimates, strict=True))
    ]
    separations = [common | _separation(rated, separation, pair, level) for pair in range(len(separation.first))]
    return ratings, separations


def _standard_errors(rated: GeneratorRatings) -> NDArray[np.float64]:
    """Return standard errors (generators,): as given, or those of the replicates widened by √(n/(n − 1))."""
    if rated.se is not None:
        return rated.se
    n = rated.estimates.raters
    defined = np.isfinite(rated.replicates).all(axis=0) & (n >= 2)
    spread = np.std(np.where(defined, rated.replicates, 0.0), axis=0, ddof=1)
    return np.where(defined, spread * np.sqrt(n / np.maximum(n - 1, 1)), np.nan)


def _unscreened(generator: str, everyone: GeneratorRatings | None) -> Row:
    """Return the columns of the rating with no rater excluded."""
    if everyone is None or generator not in everyone.generators:
        return {}
    estimate = everyone.estimates[everyone.generators.index(generator)]
    return {
        "rating_all": _number_or_none(estimate.value),
        "low_all": _number_or_none(estimate.low),
        "high_all": _number_or_none(estimate.high),
        "raters_all": estimate.raters,
    }


def _separation(rated: GeneratorRatings, separation: Separation, pair: int, level: float) -> Row:
    """Return the row of one pair, the higher rated first."""
    higher, lower = int(separation.first[pair]), int(separation.second[pair])
    difference, low, high = (
        float(column[pair]) for column in (separation.difference, separation.low, separation.high)
    )
    if difference < 0:
        higher, lower, difference, low, high = lower, higher, -difference, -high, -low
    rater_counts = rated.estimates.raters
    now = int(
        min(rater_counts[higher], rater_counts[lower])
        if rated.within
        else rater_counts[higher] + rater_counts[lower]
    )
    separated = bool(separation.separated[pair])
    return {
        "generator": rated.generators[higher],
        "other": rated.generators[lower],
        "difference": difference,
        "low": _number_or_none(low),
        "high": _number_or_none(high),
        "p": _number_or_none(float(separation.p_value[pair])),
        "p_adjusted": _number_or_none(float(separation.p_holm[pair])),
        "separated": separated,
        "more_raters": None
        if separated or rated.rater_counts is not None
        else more_raters(float(separation.p_value[pair]), now, len(separation.first), level),
    }


def more_raters(p: float, now: int, pairs: int, level: float) -> int | None:
    """Return the raters to add so that a difference as large as the observed one is significant with power .8.

    The standard error falls with √n, so with z the score of the observed p-value,

        n = now · ((z₁₋α/₂ + z_power) / z)²,    α = (1 − level) / pairs,

    which allows for all pairs being compared (Bonferroni). ``None`` where no difference was observed.
    """
    if math.isnan(p) or p >= 1:
        return None
    observed_z = float(-ndtri(p / 2))
    needed_z = float(ndtri(1 - (1 - level) / pairs / 2) + ndtri(POWER))
    needed = now * (needed_z / observed_z) ** 2 if observed_z > 0 else math.inf
    return max(math.ceil(needed) - now, 0) if needed < 1e9 else None


def _number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
