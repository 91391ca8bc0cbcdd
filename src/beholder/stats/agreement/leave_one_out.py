"""How well each rater agrees with all the others: the others' mean or majority leaves the rater out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import long_answers
from beholder.stats.intervals.proportions import wilson


@dataclass(frozen=True, eq=False)
class Correlations:
    """Each rater's correlation with the others' item means; nan where it is not defined."""

    correlation: NDArray[np.float64]  # (raters,)
    low: NDArray[np.float64]  # (raters,) Fisher's interval; nan under four items
    high: NDArray[np.float64]  # (raters,)
    items: NDArray[np.int64]  # (raters,) items that somebody else judged too
    level: float


@dataclass(frozen=True, eq=False)
class Agreements:
    """Each rater's agreement with the others' majority; nan where nobody else judged the same items."""

    rate: NDArray[np.float64]  # (raters,) a tie of the others counts half
    low: NDArray[np.float64]  # (raters,) Wilson's interval of the proportion
    high: NDArray[np.float64]  # (raters,)
    p_value: NDArray[np.float64]  # (raters,) chance that someone who guesses agrees as often; small is good
    items: NDArray[np.int64]  # (raters,) items that somebody else judged too
    level: float


def leave_one_out_correlation(
    raters: ArrayLike, items: ArrayLike, values: ArrayLike, *, level: float = 0.95
) -> Correlations:
    """Return each rater's Pearson correlation with the mean of the other raters, over the shared items.

    The confidence interval is tanh(atanh r ± z/√(n−3)). A rater who always gives the same value, or with fewer
    than three shared items, has nan.
    """
    answers = long_answers(raters, items, values)
    count = np.bincount(answers.items)[answers.items]
    shared = count >= 2
    who, own = answers.raters[shared], answers.values[shared]
    total = np.bincount(answers.items, answers.values)[answers.items][shared]
    others = (total - own) / (count[shared] - 1)

    n = np.bincount(who, minlength=answers.rater_count)  # (raters,)
    own_off, others_off = _centred(own, who, n), _centred(others, who, n)
    products = np.bincount(who, own_off * others_off, answers.rater_count)
    spread = np.bincount(who, own_off**2, answers.rater_count) * np.bincount(
        who, others_off**2, answers.rater_count
    )
    scale = np.bincount(who, own**2, answers.rater_count) * np.bincount(who, others**2, answers.rater_count)
    varies = (n >= 3) & (spread > 1e-24 * scale)  # rounding leaves a constant column just above zero
    r = np.where(varies, np.clip(products / np.sqrt(np.where(varies, spread, 1.0)), -1, 1), np.nan)
    with np.errstate(divide="ignore"):
        half = special.ndtri((1 + level) / 2) / np.sqrt(np.where(n > 3, n - 3, np.nan))
        low, high = np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)
    return Correlations(r, low, high, n.astype(np.int64), level)


def leave_one_out_agreement(
    raters: ArrayLike, items: ArrayLike, choices: ArrayLike, *, level: float = 0.95
) -> Agreements:
    """Return how often each rater's binary choice (0 or 1) is the majority of the other raters.

    Where the others are split evenly, the answer counts half in the proportion and is left out of the test. The
    p-value is one-sided: P(X ≥ agreements) for X ~ Bin(undivided items, ½).
    """
    answers = long_answers(raters, items, choices)
    if not np.all(np.isin(answers.values, (0, 1))):
        raise StatisticsError("agreement with the majority needs choices of 0 or 1; found other values")
    count = np.bincount(answers.items)[answers.items] - 1
    ones = np.bincount(answers.items, answers.values)[answers.items] - answers.values
    lead = np.sign(2 * ones - count) * (2 * answers.values - 1)  # 1 agrees, −1 differs, 0 the others are split
    who, lead = answers.raters[count > 0], lead[count > 0]

    n = np.bincount(who, minlength=answers.rater_count)  # (raters,)
    agree = np.bincount(who, lead > 0, answers.rater_count)
    decided = np.bincount(who, lead != 0, answers.rater_count)
    points = agree + (n - decided) / 2
    rate = np.where(n > 0, points / np.maximum(n, 1), np.nan)
    low, high = wilson(points, n, level)
    # P(X ≥ k) = I_{1/2}(k, n − k + 1), and 1 at k = 0
    upper = np.where(agree > 0, special.betainc(np.maximum(agree, 1), decided - agree + 1, 0.5), 1.0)
    return Agreements(rate, low, high, np.where(n > 0, upper, np.nan), n.astype(np.int64), level)


def leave_one_out_plurality(
    raters: ArrayLike, items: ArrayLike, choices: ArrayLike, *, classes: int, level: float = 0.95
) -> Agreements:
    """Return how often each rater's choice of several (0, 1, …) is the one that most of the other raters chose.

    Items on which the others have no single leader are left out. The p-value is one-sided: P(X ≥ agreements) for
    X ~ Bin(items, 1/classes), a rater who chooses blindly.
    """
    answers = long_answers(raters, items, choices)
    chosen = answers.values.astype(np.int64)
    if np.any((chosen != answers.values) | (chosen < 0) | (chosen >= classes)):
        raise StatisticsError(f"choices are whole numbers from 0 to {classes - 1}; found others")
    counts = np.zeros((int(answers.items.max(initial=-1)) + 1, classes))
    np.add.at(counts, (answers.items, chosen), 1.0)
    others = counts[answers.items]  # (answers, classes), without the own answer
    others[np.arange(len(chosen)), chosen] -= 1
    most = others.max(axis=1, initial=0.0)
    led = (most > 0) & ((others == most[:, None]).sum(axis=1) == 1)
    agrees = (others.argmax(axis=1) == chosen)[led]
    who = answers.raters[led]
    n = np.bincount(who, minlength=answers.rater_count)
    agree = np.bincount(who, agrees, answers.rater_count)
    rate = np.where(n > 0, agree / np.maximum(n, 1), np.nan)
    low, high = wilson(agree, n, level)
    upper = np.where(agree > 0, special.betainc(np.maximum(agree, 1), n - agree + 1, 1 / classes), 1.0)
    return Agreements(rate, low, high, np.where(n > 0, upper, np.nan), n.astype(np.int64), level)


def _centred(values: NDArray[np.float64], who: NDArray[np.int64], n: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return values minus their rater's mean (answers,)."""
    mean = np.bincount(who, values, len(n)) / np.maximum(n, 1)
    return np.asarray(values - mean[who], np.float64)
