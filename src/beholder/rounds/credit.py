"""Credit for claims that others verified, less those they refuted: nothing for a fooled model alone.

Who claims at random is refuted about as often as verified, and earns nothing on average.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.rounds.verification import Verdicts

MOST_OF_ONE = 0.25
"""Greatest proportion of a round's credit that goes to one person."""


@dataclass(frozen=True, eq=False)
class Credits:
    """What every claimant has earned in a round."""

    claims: NDArray[np.int64]  # (claimants,)
    verified: NDArray[np.int64]  # (claimants,)
    credit: NDArray[np.float64]  # (claimants,) verified failures less their doubts and refuted claims; at least 0
    precision: NDArray[np.float64]  # (claimants,) verified of decided claims; nan where none is decided


def credit_claims(claimant: ArrayLike, failure: ArrayLike, verdicts: Verdicts, *, claimants: int) -> Credits:
    """Return the credit of every claimant.

    Args:
        claimant: Number of each claim's author, from 0.
        failure: Number of the failure that it shows: near-duplicates share one, and only the first is credited.
        verdicts: Of the verifiers, claim by claim, in the order in which claims were made.
        claimants: How many there are.

    Returns:
        Credits; whether the model was fooled does not enter them.
    """
    who, kind = np.asarray(claimant, np.int64), np.asarray(failure, np.int64)
    if who.shape != verdicts.probability.shape or kind.shape != who.shape:
        raise StatisticsError("claims need an author, a failure and a verdict each")
    verified = verdicts.verified
    decided = np.array([standing != "open" for standing in verdicts.standing], np.bool_)
    first = np.zeros(len(who), np.bool_)
    places = np.flatnonzero(verified)
    _, earliest = np.unique(kind[places], return_index=True)
    first[places[earliest]] = True
    worth = np.where(first, 1 - np.nan_to_num(verdicts.doubt), 0.0)
    refuted = np.bincount(who[decided & ~verified], minlength=claimants)
    credit = np.asarray(np.maximum(np.bincount(who, worth, claimants) - refuted, 0.0), np.float64)
    limit = MOST_OF_ONE * credit.sum()
    counted = np.bincount(who[decided], minlength=claimants)
    with np.errstate(invalid="ignore"):
        precision = np.bincount(who[verified], minlength=claimants) / np.where(counted > 0, counted, np.nan)
    return Credits(
        claims=np.bincount(who, minlength=claimants),
        verified=np.bincount(who[verified], minlength=claimants),
        credit=np.asarray(np.minimum(credit, limit), np.float64) if claimants > 4 else credit,
        precision=precision,
    )
