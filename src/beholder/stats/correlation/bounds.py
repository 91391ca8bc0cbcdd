"""What a metric's agreement with raters lies between: the generator-mean baseline and the human ceiling.

A scorer that has learned no more than which generator made an image agrees with raters as far as generators differ
(the *generator-mean baseline*). And no metric can be expected to agree with raters better than other raters do
(the *human ceiling*).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.stats.correlation.metric_agreement import Opinions, single_value
from beholder.stats.correlation.pair_accuracy import PairAccuracy, pair_accuracy
from beholder.stats.correlation.paired_values import paired_values


def generator_baseline(
    values: ArrayLike, generators: NDArray[np.int64], halves: NDArray[np.bool_], statistic: str
) -> float:
    """Return the generator-mean baseline: how raters' opinions agree with the mean opinion of the generator.

    The mean is taken over the images of the other half, so that no image speaks for itself. Images whose generator
    is not in the other half are left out; nan where fewer than two generators remain.
    """
    y = np.asarray(values, np.float64)
    size = int(generators.max()) + 1
    predicted = np.full(len(y), np.nan)
    for half in (halves, ~halves):
        count = np.bincount(generators[~half], minlength=size)
        total = np.bincount(generators[~half], y[~half], size)
        means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        predicted[half] = means[generators[half]]
    there = np.isfinite(predicted)
    if len(np.unique(generators[there])) < 2:
        return float(np.nan)
    return single_value(predicted[there], y[there], statistic)


def generator_pair_baseline(
    first: NDArray[np.int64], second: NDArray[np.int64], lead: NDArray[np.float64], groups: NDArray[np.int64]
) -> PairAccuracy:
    """Return the accuracy of always preferring the generator that won more often in the pairs of other prompts."""
    first_rates, second_rates = generator_pair_rates(first, second, lead, groups)
    return pair_accuracy(first_rates, second_rates, lead, groups=groups, ties="half")


def generator_pair_rates(
    first: NDArray[np.int64], second: NDArray[np.int64], lead: NDArray[np.float64], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how often the generators of each pair win in the pairs of other prompts (2, pairs).

    ``first`` and ``second`` are the generators of each pair, ``lead`` is above 0 where raters prefer the first.
    Prompts (``groups``) are cut into two halves; each half is judged by the wins in the other.
    """
    size = int(max(first.max(), second.max())) + 1
    rates = np.zeros((2, len(lead)))
    for half in (groups % 2 == 0, groups % 2 == 1):
        wins, appearances = np.zeros(size), np.zeros(size)
        for side, sign in ((first, 1), (second, -1)):
            wins += np.bincount(side[~half], np.sign(sign * lead[~half]), size)
            appearances += np.bincount(side[~half], minlength=size)
        rate = wins / np.maximum(appearances, 1)
        rates[:, half] = rate[first[half]], rate[second[half]]
    return rates


def panel_ceiling(opinions: Opinions, statistic: str, noise: NDArray[np.float64]) -> float:
    """Return the human ceiling: the mean agreement of two simulated panels, each as large as the real one.

    True opinions are taken to be the observed ones, shrunk towards their mean by the root of their reliability,
    √(1 − mean SE²/variance). Rows of ``noise`` (replicates, items) serve two and two as
    the errors of the panels. Nan where errors are not known, and 0 (or ½) where they explain all there is.
    """
    if not opinions.vary or len(opinions.values) < 2:
        return float(np.nan)
    spread = float(np.var(opinions.values, ddof=1))
    if spread == 0:
        return float(np.nan)
    reliability = max(1 - float(np.mean(opinions.errors**2)) / spread, 0.0)
    middle = opinions.values.mean()
    true_opinions = middle + np.sqrt(reliability) * (opinions.values - middle)
    panels = true_opinions + opinions.errors * noise[: len(noise) // 2 * 2]
    agreements = paired_values(panels[::2], panels[1::2], statistic)
    finite = agreements[np.isfinite(agreements)]
    return float(np.mean(finite)) if len(finite) else float(np.nan)


def single_rater_ceiling(proportions: ArrayLike, answers: ArrayLike) -> float:
    """Return how often one rater's vote on a pair is the majority of the others' votes on it.

    From the proportion of votes for the first and the number of votes; an even split of the others counts half.
    Pairs with one vote have no others. Nan where no pair has two, or proportions are not of whole votes (ties).
    """
    n = np.asarray(answers, np.float64)
    votes = np.asarray(proportions, np.float64) * n
    countable = np.isclose(votes, np.rint(votes)) & (n >= 2)
    if not countable.any():
        return float(np.nan)
    k, n = np.rint(votes[countable]), n[countable]
    for_first = np.sign(2 * (k - 1) - (n - 1)) / 2 + 0.5  # a voter for the first, by the others' majority
    for_second = np.sign((n - 1) - 2 * k) / 2 + 0.5
    return float(np.sum(k * for_first + (n - k) * for_second) / np.sum(n))
