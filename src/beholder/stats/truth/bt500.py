"""Rejection of raters by Recommendation ITU-R BT.500: those who stray often, to both sides."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.stats.agreement.answers import long_answers

STRAY_RATE = 0.05  # reject only above this proportion of straying scores …
STRAY_BALANCE = 0.3  # … and only where they fall to both sides about equally


@dataclass(frozen=True, eq=False)
class Bt500:
    """How often each rater strayed, and who is rejected."""

    rejected: NDArray[np.bool_]  # (raters,)
    above: NDArray[np.int64]  # (raters,) P: scores at or above mean + band
    below: NDArray[np.int64]  # (raters,) Q: scores at or below mean − band
    judged: NDArray[np.int64]  # (raters,) N
    spared: bool  # the rule would have rejected everyone, so it rejects nobody


def bt500(raters: ArrayLike, items: ArrayLike, scores: ArrayLike) -> Bt500:
    """Apply the rule to long scores.

    For each item: mean μ, population standard deviation σ, kurtosis β₂ = m₄/m₂². The band is 2σ where 2 ≤ β₂ ≤ 4
    and √20 σ elsewhere. P counts a rater's scores ≥ μ + band, Q those ≤ μ − band. A rater is rejected where
    (P+Q)/N > .05 and |P−Q|/(P+Q) < .3, N being what that rater judged. If that rejects all, none is rejected.
    An item that all score alike (σ = 0) has no outliers: every score would be both P and Q.
    """
    answers = long_answers(raters, items, scores)
    n = np.bincount(answers.items)  # (items,)
    held = np.maximum(n, 1)
    off = answers.values - (np.bincount(answers.items, answers.values) / held)[answers.items]
    second = np.bincount(answers.items, off**2) / held
    fourth = np.bincount(answers.items, off**4) / held
    largest = np.zeros(len(n))
    np.maximum.at(largest, answers.items, np.abs(answers.values))
    varies = second > (1e-12 * largest) ** 2  # (items,): more than rounding
    kurtosis = np.where(varies, fourth / np.where(varies, second, 1.0) ** 2, np.nan)
    width = np.where((kurtosis >= 2) & (kurtosis <= 4), 2.0, np.sqrt(20.0))
    band = np.where(varies, width * np.sqrt(second), np.inf)[answers.items]  # (answers,)

    # A score exactly on the edge counts; a hair's breadth keeps rounding from deciding.
    edge = band * (1 - 1e-12)
    above = np.bincount(answers.raters[off >= edge], minlength=answers.rater_count)
    below = np.bincount(answers.raters[off <= -edge], minlength=answers.rater_count)
    judged = np.bincount(answers.raters, minlength=answers.rater_count)
    stray = above + below
    often = stray / np.maximum(judged, 1) > STRAY_RATE
    both_sides = np.abs(above - below) < STRAY_BALANCE * stray
    rejected = often & both_sides
    spared = bool(np.all(rejected[judged > 0]))
    return Bt500(
        rejected=np.zeros_like(rejected) if spared else rejected,
        above=above.astype(np.int64),
        below=below.astype(np.int64),
        judged=judged.astype(np.int64),
        spared=spared,
    )
