"""Labels given by many raters, laid out for models of the true labels (Dawid–Skene, one-coin, MACE)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import long_answers

FLOOR = 1e-10  # the least a probability, or an expected count, can be


@dataclass(frozen=True, eq=False)
class RaterLabels:
    """One row per answer; the indicator matrix says which items each rater gave each label."""

    raters: NDArray[np.int64]  # (answers,) 0 … raters − 1
    items: NDArray[np.int64]  # (answers,) 0 … item_count − 1
    labels: NDArray[np.int64]  # (answers,) 0 … classes − 1
    rater_count: int
    item_count: int
    classes: int
    judged: NDArray[np.bool_]  # (items,) has an answer
    answered: NDArray[np.bool_]  # (raters,) gave an answer
    indicator: sparse.csr_array  # (items, raters × classes) 1 where the rater gave the item the label
    indicator_transpose: sparse.csr_array  # its transpose


def rater_labels(
    raters: ArrayLike, items: ArrayLike, labels: ArrayLike, *, classes: int | None = None
) -> RaterLabels:
    """Check long labels, integers from 0 below ``classes``; one more than the largest where it is not given."""
    answers = long_answers(raters, items, labels)
    label = answers.values.astype(np.int64)
    if np.any(label != answers.values) or label.min() < 0:
        raise StatisticsError("labels need to be integers from 0; found others")
    kinds = max(2, int(label.max()) + 1) if classes is None else classes
    if label.max() >= kinds or kinds < 2:
        raise StatisticsError(f"labels need to be below {kinds} classes, at least two; found {int(label.max())}")
    shape = (answers.item_count, answers.rater_count * kinds)
    indicator = sparse.csr_array(
        (np.ones(len(label)), (answers.items, answers.raters * kinds + label)), shape=shape
    )
    return RaterLabels(
        raters=answers.raters,
        items=answers.items,
        labels=label,
        rater_count=answers.rater_count,
        item_count=answers.item_count,
        classes=kinds,
        judged=np.bincount(answers.items, minlength=answers.item_count) > 0,
        answered=np.bincount(answers.raters, minlength=answers.rater_count) > 0,
        indicator=indicator,
        indicator_transpose=indicator.T.tocsr(),
    )


def vote_proportions(answers: RaterLabels) -> NDArray[np.float64]:
    """Return the proportion of raters for each label (items, classes); nan for an item without answers."""
    cell = answers.items * answers.classes + answers.labels
    votes = np.bincount(cell, minlength=answers.item_count * answers.classes)
    votes = votes.reshape(answers.item_count, answers.classes)
    return votes / np.where(answers.judged, votes.sum(axis=1), np.nan)[:, None]


def posterior_of(
    log_prior: NDArray[np.float64], log_chances: NDArray[np.float64], answers: RaterLabels
) -> tuple[NDArray[np.float64], float]:
    """Return the posterior (items, classes) and the log-likelihood of all answers.

    ``log_chances`` (raters × classes, classes) is the log chance that a rater gives a label (row) where a class
    (column) is true. An item without answers gets the prior.
    """
    joint = log_prior + answers.indicator @ log_chances  # (items, classes)
    highest = joint.max(axis=1, keepdims=True)
    posterior = np.exp(joint - highest)
    size = posterior.sum(axis=1, keepdims=True)
    posterior /= size
    likelihood = (highest + np.log(size))[answers.judged].sum()
    return posterior, float(likelihood)


def most_probable(posterior: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the most probable class of each row (items,), −1 where it is not known."""
    known_rows = ~np.isnan(posterior).any(axis=1)
    return np.where(known_rows, np.argmax(np.nan_to_num(posterior), axis=1), -1)


def check_turns(iterations: int, tolerance: float) -> None:
    """Refuse fewer than one turn, and a tolerance that is not a number from 0."""
    if iterations < 1 or not tolerance >= 0:
        raise StatisticsError(
            f"a fit needs at least one iteration and a tolerance from 0; found {iterations}, {tolerance}"
        )
