"""Gwet's AC1 and AC2 from long answers or from counts, with a confidence interval over raters.

AC = (pₐ − pₑ)/(1 − pₑ). pₐ is the mean over items of the credit of two raters' answers, 1 where they are equal;
pₑ = T/(q(q − 1)) Σ πₖ(1 − πₖ), where q is the number of categories, T the sum of all credits, and πₖ the mean
over items of the proportion of raters who chose k. AC1 gives no credit to different answers, so T = q; AC2 gives
some. Unlike κ, agreement stays high where nearly all items are of one kind. Gwet, "Computing inter-rater
reliability and its variance in the presence of high agreement", British Journal of Mathematical and Statistical
Psychology 61 (2008); credits and missing answers as in the "Handbook of Inter-Rater Reliability", 4th edition
(2014).
"""

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import category_counts, category_numbers, long_answers
from beholder.stats.agreement.pair_agreement import beyond_chance, mean_pairs, on_pairs, sums_of_counts
from beholder.stats.agreement.resampled_agreement import agreement_estimate, pairable
from beholder.stats.each import Map
from beholder.stats.estimate import Estimate

Credit = Literal["identity", "linear", "quadratic", "ordinal", "radical", "ratio"]
"""What two different answers count: see :func:`pair_credits`. Identity makes AC1, the others AC2."""


def gwet_ac(
    raters: ArrayLike,
    items: ArrayLike,
    values: ArrayLike,
    weights: NDArray[np.integer],
    *,
    categories: ArrayLike | None = None,
    credit: Credit = "identity",
    level: float = 0.95,
    each: Map = map,
) -> Estimate:
    """Return AC of long answers, with an expanded BCa confidence interval that resamples raters.

    ``categories`` are all values that raters could give: their number counts, so give those nobody chose too.
    Where none are given, those found are taken. ``weights`` (replicates, raters) come from
    :func:`beholder.stats.intervals.bootstrap.rater_weights`. Copies of one rater are never paired with each
    other. ``each`` applies AC to blocks of replicates.
    """
    answers = long_answers(raters, items, values, rater_count=weights.shape[-1])
    if len(pairable(answers).items) == 0:
        raise StatisticsError("AC needs at least one item with two answers; found none")
    category_values, number = category_numbers(answers, categories)
    _check(len(category_values))
    counted = pair_credits(category_values, credit)
    coefficients = on_pairs(answers, number, counted, partial(_coefficients, credit=counted), each=each)
    return agreement_estimate(answers, weights, coefficients, level=level)


def ac_of_counts(counts: ArrayLike, values: ArrayLike | None = None, *, credit: Credit = "identity") -> float:
    """Return AC from ``counts`` (items, categories): how many raters put each item in each category.

    ``values`` (categories,) are the numbers that credits are taken from, 0, 1, 2 … where none are given.
    """
    table = category_counts(counts, "AC")
    numbers = np.arange(table.shape[1]) if values is None else np.asarray(values, np.float64)
    if numbers.shape != table.shape[1:]:
        raise StatisticsError(f"AC needs a value for each of {table.shape[1]} categories; found {numbers.shape}")
    _check(len(numbers))
    counted = pair_credits(numbers, credit)
    sums = sums_of_counts(table.T[:, :, None], table.sum(axis=1)[:, None], counted)
    return float(_coefficients(*mean_pairs([sums]), credit=counted)[0])


def pair_credits(values: ArrayLike, credit: Credit) -> NDArray[np.float64]:
    """Return what a pair of answers counts, (categories, categories), for categories with these values.

    With d = |v − v′| and D the largest d: linear 1 − d/D; quadratic 1 − (d/D)²; radical 1 − √(d/D); ratio 1 −
    ((v − v′)/(v + v′))² / ((v₁ − v_q)/(v₁ + v_q))²; ordinal 1 − C(m, 2)/C(q, 2), where m is the number of
    categories from one to the other, both counted, and q that of all.
    """
    numbers = np.asarray(values, np.float64)
    if credit == "identity" or len(numbers) == 1:
        return np.eye(len(numbers))
    distance = np.abs(numbers[:, None] - numbers[None, :])
    if credit == "ordinal":
        rank = np.argsort(np.argsort(numbers))
        steps = np.abs(rank[:, None] - rank[None, :]) + 1
        return np.asarray(1 - steps * (steps - 1) / (len(numbers) * (len(numbers) - 1)), np.float64)
    if credit == "ratio":
        if np.any(numbers < 0):
            raise StatisticsError(f"ratio credits need values of at least 0; found {numbers.min()}")
        both = numbers[:, None] + numbers[None, :]
        ratio = (distance / np.where(both > 0, both, 1.0)) ** 2
    else:
        power = {"linear": 1.0, "quadratic": 2.0, "radical": 0.5}[credit]
        ratio = (distance / distance.max()) ** power
    return np.asarray(1 - ratio / ratio.max(), np.float64)


def _coefficients(
    observed: NDArray[np.float64], proportions: NDArray[np.float64], *, credit: NDArray[np.float64]
) -> NDArray[np.float64]:
    kinds = len(credit)
    chance = credit.sum() / (kinds * (kinds - 1)) * (proportions * (1 - proportions)).sum(axis=0)
    return beyond_chance(observed, chance)


def _check(categories: int) -> None:
    if categories < 2:
        raise StatisticsError(
            "AC needs at least two categories a rater could choose; found one; name all of them, also those that "
            "nobody chose"
        )
