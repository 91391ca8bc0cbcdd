"""The one-coin model: Dawid and Skene's with one number a rater, the chance to be right.

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
    CrowdAnswers,
    check_turns,
    crowd_answers,
    most_probable,
    posterior_of,
    vote_shares,
)


@dataclass(frozen=True, eq=False)
class OneCoin:
    """What is known of the items and the raters, and how the fit went."""

    posterior: NDArray[np.float64]  # (items, classes); nan for an item without answers
    prior: NDArray[np.float64]  # (classes,)
    accuracy: NDArray[np.float64]  # (people,) chance to be right; nan for someone without answers
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
    """Fit the model to long labels (integers from 0), from the shares of votes.

    It stops after ``iterations`` turns, or when the log-likelihood an answer grows by less than ``tolerance``.
    """
    check_turns(iterations, tolerance)
    answers = crowd_answers(raters, items, labels, classes=classes)
    posterior = np.nan_to_num(vote_shares(answers))
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
    posterior: NDArray[np.float64], answers: CrowdAnswers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    right = np.bincount(answers.raters, posterior[answers.items, answers.labels], answers.people)
    given = np.bincount(answers.raters, minlength=answers.people)
    return posterior[answers.judged].mean(axis=0), right / np.where(given > 0, given, np.nan)


def _log_chances(accuracy: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
    """Return log chances (people × answered, true)."""
    known = np.nan_to_num(accuracy, nan=1 / classes)
    wrong = np.clip((1 - known) / (classes - 1), FLOOR, 1 - FLOOR)
    table = np.tile(np.log(wrong)[:, None, None], (1, classes, classes))
    diagonal = np.arange(classes)
    table[:, diagonal, diagonal] = np.log(np.clip(known, FLOOR, 1 - FLOOR))[:, None]
    return table.reshape(-1, classes)
