"""Kendall's coefficient of concordance W: how far raters put the same items in the same order.

W = 12 S / (m²(n³ − n) − m Σ Tⱼ), with m raters, n items, S the sum of squares of the items' rank sums about
their mean, and Tⱼ = Σ(t³ − t) over the ties of rater j. It is 1 where all orders are the same and about 1/m by
chance; m(n − 1)W is Friedman's χ² with n − 1 degrees of freedom. With Rⱼ the centred ranks of rater j and

    r = Σ_{j≠k} RⱼRₖ / ((m − 1) Σⱼ RⱼRⱼ),

the mean of Spearman's correlations of all pairs of raters where nobody has ties, W = (1 + (m − 1) r)/m. Kendall
and Gibbons, "Rank Correlation Methods", 5th edition (1990).

The confidence interval takes the raters as a sample. With lᵢ the influence of rater i on r, that is its slope in
the weight of i where pairs of copies are left out,

    lᵢ = 2 Σ_{k≠i} RᵢRₖ / ((m − 1) Σⱼ RⱼRⱼ) − r (1/m + RᵢRᵢ/Σⱼ RⱼRⱼ),    SE² = Σ (m/(m − 1) lᵢ)²,

it is tanh(atanh r ± t₁₋α/₂,ₘ₋₁ · SE/(1 − r²)). The factor m/(m − 1) is that of the leave-one-out ("HC3") variance.
Nothing is drawn: drawing raters, or leaving them out one by one, is too careful where sets have few raters.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import LongAnswers, complete_matrix, long_answers
from beholder.stats.estimate import Estimate

METHOD = "influence of raters, Fisher z"


@dataclass(frozen=True)
class Concordance:
    """W with its confidence interval over raters, and Friedman's test that the items are ordered at random."""

    w: Estimate
    mean_correlation: float  # (mW − 1)/(m − 1): 1 at W = 1, about 0 by chance
    chi_square: float
    degrees: int
    p_value: float


@dataclass(frozen=True)
class SetConcordance:
    """The mean W of several sets of items, and of the correlations behind it."""

    w: Estimate  # its items are sets
    mean_correlation: Estimate


def kendall_w(raters: ArrayLike, items: ArrayLike, values: ArrayLike, *, level: float = 0.95) -> Concordance:
    """Return W of long answers (ranks or scores; ties share their mean rank); every rater judges every item.

    Two raters have no confidence interval, nor have raters who agree equally well with the others, unless all
    agree wholly.
    """
    answers = long_answers(raters, items, values)
    matrix = complete_matrix(answers, "Kendall's W")  # (raters, items)
    rater_count, item_count = matrix.shape
    if min(rater_count, item_count) < 2:
        raise StatisticsError(f"Kendall's W needs two raters and two items; found {rater_count}, {item_count}")
    concordance = _over_sets(answers, np.zeros(len(answers.items), np.int64), level)
    chi_square = rater_count * (item_count - 1) * concordance.w.value
    return Concordance(
        w=Estimate(
            concordance.w.value,
            concordance.w.low,
            concordance.w.high,
            level,
            METHOD,
            rater_count,
            items=item_count,
            answers=rater_count * item_count,
        ),
        mean_correlation=concordance.mean_correlation.value,
        chi_square=chi_square,
        degrees=item_count - 1,
        p_value=float(special.chdtrc(item_count - 1, chi_square)),
    )


def concordance_of_sets(
    raters: ArrayLike, sets: ArrayLike, items: ArrayLike, values: ArrayLike, *, level: float = 0.95
) -> SetConcordance:
    """Return the mean W of sets of items, such as the images of one prompt, each ordered by its own raters.

    ``sets`` (answers,) are integers; whoever judges an item of a set judges all of it. Items belong to their set:
    item 3 of set 0 is not item 3 of set 1. Of the m raters of a set and its r the mean is of (1 + (m − 1) r)/m,
    and a rater's influences in all of their sets add up. Sets with one rater, or with ties alone, do not count.
    """
    group = np.asarray(sets)
    if group.ndim != 1 or group.dtype.kind not in "iu" or group.shape != np.asarray(items).shape:
        raise StatisticsError(f"sets need one integer per answer; found {group.dtype} {group.shape}")
    cell = np.unique(np.stack([group, np.asarray(items)]), axis=1, return_inverse=True)[1].ravel()
    answers = long_answers(raters, cell, values)
    number = np.unique(group, return_inverse=True)[1]
    in_set = np.bincount(np.unique(np.stack([number, cell]), axis=1)[0])  # (sets,) items
    judged, times = np.unique(np.stack([number, answers.raters]), axis=1, return_counts=True)
    short = np.flatnonzero(times != in_set[judged[0]])
    if len(short):
        raise StatisticsError(
            f"Kendall's W needs raters who judge all of a set; {len(short):,} did not, the first rater "
            f"{judged[1, short[0]]} with {times[short[0]]} of {in_set[judged[0, short[0]]]} items"
        )
    return _over_sets(answers, number.astype(np.int64), level)


