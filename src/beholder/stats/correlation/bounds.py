"""What a metric's agreement with people lies between: the floor of knowing the generator, the ceiling of people.

A scorer that has learnt no more than which generator made an image agrees with people as far as generators differ
(the *floor*). And no metric can be expected to agree with people better than other people do (the *ceiling*).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.stats.correlation.metric_agreement import Opinions, single_value
from beholder.stats.correlation.pair_accuracy import PairAccuracy, pair_accuracy
from beholder.stats.correlation.paired_values import paired_values


def generator_floor(
    values: ArrayLike, generators: NDArray[np.int64], halves: NDArray[np.bool_], statistic: str
) -> float:
    """Return the agreement of people's opinions with the mean opinion of each image's generator.

    The mean is taken over the images of the other half, so that no image speaks for itself. Images whose generator
    is not in the other half are left out; nan where fewer than two generators remain.
    """
    y = np.asarray(values, np.float64)
    size = int(generators.max()) + 1
    known = np.full(len(y), np.nan)
    for mine in (halves, ~halves):
        count = np.bincount(generators[~mine], minlength=size)
        total = np.bincount(generators[~mine], y[~mine], size)
        means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        known[mine] = means[generators[mine]]
    there = np.isfinite(known)
    if len(np.unique(generators[there])) < 2:
        return float(np.nan)
    return single_value(known[there], y[there], statistic)


def generator_pair_floor(
    first: NDArray[np.int64], second: NDArray[np.int64], lead: NDArray[np.float64], groups: NDArray[np.int64]
) -> PairAccuracy:
    """Return the accuracy of always preferring the generator that won more often in the pairs of other prompts."""
    one, two = generator_pair_rates(first, second, lead, groups)
    return pair_accuracy(one, two, lead, groups=groups, ties="half")


def generator_pair_rates(
    first: NDArray[np.int64], second: NDArray[np.int64], lead: NDArray[np.float64], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how often the generators of each pair win in the pairs of other prompts (2, pairs).

    ``first`` and ``second`` are the generators of each pair, ``lead`` is above 0 where people prefer the first.
    Prompts (``groups``) are cut into two halves; each half is judged by the wins in the other.
    """
    size = int(max(first.max(), second.max())) + 1
    rates = np.zeros((2, len(lead)))
    for mine in (groups % 2 == 0, groups % 2 == 1):
        wins, shown = np.zeros(size), np.zeros(size)
        for side, sign in ((first, 1), (second, -1)):
            wins += np.bincount(side[~mine], np.sign(sign * lead[~mine]), size)
            shown += np.bincount(side[~mine], minlength=size)
        rate = wins / np.maximum(shown, 1)
        rates[:, mine] = rate[first[mine]], rate[second[mine]]
    return rates


def crowd_ceiling(opinions: Opinions, statistic: str, noise: NDArray[np.float64]) -> float:
    """Return the mean agreement of two crowds, each as large as the one asked.

    What is true is taken to be the opinions, drawn towards their mean until their variance is what is left of it
    after that of the errors: √(1 − mean SE²/variance). Rows of ``noise`` (draws, items) serve two and two as the
    errors of the crowds. Nan where errors are not known, and 0 (or ½) where they explain all there is.
    """
    if not opinions.vary or len(opinions.values) < 2:
        return float(np.nan)
    spread = float(np.var(opinions.values, ddof=1))
    if spread == 0:
        return float(np.nan)
    share = max(1 - float(np.mean(opinions.errors**2)) / spread, 0.0)
    middle = opinions.values.mean()
    truth = middle + np.sqrt(share) * (opinions.values - middle)
    crowds = truth + opinions.errors * noise[: len(noise) // 2 * 2]
    found = paired_values(crowds[::2], crowds[1::2], statistic)
    known = found[np.isfinite(found)]
    return float(np.mean(known)) if len(known) else float(np.nan)


def person_ceiling(shares: ArrayLike, answers: ArrayLike) -> float:
    """Return how often one person's vote on a pair is the majority of the others' votes on it.

    From the share of votes for the first and the number of votes; an even split of the others counts half. Pairs
    with one vote have no others. Nan where no pair has two, or shares are not of whole votes (ties).
    """
    n = np.asarray(answers, np.float64)
    votes = np.asarray(shares, np.float64) * n
    whole = np.isclose(votes, np.rint(votes)) & (n >= 2)
    if not whole.any():
        return float(np.nan)
    k, n = np.rint(votes[whole]), n[whole]
    for_first = np.sign(2 * (k - 1) - (n - 1)) / 2 + 0.5  # a voter for the first, by the others' majority
    for_second = np.sign((n - 1) - 2 * k) / 2 + 0.5
    return float(np.sum(k * for_first + (n - k) * for_second) / np.sum(n))
