"""MACE: who knows the answer, and who only fills in the form.

Rater r knows the true label with chance k_r and then gives it; else r does not look and gives label l with
chance ξ_r(l), a habit of their own. All classes are equally likely beforehand. Someone who is always right and
someone who always clicks "real" differ in k. Fitted by variational Bayes as published, with a Beta(½, ½) prior
for k and a Dirichlet(10, …, 10) prior for ξ, or by EM with a little smoothing. Hovy, Berg-Kirkpatrick, Vaswani
and Hovy, "Learning whom to trust with MACE", NAACL 2013.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.truth.rater_labels import (
    RaterLabels,
    check_turns,
    most_probable,
    posterior_of,
    rater_labels,
    vote_proportions,
)

Method = Literal["variational", "em"]
"""How parameters follow from expected counts: digamma means under the priors, or smoothed proportions."""

_KNOWS = (0.5, 0.5)  # prior counts of not knowing and knowing
_HABIT = 10.0  # prior count of each label of the habit


@dataclass(frozen=True, eq=False)
class Mace:
    """What is known of the items and the raters, and how the fit went."""

    posterior: NDArray[np.float64]  # (items, classes); nan for an item without answers
    competence: NDArray[np.float64]  # (raters,) proportion of answers that were known, of 1; nan without answers
    habit: NDArray[np.float64]  # (raters, classes) what each gives when they do not know; rows sum to 1
    log_likelihood: float  # of all answers, under the parameters the posterior is from
    iterations: int
    converged: bool

    @property
    def labels(self) -> NDArray[np.int64]:
        """The most probable class of each item (items,); −1 for an item without answers; the lower one of two."""
        return most_probable(self.posterior)


def mace(
    raters: ArrayLike,
    items: ArrayLike,
    labels: ArrayLike,
    *,
    classes: int | None = None,
    method: Method = "variational",
    iterations: int = 50,
    tolerance: float = 1e-7,
    start: tuple[ArrayLike, ArrayLike] | None = None,
) -> Mace:
    """Fit the model to long labels (integers from 0).

    ``start`` are the chances of not knowing and knowing (raters, 2) and the habits (raters, classes). Where none
    is given, a rater knows as often as they are with the majority, at least .1 and at most .9, and habits are
    even; so the fit needs no random restarts and is the same every time. It stops after ``iterations`` turns, or
    when the log-likelihood per answer changes by less than ``tolerance``; it need not grow under variational
    Bayes.
    """
    check_turns(iterations, tolerance)
    answers = rater_labels(raters, items, labels, classes=classes)
    knows, habit = _majority_start(answers) if start is None else _checked(start, answers)
    posterior, likelihood, counts = _expected(knows, habit, answers)
    converged, turn = False, 0
    while turn < iterations and not converged:
        turn += 1
        before = likelihood
        knows, habit = _parameters(*counts, method)
        posterior, likelihood, counts = _expected(knows, habit, answers)
        converged = abs(likelihood - before) < tolerance * len(answers.items)
    return Mace(
        posterior=np.where(answers.judged[:, None], posterior, np.nan),
        competence=np.where(answers.answered, knows[:, 1] / knows.sum(axis=1), np.nan),
        habit=np.where(answers.answered[:, None], habit / habit.sum(axis=1, keepdims=True), np.nan),
        log_likelihood=likelihood,
        iterations=turn,
        converged=converged,
    )


def _majority_start(answers: RaterLabels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    proportions = np.nan_to_num(vote_proportions(answers))
    with_most = proportions[answers.items, answers.labels] >= proportions.max(axis=1)[answers.items]
    answer_counts = np.bincount(answers.raters, minlength=answers.rater_count)
    rate = np.clip(
        np.bincount(answers.raters, with_most, answers.rater_count) / np.maximum(answer_counts, 1), 0.1, 0.9
    )
    return np.stack([1 - rate, rate], axis=1), np.full((answers.rater_count, answers.classes), 1 / answers.classes)


def _checked(
    start: tuple[ArrayLike, ArrayLike], answers: RaterLabels
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    knows, habit = (np.asarray(part, np.float64) for part in start)
    if knows.shape != (answers.rater_count, 2) or habit.shape != (answers.rater_count, answers.classes):
        raise StatisticsError(
            f"a start needs ({answers.rater_count}, 2) and ({answers.rater_count}, {answers.classes}) chances; "
            f"found {knows.shape}, {habit.shape}"
        )
    if not (np.all(knows > 0) and np.all(habit > 0)):
        raise StatisticsError("a start needs chances above 0; found others")
    return knows, habit


def _expected(
    knows: NDArray[np.float64], habit: NDArray[np.float64], answers: RaterLabels
) -> tuple[NDArray[np.float64], float, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the posterior, the log-likelihood, and the expected counts (raters, 2) and (raters, classes).

    An answer was known with chance T(l) k/(k + (1−k) ξ(l)), T(l) being the posterior of the label given.
    """
    guess = knows[:, :1] * habit  # (raters, classes): does not know, and gives this label
    chances = np.tile(guess[:, :, None], (1, 1, answers.classes))  # (raters, answered, true)
    diagonal = np.arange(answers.classes)
    chances[:, diagonal, diagonal] += knows[:, 1:]
    log_prior = np.full(answers.classes, -np.log(answers.classes))
    posterior, likelihood = posterior_of(log_prior, np.log(chances.reshape(-1, answers.classes)), answers)
    cell = answers.raters * answers.classes + answers.labels
    rate = knows[:, 1:] / (guess + knows[:, 1:])  # (raters, classes)
    knew_answer = posterior[answers.items, answers.labels] * rate.reshape(-1)[cell]
    size = answers.rater_count * answers.classes
    guessed = np.asarray(np.bincount(cell, 1 - knew_answer, size), np.float64).reshape(answers.rater_count, -1)
    knew = np.bincount(answers.raters, knew_answer, answers.rater_count)
    return posterior, likelihood, (np.stack([guessed.sum(axis=1), knew], axis=1), guessed)


def _parameters(
    knows: NDArray[np.float64], habit: NDArray[np.float64], method: Method
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both chances from their expected counts; under variational Bayes they sum to less than 1."""
    if method == "em":
        smooth = 0.01 / habit.shape[1]
        return _proportions(knows + smooth), _proportions(habit + smooth)
    return _digamma_proportions(knows + np.array(_KNOWS)), _digamma_proportions(habit + _HABIT)


def _proportions(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True), np.float64)


def _digamma_proportions(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(
        np.exp(special.digamma(counts) - special.digamma(counts.sum(axis=1, keepdims=True))), np.float64
    )