def _over_sets(answers: LongAnswers, sets: NDArray[np.int64], level: float) -> SetConcordance:
    """Return the mean over sets, from ``sets`` (answers,) numbered from 0; the items of all sets differ."""
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    order, row = np.unique(np.stack([sets, answers.raters]), axis=1, return_inverse=True)
    row = row.ravel()  # (answers,) which ranking: a rater's of a set
    of_set, rater = order  # (rankings,)
    ranks = _centred_ranks(answers.values, row, len(of_set))
    together = np.bincount(answers.items, ranks)[answers.items]  # (answers,) what all say of the item
    own = np.bincount(row, ranks**2)  # (rankings,) RⱼRⱼ
    others = np.bincount(row, ranks * together) - own  # (rankings,) Σ_{k≠j} RⱼRₖ
    size, spread, pairs = (np.bincount(of_set, weights=part) for part in (None, own, others))  # (sets,)
    counted = (size > 1) & (spread > 0)
    if not counted.any():
        raise StatisticsError(
            "Kendall's W needs a set that two raters ordered, and somebody who ranks its items differently; found "
            "only ties, or one rater per set"
        )
    weight = np.where(counted, (size - 1) / np.maximum(size, 1), 0.0)
    within = pairs / np.where(counted, (size - 1) * spread, 1.0)
    total = weight.sum()
    value = float(weight @ within / total)

    there = np.where(counted, spread, 1.0)[of_set]
    gain = 2 * others / (np.maximum(size - 1, 1)[of_set] * there)
    pull = gain - within[of_set] * (1 / size[of_set] + own / there)  # (rankings,)
    widened = weight * size / np.maximum(size - 1, 1)
    influence = np.bincount(rater, widened[of_set] * pull) / total  # (raters,)
    rater_count = len(np.unique(rater[counted[of_set]]))
    low, high = _interval(value, influence, rater_count, level)

    proportion = float(weight.sum() / counted.sum())  # W is linear in r: its mean is (1 − p) + p · r

    def estimate(number: float, ends: tuple[float, float]) -> Estimate:
        used = int(counted[sets].sum())
        return Estimate(number, *ends, level, METHOD, rater_count, items=int(counted.sum()), answers=used)

    bottom = np.maximum(1 - proportion + proportion * np.array([low, high]), 0.0)
    return SetConcordance(
        w=estimate(1 - proportion + proportion * value, (float(bottom[0]), float(bottom[1]))),
        mean_correlation=estimate(value, (low, high)),
    )


def _interval(value: float, influence: NDArray[np.float64], rater_count: int, level: float) -> tuple[float, float]:
    """Return the ends from r and each rater's influence on it."""
    if rater_count < 3:
        return np.nan, np.nan
    if value >= 1 - 1e-12:
        return 1.0, 1.0
    error = float(np.sqrt((influence**2).sum()))
    if error <= 1e-12:
        return np.nan, np.nan
    centre = np.arctanh(max(value, -1 + 1e-15))
    reach = special.stdtrit(rater_count - 1, (1 + level) / 2) * error / (1 - value**2)
    return float(np.tanh(centre - reach)), float(np.tanh(centre + reach))


def _centred_ranks(values: NDArray[np.float64], row: NDArray[np.intp], rows: int) -> NDArray[np.float64]:
    """Return each value's mid-rank among those of its ranking, less their mean (answers,)."""
    order = np.lexsort((values, row))
    first = np.concatenate([[True], (np.diff(row[order]) != 0) | (np.diff(values[order]) != 0)])
    tie = np.cumsum(first) - 1  # (answers,) in order: which group of equal values
    middle = np.bincount(tie, np.arange(len(order))) / np.bincount(tie)
    ranks = np.empty(len(values))
    ranks[order] = middle[tie]
    mean = np.bincount(row, ranks, rows) / np.bincount(row, minlength=rows)
    return np.asarray(ranks - mean[row], np.float64)
