"""How much a voter's votes speak against honest voting; and which pair would tell most.

Against each of several habits, a voter's votes have a likelihood ratio: to prefer one entry with a fixed chance (a
member of a ring), or to vote by tossing a coin (a bot at a human pace). Honest voters follow the ratings of single
images, with a taste of their own for every entry. How common each habit is, is estimated from all voters together
(EM): where a ring is behind an entry, its members speak against each other. Voters are flagged by the probability
of any habit, as many as keep the expected number of honest ones among them small.

Which pairs a voter is shown is the arena's choice. One whose votes look like a habit is shown *probes*: pairs on
which honest voters are clear and the habit is not. Probes are checks and count for no entry. That a pair was no
probe has a chance, too, which is part of its logged propensity, so that weighted win rates stay unbiased.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.arena.voter_flags import CARELESS, FAVOUR
from beholder.errors import StatisticsError

FALSE_FLAGS, LEAST_PROBABILITY = 0.015, 0.03
"""Expected proportion of honest voters among all who may be flagged, and the least probability of a habit."""

STEPS, START, COUNTED = 60, 0.01, 0.5
"""Of EM: steps, the proportion of each habit to start with, and how many honest voters are added."""

FIRST_PROBE = 10
"""Ballots of a voter before the first probe: these are what anytime-valid intervals rest on."""

SUSPECT, LEAST_SHARE = 0.004, 0.003
"""Probability of a habit from which a voter is probed, and the least proportion that it is computed with."""

PROBED = 0.9
"""Chance that the next pair of such a voter is a probe."""

LAPSE = 0.02
"""Proportion of honest votes that are slips, to either side: no single vote convicts anybody."""

MOST_PROBES = 15
"""Pairs that a habit is probed with, the clearest first."""

PROBE_CHANCE = 0.2
"""Honest chance to prefer the image that a habit might prefer, below which a pair is a probe."""

_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(9)
_MASSES = _MASSES / _MASSES.sum()


@dataclass(frozen=True, eq=False)
class Suspicion:
    """Log likelihood ratios of every habit against honest voting, in nats."""

    ring: NDArray[np.float64]  # (voters, entries)
    coin: NDArray[np.float64]  # (voters,)

    @property
    def shares(self) -> NDArray[np.float64]:
        """How common each habit is among the voters (entries + 1,): rings, then the coin; the rest is honest."""
        logs = np.column_stack([self.ring, self.coin])
        voters, habits = logs.shape
        shares = np.full(habits, START)
        for _ in range(STEPS):
            weighted = np.log(np.maximum(shares, 1e-12)) + logs
            honest = np.log(max(1 - shares.sum(), 1e-12))
            total = np.logaddexp(honest, special.logsumexp(weighted, axis=1))
            shares = np.exp(weighted - total[:, None]).sum(axis=0) / (voters + COUNTED)
        return np.asarray(shares, np.float64)

    @property
    def probability(self) -> NDArray[np.float64]:
        """That a voter has any of the habits (voters,)."""
        shares = self.shares
        habits = np.log(np.maximum(shares, 1e-12)) + np.column_stack([self.ring, self.coin])
        odds = special.logsumexp(habits, axis=1) - np.log(max(1 - shares.sum(), 1e-12))
        return np.asarray(special.expit(odds), np.float64)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Voters who are flagged (voters,): the likeliest first, while few of them are expected to be honest."""
        probability = self.probability
        order = np.argsort(-probability, kind="stable")
        expected = np.cumsum(1 - probability[order])  # honest voters among those flagged so far
        fits = (expected <= FALSE_FLAGS * len(order)) & (probability[order] >= LEAST_PROBABILITY)
        flagged = np.zeros(len(order), np.bool_)
        flagged[order[fits]] = True
        return flagged

    def habits(self) -> NDArray[np.int64]:
        """The likeliest habit of each voter who is suspect (voters,).

        The number of an entry, −1 for the coin, and −2 where there is no suspicion. Shares are of all voters:
        once there is a ring behind an entry, voters are probed for that entry first.
        """
        logs = np.log(np.maximum(self.shares, LEAST_SHARE)) + np.column_stack([self.ring, self.coin])
        best = logs.argmax(axis=1)
        suspect = logs[np.arange(len(best)), best] >= np.log(SUSPECT)
        entries = self.ring.shape[1]
        return np.where(suspect, np.where(best == entries, -1, best), -2).astype(np.int64)


