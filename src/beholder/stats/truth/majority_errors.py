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

from collections.abc import Iterator
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

AT_ONCE = 8_000
"""Votes whose probabilities are held for all grid points at a time: few enough for the processor's cache."""

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
    decided = np.flatnonzero(answers.values)
    ties = np.bincount(answers.items[answers.values == 0], minlength=answers.item_count).astype(np.float64)
    decided = decided[np.argsort(answers.items[decided], kind="stable")]  # a pair's votes one after another
    vote, pair, rater = answers.values[decided], answers.items[decided], answers.raters[decided]
    decisions = np.bincount(pair, minlength=answers.item_count).astype(np.float64)
    by_pair = list(_groups(decisions, None))
    of_raters = np.argsort(rater, kind="stable")
    by_rater = list(_groups(np.bincount(rater, minlength=answers.rater_count), of_raters))
    del decided, rater, of_raters
    strength_prior = np.full(STRENGTHS, 1 / STRENGTHS)
    reliability_prior = np.full(RELIABILITIES, 1 / RELIABILITIES)
    overall = (ties.sum() + 0.5) / (len(answers.values) + 1)
    tie_rate = np.full(STRENGTHS, overall)
    sent = np.full(len(vote), FIRST_GUESS)  # by raters: the mean of a_r, without the vote on this pair
    replied = np.zeros(len(vote))  # by pairs: the mean of s, without the vote of this rater
    first, reliability = np.zeros(answers.item_count), np.zeros(answers.rater_count)
    converged, turn = False, 0
    while turn < iterations and not converged:
        turn += 1
        folded = _Folded()
        for group in by_pair:
            first[group.members], part = _pairs_reply(
                group, vote, sent, replied, (decisions, ties), tie_rate, strength_prior
            )
            folded.add(part)
        moved, posteriors = 0.0, _Folded()
        for group in by_rater:
            before = sent[group.votes]
            reliability[group.members], part = _raters_send(group, vote, replied, sent, reliability_prior)
            moved += float(np.abs(sent[group.votes] - before).sum())
            posteriors.add(part)
        converged = len(vote) == 0 or moved / len(vote) < tolerance
        strength_prior, reliability_prior = _prior(folded), _prior(posteriors)
        tie_rate = (folded.ties + PRIOR_TIES * overall) / (folded.votes + PRIOR_TIES)
    answered = np.bincount(answers.raters, minlength=answers.rater_count) > 0
    return MajorityErrors(
        first=np.where(decisions + ties > 0, first, np.nan),
        majority=np.sign(np.bincount(pair, vote, answers.item_count)).astype(np.int64),
        reliability=np.where(answered, reliability, np.nan),
        iterations=turn,
        converged=converged,
    )


@dataclass(frozen=True, eq=False)
class _Group:
    """Some pairs, or some raters, with all their votes: few enough for tables of votes by grid points."""

    members: slice
    votes: slice | NDArray[np.integer]  # which votes, one member's after another's
    sizes: NDArray[np.int64]  # (members,) how many votes each has
    sums: sparse.csr_array  # (members, votes) adds up the votes of each member


@dataclass(slots=True)
class _Folded:
    """Posteriors added up over pairs or raters."""

    rows: int = 0
    total: NDArray[np.float64] | float = 0.0  # (grid,)
    ties: NDArray[np.float64] | float = 0.0  # (grid,) ties, by the strength of their pairs
    votes: NDArray[np.float64] | float = 0.0  # (grid,) all votes

    def add(self, part: "_Folded") -> None:
        self.rows += part.rows
        self.total = self.total + part.total
        self.ties = self.ties + part.ties
        self.votes = self.votes + part.votes


