"""Generators rated by one question, and the rows of ``ratings`` and ``separations`` that follow."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from beholder.stats.estimate import Estimates
from beholder.stats.significance.separation import Separation, separate

POWER = 0.8
"""Chance to tell two generators apart for which the people still needed are reckoned."""

Row = dict[str, object]


@dataclass(frozen=True, eq=False)
class Rated:
    """Ratings of all generators by one method, with the joint draws behind their intervals."""

    aspect: str
    method: str
    generators: tuple[str, ...]
    estimates: Estimates
    draws: NDArray[np.float64]  # (draws, generators)
    naive: tuple[NDArray[np.float64], NDArray[np.float64]]
    """The interval, were all answers independent: (low, high), each (generators,)."""
    answers: NDArray[np.int64]  # (generators,)
    images: NDArray[np.int64]  # (generators,)
    within: bool
    """Whether the same people judged all generators."""
    ties: str | None = None
    people: NDArray[np.int64] | None = None  # (generators,)
    """People behind each rating where the draws resample something else, such as prompts."""
    se: NDArray[np.float64] | None = None  # (generators,)
    """Standard errors over people; without any, those of the draws."""
    higher_is_better: bool = True
    prior_used: bool | None = None
    """Of strengths fitted to votes: whether they needed pseudo-votes to be finite …"""
    prior_share: float | None = None
    """… and the share of the draws that did."""


def rows_of(
    question: str, piece: str, rated: Rated, level: float, *, everyone: Rated | None = None
) -> tuple[list[Row], list[Row]]:
    """The rows of ``ratings`` and of ``separations``; ``piece`` is the slice.

    ``everyone`` are the ratings with nobody set aside by screening, where they are known.
    """
    apart = separate(
        rated.estimates.value,
        rated.draws,
        rated.estimates.raters,
        within=rated.within,
        level=level,
        higher_is_better=rated.higher_is_better,
    )
    errors = _errors(rated)
    common: Row = {"question": question, "aspect": rated.aspect, "method": rated.method, "slice": piece}
    ratings = [
        common
        | {
            "generator": generator,
            "rating": estimate.value,
            "low": _known(estimate.low),
            "high": _known(estimate.high),
            "se": _known(errors[cell]),
            "naive_low": _known(rated.naive[0][cell]),
            "naive_high": _known(rated.naive[1][cell]),
            "level": level,
            "rank_low": int(apart.rank_low[cell]),
            "rank_high": int(apart.rank_high[cell]),
            "ties": rated.ties,
            "answers": int(rated.answers[cell]),
            "images": int(rated.images[cell]),
            "raters": estimate.raters if rated.people is None else int(rated.people[cell]),
            "draws": len(rated.draws),
            "prior_used": rated.prior_used,
            "prior_share": rated.prior_share,
        }
        | _unscreened(generator, everyone)
        for cell, (generator, estimate) in enumerate(zip(rated.generators, rated.estimates, strict=True))
    ]
    separations = [common | _separation(rated, apart, pair, level) for pair in range(len(apart.first))]
    return ratings, separations


def _errors(rated: Rated) -> NDArray[np.float64]:
    """Standard errors (generators,): as given, or the spread of the draws widened by √(n/(n − 1))."""
    if rated.se is not None:
        return rated.se
    n = rated.estimates.raters
    defined = np.isfinite(rated.draws).all(axis=0) & (n >= 2)
    spread = np.std(np.where(defined, rated.draws, 0.0), axis=0, ddof=1)
    return np.where(defined, spread * np.sqrt(n / np.maximum(n - 1, 1)), np.nan)


def _unscreened(generator: str, everyone: Rated | None) -> Row:
    """What the rating would be, were nobody set aside."""
    if everyone is None or generator not in everyone.generators:
        return {}
    estimate = everyone.estimates[everyone.generators.index(generator)]
    return {
        "rating_all": _known(estimate.value),
        "low_all": _known(estimate.low),
        "high_all": _known(estimate.high),
        "raters_all": estimate.raters,
    }


def _separation(rated: Rated, apart: Separation, pair: int, level: float) -> Row:
    """One pair, the higher rated first."""
    one, other = int(apart.first[pair]), int(apart.second[pair])
    difference, low, high = (float(column[pair]) for column in (apart.difference, apart.low, apart.high))
    if difference < 0:
        one, other, difference, low, high = other, one, -difference, -high, -low
    people = rated.estimates.raters
    now = int(min(people[one], people[other]) if rated.within else people[one] + people[other])
    separated = bool(apart.separated[pair])
    return {
        "generator": rated.generators[one],
        "other": rated.generators[other],
        "difference": difference,
        "low": _known(low),
        "high": _known(high),
        "p": _known(float(apart.p_value[pair])),
        "p_adjusted": _known(float(apart.p_holm[pair])),
        "separated": separated,
        "more_raters": None
        if separated or rated.people is not None
        else more_raters(float(apart.p_value[pair]), now, len(apart.first), level),
    }


def more_raters(p: float, now: int, pairs: int, level: float) -> int | None:
    """People to add so that a difference as large as the one seen is told apart with power .8.

    The standard error falls with √n, so with z the score of the p-value seen now,

        n = now · ((z₁₋α/₂ + z_power) / z)²,    α = (1 − level) / pairs,

    which allows for all pairs being compared (Bonferroni). ``None`` where no difference at all was seen.
    """
    if math.isnan(p) or p >= 1:
        return None
    seen = float(-ndtri(p / 2))
    wanted = float(ndtri(1 - (1 - level) / pairs / 2) + ndtri(POWER))
    needed = now * (wanted / seen) ** 2 if seen > 0 else math.inf
    return max(math.ceil(needed) - now, 0) if needed < 1e9 else None


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