def suspect_voters(
    voter: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    wins: ArrayLike,
    gap: ArrayLike,
    variance: ArrayLike,
    *,
    voters: int,
    entries: int,
    taste: float,
    identical: tuple[ArrayLike, ArrayLike] = ((), ()),
) -> Suspicion:
    """Weigh the votes of every voter.

    Args:
        voter: Number of each vote's voter; votes on pairs and on probes alike.
        first: Entry of each vote.
        second: Its rival.
        wins: 1 or 0 of the first; ties (½) are left out.
        gap: Log odds for the first by all votes (:func:`~beholder.arena.voter_flags.image_gaps`).
        variance: Of each gap, from what is not known of the images.
        voters: How many there are.
        entries: How many there are.
        taste: Standard deviation of what voters like of entries, in natural-log odds.
        identical: Voter of each identical pair, and whether one of the two was preferred.

    Returns:
        The log likelihood ratios.
    """
    won = np.asarray(wins, np.float64)
    if any(np.shape(column) != won.shape for column in (voter, first, second, gap, variance)):
        raise StatisticsError("votes need columns of one length")
    decided = won != 0.5
    who, left, right = (np.asarray(column, np.int64)[decided] for column in (voter, first, second))
    odds, doubt = (np.asarray(column, np.float64)[decided] for column in (gap, variance))
    won = won[decided]
    honest = averaged(np.where(won > 0, odds, -odds), doubt + 2 * taste**2)
    coin = np.bincount(who, np.log(0.5) - np.log(honest), voters)
    checked, failed = np.asarray(identical[0], np.int64), np.asarray(identical[1], np.bool_)
    coin += np.bincount(checked, np.where(failed, np.log(0.5 / CARELESS), np.log(0.5 / (1 - CARELESS))), voters)
    own = np.concatenate([odds, -odds])
    entry_won = np.concatenate([won, 1 - won]) > 0
    cell = np.concatenate([who * entries + left, who * entries + right])
    rest = np.tile(doubt + taste**2, 2)  # of the images and of the rival; the taste for the entry is shared
    size = voters * entries
    by_taste = []
    for node in _NODES:
        shifted = own + taste * node
        by_taste.append(np.bincount(cell, np.log(averaged(np.where(entry_won, shifted, -shifted), rest)), size))
    mixed = special.logsumexp(by_taste, axis=0, b=_MASSES[:, None])
    favour = np.maximum(FAVOUR, averaged(own, rest + taste**2))  # who would win anyway is not favoured less
    ring = np.bincount(cell, np.log(np.where(entry_won, favour, 1 - favour)), size) - mixed
    return Suspicion(np.asarray(ring.reshape(voters, entries), np.float64), np.asarray(coin, np.float64))


def averaged(odds: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logistic curve averaged over a normal gap (MacKay's approximation), with slips.

    λ/2 + (1 − λ) expit(odds / √(1 + π v / 8)), with λ the proportion of slips and v the variance.
    """
    curve = special.expit(odds / np.sqrt(1 + np.pi * variance / 8))
    return np.asarray(LAPSE / 2 + (1 - LAPSE) * curve, np.float64)


def probe_pairs(
    habit: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    gap: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return which of the candidate pairs are probes of a habit: where honest voters are clear, and it is not.

    Of a ring, pairs in which its entry is clearly the worse; of the coin, all on which honest voters are clear.
    """
    chance = averaged(gap, variance)
    if habit < 0:
        against = np.minimum(chance, 1 - chance)
    else:
        against = np.where(first == habit, chance, np.where(second == habit, 1 - chance, 1.0))
    clearest = np.argsort(against, kind="stable")[:MOST_PROBES]
    return np.asarray(clearest[against[clearest] < PROBE_CHANCE], np.int64)
