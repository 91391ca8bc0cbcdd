"""Kendall's coefficient of concordance W: how far raters put the same items in the same order.

W = 12 S / (m²(n³ − n) − m Σ Tⱼ), with m raters, n items, S the sum of squares of the items' rank sums about
their mean, and Tⱼ = Σ(t³ − t) over the ties of rater j. It is 1 where all orders are the same and about 1/m by
chance; m(n − 1)W is Friedman's χ² with n − 1 degrees of freedom. The mean of Spearman's correlations of all
pairs of raters is (mW − 1)/(m − 1) where nobody has ties. Kendall and Gibbons, "Rank Correlation Methods", 5th
edition (1990).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from beholder.errors import StatisticsError
from beholder.stats.complete_matrix import complete_matrix
from beholder.stats.estimate import Estimate
from beholder.stats.long_answers import long_answers
from beholder.stats.resampled_agreement import agreement_estimate


@dataclass(frozen=True)
class Concordance:
    """W with its interval over raters, and Friedman's test that the items are ordered at random."""

    w: Estimate
    mean_correlation: float  # (mW − 1)/(m − 1): 1 at W = 1, about 0 by chance
    chi_square: float
    degrees: int
    p_value: float


def kendall_w(
    raters: ArrayLike, items: ArrayLike, values: ArrayLike, weights: NDArray[np.integer], *, level: float = 0.95
) -> Concordance:
    """Return W of long answers (ranks or scores; ties share their mean rank).

    Every rater has to judge every item. The interval resamples raters, and copies of one rater are never paired:
    with centred ranks R, Cⱼₖ = Σ RⱼRₖ and weights w, the mean correlation of distinct raters is r = (Σ_{j≠k}
    wⱼwₖCⱼₖ/(m² − Σw²)) / (Σ wⱼCⱼⱼ/m), and W = (1 + (m − 1) r)/m. With all weights 1 that is W as above.
    """
    answers = long_answers(raters, items, values, people=weights.shape[-1])
    matrix = complete_matrix(answers, "Kendall's W")  # (people, items)
    if min(matrix.shape) < 2:
        raise StatisticsError(
            f"Kendall's W needs two raters and two items; found {matrix.shape[0]}, {matrix.shape[1]}"
        )
    ranks = stats.rankdata(matrix, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    together = ranks @ ranks.T  # (people, people)
    if not np.any(np.diag(together) > 0):
        raise StatisticsError("Kendall's W needs somebody who tells the items apart; found only ties")
    present = np.unique(answers.raters)

    def of_weights(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        w = drawn[:, present]
        size, copies = w.sum(axis=1), (w**2).sum(axis=1)
        own = np.diag(together)
        between = np.einsum("dj,dj->d", w @ together, w) - w**2 @ own
        spread, pairs = w @ own, size**2 - copies
        defined = (spread > 0) & (pairs > 0)
        r = between * size / np.where(defined, pairs * spread, 1.0)
        return np.where(defined, (1 + (size - 1) * r) / np.where(size > 0, size, 1.0), np.nan)

    found = agreement_estimate(answers, weights, of_weights, level=level)
    people, count = matrix.shape
    chi_square = people * (count - 1) * found.value
    return Concordance(
        w=found,
        mean_correlation=(people * found.value - 1) / (people - 1),
        chi_square=chi_square,
        degrees=count - 1,
        p_value=float(special.chdtrc(count - 1, chi_square)),
    )
