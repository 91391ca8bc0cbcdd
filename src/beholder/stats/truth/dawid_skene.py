"""Dawid and Skene's model: the true label of each item and the confusion of each rater, from labels alone.

An item is of class c with chance p(c), and rater r answers l to an item of class c with chance π_r(c, l),
independently. The EM algorithm takes turns: the posterior of each item's class given p and π, T(c) ∝ p(c) Π π_r(c,
l); then p as the mean posterior, and π_r(c, l) as r's expected proportion of answers l on items of class c. It
begins with the proportions of votes. Dawid and Skene, "Maximum likelihood estimation of observer error-rates using
the EM algorithm", Applied Statistics 28 (1979).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.stats.truth.rater_labels import (
    FLOOR,
    RaterLabels,
    check_turns,
    most_probable,
    posterior_of,
    rater_labels,
    vote_proportions,
)


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """What is known of the items and the raters, and how the fit went."""

    posterior: NDArray[np.float64]  # (items, classes); nan for an item without answers
    prior: NDArray[np.float64]  # (classes,)
    confusion: NDArray[np.float64]  # (raters, true, answered); nan for someone without answers
    log_likelihood: float  # of all answers, under the last but one parameters: those the posterior is from
    iterations: int
    converged: bool

    @property
    def labels(self) -> NDArray[np.int64]:
        """The most probable class of each item (items,); −1 for an item without answers; the lower one of two."""
        return most_probable(self.posterior)

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """The chance that each rater is right on an item drawn at random (raters,)."""
        return np.asarray(np.einsum("c,rcc->r", self.prior, self.confusion), np.float64)


def dawid_skene(
    raters: ArrayLike,
    items: ArrayLike,
    labels: ArrayLike,
    *,
    classes: int | None = None,
    iterations: int = 100,
    tolerance: float = 1e-7,
) -> DawidSkene:
    """Fit the model to long labels (integers from 0).

    It stops after ``iterations`` turns, or when the log-likelihood per answer grows by less than ``tolerance``.
    The likelihood can have several maxima; this finds the one near the majority vote.
    """
    check_turns(iterations, tolerance)
    answers = rater_labels(raters, items, labels, classes=classes)
    posterior = np.nan_to_num(vote_proportions(answers))
    likelihood, converged, turn = -np.inf, False, 0
    prior, confusion = _parameters(posterior, answers)
    while turn < iterations and not converged:
        turn += 1
        before = likelihood
        posterior, likelihood = posterior_of(np.log(np.maximum(prior, FLOOR)), np.log(confusion), answers)
        prior, confusion = _parameters(posterior, answers)
        converged = likelihood - before < tolerance * len(answers.items)
    table = confusion.reshape(answers.rater_count, answers.classes, answers.classes).transpose(0, 2, 1)
    return DawidSkene(
        posterior=np.where(answers.judged[:, None], posterior, np.nan),
        prior=prior,
        confusion=np.where(answers.answered[:, None, None], table, np.nan),
        log_likelihood=likelihood,
        iterations=turn,
        converged=converged,
    )


def _parameters(
    posterior: NDArray[np.float64], answers: RaterLabels
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the prior (classes,) and the chances (raters × answered, true).

    An expected count of 0 is raised to 1e-10, so that no answer is ever impossible.
    """
    prior = posterior[answers.judged].mean(axis=0)
    expected = np.maximum(answers.indicator_transpose @ posterior, FLOOR).reshape(
        answers.rater_count, answers.classes, answers.classes
    )
    return prior, (expected / expected.sum(axis=1, keepdims=True)).reshape(-1, answers.classes)
