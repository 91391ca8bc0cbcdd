"""Win rates of entries, as if pairs had been drawn evenly; and intervals that hold however often one looks.

A vote on a pair that was shown with propensity π counts 1/(pairs · π), so that the weighted proportion of an
entry's votes is that against all others alike. Standard errors are summed by voter: votes of one voter are alike.

The anytime-valid interval rests on the evenly drawn votes alone, which need no weights: a voter enters once, with
the mean of their even votes on an entry, in the order in which ballots were completed (decision 022).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.confidence_sequence import betting_sequence
from beholder.stats.significance.sequential_separation import SequentialSeparation, sequential_separation


@dataclass(frozen=True, eq=False)
class WinRates:
    """Weighted win rates, a tie counting half."""

    rate: NDArray[np.float64]  # (entries,) nan for an entry without votes
    error: NDArray[np.float64]  # (entries,) standard error over voters
    votes: NDArray[np.int64]  # (entries,)


@dataclass(frozen=True, eq=False)
class AnytimeRates:
    """Win rates against evenly drawn rivals, with intervals that hold together over all looks."""

    rate: NDArray[np.float64]  # (entries,) nan without voters
    low: NDArray[np.float64]  # (entries,)
    high: NDArray[np.float64]  # (entries,)
    voters: NDArray[np.int64]  # (entries,)
    separation: SequentialSeparation | None
    """Which entries differ; none with fewer than two voters."""
    level: float


def weighted_win_rates(
    voter: ArrayLike, first: ArrayLike, second: ArrayLike, wins: ArrayLike, propensity: ArrayLike, *, entries: int
) -> WinRates:
    """Return every entry's win rate against all others alike, whatever the draw preferred.

    Args:
        voter: Number of each vote's voter, from 0.
        first: Entry of each vote.
        second: Its rival.
        wins: 1, 0 or ½, of the first.
        propensity: With which the pair was drawn, out of all pairs.
        entries: How many entries there are.

    Returns:
        Rates with standard errors summed by voter.
    """
    who, left, right, won, chance = _votes(voter, first, second, wins, propensity)
    weight = 1 / (entries * (entries - 1) / 2 * chance)
    entry, value = np.concatenate([left, right]), np.concatenate([won, 1 - won])
    who, weight = np.tile(who, 2), np.tile(weight, 2)
    total = np.bincount(entry, weight, entries)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.bincount(entry, weight * value, entries) / total
    voters = int(who.max(initial=-1)) + 1
    pull = np.zeros((voters, entries))
    np.add.at(pull, (who, entry), weight * (value - rate[entry]))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt((pull**2).sum(axis=0) * voters / max(voters - 1, 1)) / total
    return WinRates(rate, np.where(total > 0, error, np.nan), np.bincount(entry, minlength=entries))


def even_scores(
    voter: ArrayLike, first: ArrayLike, second: ArrayLike, wins: ArrayLike, even: ArrayLike, *, entries: int
) -> NDArray[np.float64]:
    """Return each voter's mean on the evenly drawn votes of each entry (voters, entries), nan where there is none.

    Voters are numbered in the order in which their ballots were completed.
    """
    drawn = np.asarray(even, np.bool_)
    who, left, right, won, _ = _votes(voter, first, second, wins, np.ones(len(drawn)))
    voters = int(who.max(initial=-1)) + 1
    sums, counts = np.zeros((voters, entries)), np.zeros((voters, entries))
    for entry, value in ((left, won), (right, 1 - won)):
        np.add.at(sums, (who[drawn], entry[drawn]), value[drawn])
        np.add.at(counts, (who[drawn], entry[drawn]), 1.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan), np.float64)


def anytime_win_rates(scores: NDArray[np.float64], *, level: float = 0.95) -> AnytimeRates:
    """Return intervals and separations after all voters so far, from :func:`even_scores`."""
    entries = scores.shape[1]
    rate, low, high = np.full(entries, np.nan), np.zeros(entries), np.ones(entries)
    voters = (~np.isnan(scores)).sum(axis=0)
    for entry in range(entries):
        own = scores[~np.isnan(scores[:, entry]), entry]
        if len(own):
            sequence = betting_sequence(own, level=level)
            rate[entry], low[entry], high[entry] = sequence.mean[-1], sequence.low[-1], sequence.high[-1]
    separation = sequential_separation(scores, within=True, level=level) if len(scores) > 1 else None
    return AnytimeRates(rate, low, high, voters.astype(np.int64), separation, level)


def _votes(
    voter: ArrayLike, first: ArrayLike, second: ArrayLike, wins: ArrayLike, propensity: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    who, left, right = (np.asarray(column, np.int64) for column in (voter, first, second))
    won, chance = np.asarray(wins, np.float64), np.asarray(propensity, np.float64)
    if any(column.shape != won.shape for column in (who, left, right, chance)):
        raise StatisticsError("votes need columns of one length")
    if np.any((won < 0) | (won > 1)) or np.any((chance <= 0) | (chance > 1)):
        raise StatisticsError("wins lie between 0 and 1, and propensities above 0 and at most 1")
    return who, left, right, won, chance
