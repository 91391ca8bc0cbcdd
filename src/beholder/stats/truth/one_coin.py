"""The one-coin model: Dawid and Skene's with one number per rater, the chance to be right.

Rater r is right with chance a_r, whatever the class, and else gives any of the other labels with the same
chance. It needs far fewer answers than a whole confusion matrix. EM as in
:mod:`beholder.stats.truth.dawid_skene`: a_r is the mean posterior of r's own answers. Zhang, Chen, Zhou and
Jordan, "Spectral methods meet EM", JMLR 17 (2016).
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
class OneCoin:
    """What is known of the items and the raters, and how the fit went."""

    posterior: NDArray[np.float64]  # (items, classes); nan for an item without answers
    prior: NDArray[np.float64]  # (classes,)
    accuracy: NDArray[np.float64]  # (raters,) chance to be right; nan for someone without answers
    log_likelihood: float  # of all answers, under the parameters the posterior is from
    iterations: int
    converged: bool

    @property
    def labels(self) -> NDArray[np.int64]:
        """The most probable class of each item (items,); −1 for an item without answers; the lower one of two."""
        return most_probable(self.posterior)


def one_coin(
    raters: ArrayLike,
    items: ArrayLike,
    labels: ArrayLike,
    *,
    classes: int | None = None,
    iterations: int = 100,
    tolerance: float = 1e-7,
) -> OneCoin:
    """Fit the model to long labels (integers from 0), from the proportions of votes.

    It stops after ``iterations`` turns, or when the log-likelihood per answer grows by less than ``tolerance``.
    """
    check_turns(iterations, tolerance)
    answers = rater_labels(raters, items, labels, classes=classes)
    posterior = np.nan_to_num(vote_proportions(answers))
    likelihood, converged, turn = -np.inf, False, 0
    prior, accuracy = _parameters(posterior, answers)
    while turn < iterations and not converged:
        turn += 1
        before = likelihood
        log_prior = np.log(np.maximum(prior, FLOOR))
        posterior, likelihood = posterior_of(log_prior, _log_chances(accuracy, answers.classes), answers)
        prior, accuracy = _parameters(posterior, answers)
        converged = likelihood - before < tolerance * len(answers.items)
    return OneCoin(
        posterior=np.where(answers.judged[:, None], posterior, np.nan),
        prior=prior,
        accuracy=accuracy,
        log_likelihood=likelihood,
        iterations=turn,
        converged=converged,
    )


def _parameters(
    posterior: NDArray[np.float64], answers: RaterLabels
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    right = np.bincount(answers.raters, posterior[answers.items, answers.labels], answers.rater_count)
    answer_counts = np.bincount(answers.raters, minlength=answers.rater_count)
    return posterior[answers.judged].mean(axis=0), right / np.where(answer_counts > 0, answer_counts, np.nan)


def _log_chances(accuracy: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
    """Return log chances (raters × answered, true)."""
    right = np.nan_to_num(accuracy, nan=1 / classes)
    wrong = np.clip((1 - right) / (classes - 1), FLOOR, 1 - FLOOR)
    table = np.tile(np.log(wrong)[:, None, None], (1, classes, classes))
    diagonal = np.arange(classes)
    table[:, diagonal, diagonal] = np.log(np.clip(right, FLOOR, 1 - FLOOR))[:, None]
    return table.reshape(-1, classes)