def _groups(sizes: NDArray[np.number], order: NDArray[np.integer] | None) -> Iterator[_Group]:
    """Yield all members in groups of about ``AT_ONCE`` votes or members, from how many votes each has.

    ``order`` has their votes, one member's after another's; without it, the votes are in that order themselves.
    """
    members = len(sizes)
    starts = np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])  # (members + 1,)
    most = max(AT_ONCE, int(np.diff(starts).max(initial=0)))
    ones, places = np.ones(most), np.arange(most, dtype=np.int32)  # the matrices of all groups share them
    begin = 0
    while begin < members:
        end = int(np.searchsorted(starts, starts[begin] + AT_ONCE, side="right")) - 1
        end = min(max(end, begin + 1), begin + AT_ONCE, members)
        here = slice(int(starts[begin]), int(starts[end]))
        edges = starts[begin : end + 1] - starts[begin]
        count = int(edges[-1])
        sums = sparse.csr_array((ones[:count], places[:count], edges.astype(np.int32)), (end - begin, count))
        yield _Group(slice(begin, end), here if order is None else order[here], np.diff(edges), sums)
        begin = end


def _pairs_reply(
    group: _Group,
    vote: NDArray[np.float64],
    sent: NDArray[np.float64],
    replied: NDArray[np.float64],
    counts: tuple[NDArray[np.float64], NDArray[np.float64]],
    tie_rate: NDArray[np.float64],
    prior: NDArray[np.float64],
) -> tuple[NDArray[np.float64], _Folded]:
    """Write what the pairs reply to their votes; return the probability that the first is preferred, and sums."""
    decisions, ties = (count[group.members] for count in counts)
    half = np.linspace(0, 0.5, STRENGTHS + 1)[1:]
    strength = np.concatenate([-half[::-1], half])  # (2 × STRENGTHS,)
    tied = ties[:, None] * np.log(tie_rate) + decisions[:, None] * np.log1p(-tie_rate) + np.log(prior)
    likelihood = _likelihood(vote[group.votes] * sent[group.votes], strength)
    of_pairs = _normalised(group.sums @ np.log(likelihood) + np.concatenate([tied[:, ::-1], tied], axis=1))
    replied[group.votes] = _mean_without(of_pairs, group.sizes, likelihood, strength)
    judged = decisions + ties > 0
    folded = (of_pairs[:, STRENGTHS:] + of_pairs[:, :STRENGTHS][:, ::-1])[judged]  # (judged pairs, STRENGTHS)
    sums = _Folded(len(folded), folded.sum(axis=0), folded.T @ ties[judged], folded.T @ (decisions + ties)[judged])
    return of_pairs[:, STRENGTHS:].sum(axis=1), sums


def _raters_send(
    group: _Group,
    vote: NDArray[np.float64],
    replied: NDArray[np.float64],
    sent: NDArray[np.float64],
    prior: NDArray[np.float64],
) -> tuple[NDArray[np.float64], _Folded]:
    """Write what the raters send to their votes; return their reliabilities, and sums over those who decided."""
    grid = np.linspace(0, 1, RELIABILITIES)
    likelihood = _likelihood(vote[group.votes] * replied[group.votes], grid)
    of_raters = _normalised(group.sums @ np.log(likelihood) + np.log(prior))
    sent[group.votes] = _mean_without(of_raters, group.sizes, likelihood, grid)
    active = of_raters[group.sizes > 0]
    return of_raters @ grid, _Folded(len(active), active.sum(axis=0))


def _likelihood(lean: NDArray[np.float64], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability ½ + lean × grid of each vote at each grid point (votes, grid)."""
    likelihood = lean[:, None] * grid
    likelihood += 0.5
    np.maximum(likelihood, LEAST, out=likelihood)
    return likelihood


def _normalised(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = log_weights - log_weights.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _mean_without(
    posterior: NDArray[np.float64],
    sizes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    grid: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the mean over the grid of the posterior of each vote's member without that vote (votes,)."""
    rest = np.repeat(posterior, sizes, axis=0)
    rest /= likelihood
    return np.asarray((rest @ grid) / rest.sum(axis=1), np.float64)


def _prior(posteriors: _Folded) -> NDArray[np.float64]:
    """Return the mean of the posteriors, mixed with a little of the uniform distribution."""
    total = np.asarray(posteriors.total, np.float64)
    return np.asarray((total + PRIOR_VOTES / len(total)) / (posteriors.rows + PRIOR_VOTES), np.float64)
