"""How likely the majority vote on a pair is wrong, given raters of different reliability.

Of the raters of a population, ½ + s of those who decide prefer the first of a pair, where s, between −½ and ½,
is the strength of the preference. Rater r sees it with reliability a_r, between 0 (guesses) and 1 (is a member
of that population), so that a vote v, +1 for the first and −1 for the second, has probability ½ + v a_r s. A tie
has a probability that depends on |s| alone. A majority vote is wrong where its sign is not that of s.

Strengths and reliabilities have prior distributions on a grid, estimated from all votes (empirical Bayes) by the
EM algorithm; the prior of s is symmetric, because the order of a pair means nothing. The posterior of each s and
a_r is computed by belief propagation: a rater's message to a pair leaves out the vote on that pair, and the
other way round, so that no vote is counted twice. As the probability of a vote is linear in a_r and in s, a
message is one number, the mean of the distribution that sends it. Because reliabilities are averaged over and
not estimated as a point, a rater with few votes is never taken for infallible, as in
:mod:`beholder.stats.truth.one_coin`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import long_answers
from beholder.stats.truth.rater_labels import check_turns

STRENGTHS = 12
"""Grid points of the strength of a preference on either side of 0."""

RELIABILITIES = 11
"""Grid points of reliability, from 0 to 1."""

PRIOR_VOTES = 0.2
"""Weight of the uniform distribution in a prior, in numbers of pairs, or of raters."""

PRIOR_TIES = 10.0
"""Weight of the overall rate of ties in that of a strength, in numbers of answers."""

FIRST_GUESS = 0.6
"""Reliability of all raters before the first turn."""

LEAST = 1e-9
"""The least that a probability can be."""


@dataclass(frozen=True, eq=False)
class MajorityErrors:
    """What is known of the pairs and of the raters, and how the fit went."""

    first: NDArray[np.float64]  # (items,) probability that the population prefers the first; nan without answers
    majority: NDArray[np.int64]  # (items,) +1 the first, −1 the second, 0 neither
    reliability: NDArray[np.float64]  # (raters,) posterior mean; nan for someone without answers
    iterations: int
    converged: bool

    @property
    def wrong(self) -> NDArray[np.float64]:
        """The probability that the majority vote is wrong (items,); nan where there is no majority."""
        by_side = np.where(self.majority > 0, 1 - self.first, self.first)
        return np.where(self.majority != 0, by_side, np.nan)


def majority_errors(
    raters: ArrayLike, items: ArrayLike, votes: ArrayLike, *, iterations: int = 100, tolerance: float = 5e-4
) -> MajorityErrors:
    """Fit the model to long votes: +1 for the first of the pair, −1 for the second, 0 for neither.

    It stops after ``iterations`` turns, or when raters' messages change by less than ``tolerance`` on average.
    """
    check_turns(iterations, tolerance)
    answers = long_answers(raters, items, votes)
    if not np.isin(answers.values, (-1.0, 0.0, 1.0)).all():
        raise StatisticsError("votes need to be −1, 0 or 1; found others")
    decided = answers.values != 0
    vote, pair, rater = answers.values[decided], answers.items[decided], answers.raters[decided]
    decisions = np.bincount(pair, minlength=answers.item_count).astype(np.float64)
    ties = np.bincount(answers.items[~decided], minlength=answers.item_count).astype(np.float64)
    by_pair, by_rater = _sums(pair, answers.item_count), _sums(rater, answers.rater_count)
    half = np.linspace(0, 0.5, STRENGTHS + 1)[1:]
    strength = np.concatenate([-half[::-1], half])  # (2 × STRENGTHS,)
    reliability = np.linspace(0, 1, RELIABILITIES)
    strength_prior = np.full(STRENGTHS, 1 / STRENGTHS)
    reliability_prior = np.full(RELIABILITIES, 1 / RELIABILITIES)
    overall = (ties.sum() + 0.5) / (len(answers.values) + 1)
    tie_rate = np.full(STRENGTHS, overall)
    sent = np.full(len(vote), FIRST_GUESS)  # by raters: the mean of a_r, without the vote on this pair
    of_pairs, of_raters = np.zeros((0, 2 * STRENGTHS)), np.zeros((0, RELIABILITIES))
    converged, turn = False, 0
    while turn < iterations and not converged:
        turn += 1
        tied = ties[:, None] * np.log(tie_rate) + decisions[:, None] * np.log1p(-tie_rate) + np.log(strength_prior)
        likelihood = np.maximum(0.5 + (vote * sent)[:, None] * strength, LEAST)  # (votes, strengths)
        of_pairs = _normalised(by_pair @ np.log(likelihood) + np.concatenate([tied[:, ::-1], tied], axis=1))
        replied = _mean_without(of_pairs[pair], likelihood, strength)
        likelihood = np.maximum(0.5 + (vote * replied)[:, None] * reliability, LEAST)  # (votes, reliabilities)
        of_raters = _normalised(by_rater @ np.log(likelihood) + np.log(reliability_prior))
        before, sent = sent, _mean_without(of_raters[rater], likelihood, reliability)
        converged = len(vote) == 0 or float(np.abs(sent - before).mean()) < tolerance
        judged = decisions + ties > 0
        folded = (of_pairs[:, STRENGTHS:] + of_pairs[:, :STRENGTHS][:, ::-1])[judged]  # (judged pairs, STRENGTHS)
        strength_prior = _prior(folded)
        reliability_prior = _prior(of_raters[np.bincount(rater, minlength=answers.rater_count) > 0])
        rates = folded.T @ ties[judged] + PRIOR_TIES * overall
        tie_rate = rates / (folded.T @ (decisions + ties)[judged] + PRIOR_TIES)
    answered = np.bincount(answers.raters, minlength=answers.rater_count) > 0
    return MajorityErrors(
        first=np.where(decisions + ties > 0, of_pairs[:, STRENGTHS:].sum(axis=1), np.nan),
        majority=np.sign(by_pair @ vote).astype(np.int64),
        reliability=np.where(answered, of_raters @ reliability, np.nan),
        iterations=turn,
        converged=converged,
    )


def _sums(group: NDArray[np.int64], groups: int) -> sparse.csr_array:
    """Return the matrix (groups, votes) that adds up the votes of each group."""
    votes = np.arange(len(group))
    return sparse.csr_array((np.ones(len(group)), (group, votes)), shape=(groups, len(group)))


def _normalised(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float64)


def _mean_without(
    posterior: NDArray[np.float64], likelihood: NDArray[np.float64], grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean over the grid of each vote's posterior without that vote (votes,)."""
    rest = posterior / likelihood
    return np.asarray((rest @ grid) / rest.sum(axis=1), np.float64)


def _prior(posterior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the posteriors (rows, grid), mixed with a little of the uniform distribution."""
    rows, points = posterior.shape
    return np.asarray((posterior.sum(axis=0) + PRIOR_VOTES / points) / (rows + PRIOR_VOTES), np.float64)
