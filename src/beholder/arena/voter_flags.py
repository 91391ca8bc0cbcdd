"""Voters who stand out: too fast, to one side, careless on identical pairs, and rings that favour one entry.

Flags are for a person to look at; they remove no vote by themselves. Each test of single voters has its own
level, so small that of many honest voters few are flagged. A ring is looked for in all voters together: by the
likelihood ratio of a small proportion of voters who prefer one entry with a fixed chance, against none; its
distribution without a ring is simulated from the fitted ratings.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from beholder.errors import StatisticsError
from beholder.stats.comparisons.active_pairs import laplace_posterior

FASTEST_SECONDS = 0.8
"""Median time of a vote below which nobody can have looked at two images."""

SIDE_LEVEL = 1e-4
"""Level of the test for votes to one side."""

CHECK_LEVEL, CARELESS = 1e-3, 0.15
"""Level of the test on identical pairs, and the chance that an honest voter prefers one of two identical
images."""

FAVOUR = 0.85
"""Chance with which a member of a ring prefers its entry."""

PROPORTIONS = (0.01, 0.02, 0.04, 0.08)
"""Proportions of voters in a ring that are tried."""

RING_LEVEL = 0.01
"""Chance of a false alarm about rings, over all entries together."""

MEMBER = 0.5
"""Probability of membership from which a voter is flagged, once there is a ring."""


_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(9)
_MASSES = _MASSES / _MASSES.sum()


@dataclass(frozen=True, eq=False)
class VoterFlags:
    """Which voters are flagged, and why."""

    fast: NDArray[np.bool_]  # (voters,)
    sided: NDArray[np.bool_]  # (voters,)
    careless: NDArray[np.bool_]  # (voters,)

    @property
    def any(self) -> NDArray[np.bool_]:
        """Flagged for any reason."""
        return self.fast | self.sided | self.careless


@dataclass(frozen=True, eq=False)
class Rings:
    """Entries that a ring of voters favours, and who is likely to belong to it."""

    statistic: NDArray[np.float64]  # (entries,) log likelihood ratio
    p_value: NDArray[np.float64]  # (entries,) over all entries together
    detected: NDArray[np.bool_]  # (entries,)
    membership: NDArray[np.float64]  # (voters, entries) probability
    member: NDArray[np.bool_]  # (voters,) flagged


def flag_voters(
    voter: ArrayLike,
    to_left: ArrayLike,
    seconds: ArrayLike,
    check_voter: ArrayLike,
    check_failed: ArrayLike,
    *,
    voters: int,
) -> VoterFlags:
    """Flag voters one by one.

    Args:
        voter: Number of each vote's voter.
        to_left: 1 the left image was preferred, 0 the right one, ½ neither.
        seconds: Each vote took.
        check_voter: Number of the voter of each identical pair.
        check_failed: Whether one of the identical images was preferred.
        voters: How many there are.

    Returns:
        The flags of every voter.
    """
    who, left, took = np.asarray(voter, np.int64), np.asarray(to_left, np.float64), np.asarray(seconds, np.float64)
    if who.shape != left.shape or who.shape != took.shape:
        raise StatisticsError("votes need columns of one length")
    decided = left != 0.5
    count = np.bincount(who[decided], minlength=voters)
    lefts = np.bincount(who[decided], left[decided], voters)
    extreme = np.maximum(lefts, count - lefts)
    sided = 2 * stats.binom.sf(extreme - 1, count, 0.5) < SIDE_LEVEL
    checks = np.asarray(check_voter, np.int64)
    checks_per_voter = np.bincount(checks, minlength=voters)
    failed = np.bincount(checks, np.asarray(check_failed, np.float64), voters)
    careless = stats.binom.sf(failed - 1, checks_per_voter, CARELESS) < CHECK_LEVEL
    fast = _medians(who, took, voters) < FASTEST_SECONDS
    return VoterFlags(fast, sided & (count > 0), careless & (checks_per_voter > 0))


def _medians(who: NDArray[np.int64], seconds: NDArray[np.float64], voters: int) -> NDArray[np.float64]:
    """Return the median time of every voter (voters,), infinite without votes."""
    order = np.lexsort((seconds, who))
    times, count = np.append(seconds[order], np.inf), np.bincount(who, minlength=voters)
    begin = np.cumsum(count) - count
    middle = (times[begin + np.maximum(count - 1, 0) // 2] + times[begin + count // 2]) / 2
    return np.asarray(np.where(count > 0, middle, np.inf), np.float64)


def image_gaps(
    first: ArrayLike, second: ArrayLike, wins: ArrayLike, *, images: int, spread: float = 1.0
) -> NDArray[np.float64]:
    """Return the log odds for the first image of each vote, by Bradley–Terry ratings of single images.

    Images that few voted on are drawn to 0, by a normal prior of standard deviation ``spread``.
    """
    left, right = np.asarray(first, np.int64), np.asarray(second, np.int64)
    rating = laplace_posterior(left, right, wins, images, spread).mean
    return np.asarray(rating[left] - rating[right], np.float64)


def find_rings(
    voter: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    wins: ArrayLike,
    gap: ArrayLike,
    *,
    voters: int,
    entries: int,
    rng: np.random.Generator,
    worlds: int = 400,
) -> Rings:
    """Look for a ring behind every entry.

    Honest voters have tastes: what a voter likes of an entry varies around its rating with a standard deviation
    that is estimated from all votes. A member of a ring prefers the entry with a fixed chance instead.

    Args:
        voter: Number of each vote's voter.
        first: Entry of each vote.
        second: Its rival.
        wins: 1 or 0 of the first; ties (½) are left out.
        gap: Log odds for the first by all votes (:func:`image_gaps`): the better the model of single images knows
        what
            honest voters prefer, the more a ring stands out.
        voters: How many there are.
        entries: How many there are.
        rng: Draws the worlds without a ring.
        worlds: How many of them.

    Returns:
        The entries behind which there is a ring, at a level of 1 % over all of them, and its likely members.
    """
    won = np.asarray(wins, np.float64)
    decided = won != 0.5
    who, left, right = (np.asarray(column, np.int64)[decided] for column in (voter, first, second))
    odds = np.asarray(gap, np.float64)[decided]
    table = _Exposure.of(who, left, right, odds, won[decided], voters, entries)
    observed, ratio = table.statistic(won[decided])
    null = np.empty(worlds)
    for world in range(worlds):
        taste = rng.normal(0, table.taste / np.sqrt(2), (voters, entries))
        chance = special.expit(odds + taste[who, left] - taste[who, right])
        null[world] = table.statistic((rng.random(len(odds)) < chance).astype(np.float64))[0].max()
    p_value = (1 + (null[None] >= observed[:, None]).sum(axis=1)) / (worlds + 1)
    is_ring = p_value <= RING_LEVEL
    share = PROPORTIONS[-2]
    membership = share * ratio / (1 - share + share * ratio)
    member = np.asarray((membership[:, is_ring] > MEMBER).any(axis=1), np.bool_)
    return Rings(observed, p_value, is_ring, membership, member)


@dataclass(frozen=True, eq=False)
class _Exposure:
    """Every vote twice, once for each entry on the screen: whose, of which entry, and how likely by either
    account."""

    cell: NDArray[np.int64]  # (2 votes,) voter · entries + entry
    won: NDArray[np.float64]  # (nodes, 2 votes) log chance to win of honest voters, by taste
    lost: NDArray[np.float64]  # (nodes, 2 votes)
    favoured: NDArray[np.float64]  # (2 votes,) log chance to win in a ring
    spurned: NDArray[np.float64]  # (2 votes,)
    taste: float
    voters: int
    entries: int

    @classmethod
    def of(
        cls,
        who: NDArray[np.int64],
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        gap: NDArray[np.float64],
        won: NDArray[np.float64],
        voters: int,
        entries: int,
    ) -> "_Exposure":
        cell = np.concatenate([who * entries + left, who * entries + right])
        own = np.concatenate([gap, -gap])
        taste = _taste(cell, special.expit(own), np.concatenate([won, 1 - won]))
        shifted = own + taste * _NODES[:, None]
        favour = np.maximum(FAVOUR, special.expit(own))  # who would win anyway is not favoured less
        logs = (special.log_expit(shifted), special.log_expit(-shifted), np.log(favour), np.log1p(-favour))
        return cls(cell, *logs, taste, voters, entries)

    def statistic(self, won: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the greatest log likelihood ratio over proportions (entries,), and the ratio of every voter."""
        wins = np.concatenate([won, 1 - won])
        honest = [self._sum(np.where(wins > 0, up, down)) for up, down in zip(self.won, self.lost, strict=True)]
        ring = self._sum(np.where(wins > 0, self.favoured, self.spurned))
        mixed = special.logsumexp(honest, axis=0, b=_MASSES[:, None])
        ratio = np.exp(ring - mixed).reshape(self.voters, self.entries)
        return np.max([np.log1p(p * (ratio - 1)).sum(axis=0) for p in PROPORTIONS], axis=0), ratio

    def _sum(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(self.cell, logs, self.voters * self.entries), np.float64)


def estimate_taste(
    voter: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    chance: NDArray[np.float64],
    wins: NDArray[np.float64],
    entries: int,
) -> float:
    """Standard deviation of voters' tastes for entries, from votes and the chance of each by all votes."""
    cell = np.concatenate([voter * entries + first, voter * entries + second])
    return _taste(cell, np.concatenate([chance, 1 - chance]), np.concatenate([wins, 1 - wins]))


def _taste(cell: NDArray[np.int64], chance: NDArray[np.float64], won: NDArray[np.float64]) -> float:
    """Standard deviation of voters' tastes for entries, by moments: residuals vary more than votes alone would."""
    residual, variance = np.bincount(cell, won - chance), np.bincount(cell, chance * (1 - chance))
    return float(np.sqrt(max((residual**2 - variance).sum() / (variance**2).sum(), 0.0)))
