"""Fleiss' kappa from long answers or from counts, with a confidence interval over raters.

κ = (P̄ − P̄ₑ)/(1 − P̄ₑ). P̄ is the mean over items of the proportion of pairs of raters who agree, Pᵢ = Σₖ nᵢₖ(nᵢₖ
− 1)/(nᵢ(nᵢ − 1)), and P̄ₑ = Σ pₖ² is what chance would give. Fleiss, "Measuring nominal scale agreement among many
raters", Psychological Bulletin 76 (1971), has the same number of raters for every item. Where the number differs,
this is Gwet's generalisation ("Handbook of Inter-Rater Reliability", 4th edition, 2014): every item counts the
same, so pₖ is the mean over items of nᵢₖ/nᵢ; items with one answer count in pₖ but not in P̄.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import category_counts, category_numbers, long_answers
from beholder.stats.agreement.pair_agreement import beyond_chance, mean_pairs, on_pairs, sums_of_counts
from beholder.stats.agreement.resampled_agreement import agreement_estimate, pairable
from beholder.stats.estimate import Estimate


def fleiss_kappa(
    raters: ArrayLike,
    items: ArrayLike,
    values: ArrayLike,
    weights: NDArray[np.integer],
    *,
    level: float = 0.95,
) -> Estimate:
    """Return κ of long answers, with an expanded BCa confidence interval that resamples raters.

    ``weights`` (replicates, raters) come from :func:`beholder.stats.intervals.bootstrap.rater_weights`. Copies of
    one rater are never paired with each other.
    """
    answers = long_answers(raters, items, values, rater_count=weights.shape[-1])
    if len(pairable(answers).items) == 0:
        raise StatisticsError("κ needs at least one item with two answers; found none")
    categories, number = category_numbers(answers, None)
    kappas = on_pairs(answers, number, np.eye(len(categories)), _kappas)
    kappa = agreement_estimate(answers, weights, kappas, level=level)
    _defined(kappa.value)
    return kappa


def kappa_of_counts(counts: ArrayLike) -> float:
    """Return κ from ``counts`` (items, categories): how many raters put each item in each category."""
    table = category_counts(counts, "κ")
    sums = sums_of_counts(table.T[:, :, None], table.sum(axis=1)[:, None], np.eye(table.shape[1]))
    return _defined(float(_kappas(*mean_pairs([sums]))[0]))


def _kappas(observed: NDArray[np.float64], proportions: NDArray[np.float64]) -> NDArray[np.float64]:
    return beyond_chance(observed, (proportions**2).sum(axis=0))


def _defined(kappa: float) -> float:
    if np.isnan(kappa):
        raise StatisticsError("κ needs at least two different values; found one; AC1 is defined there")
    return kappa
