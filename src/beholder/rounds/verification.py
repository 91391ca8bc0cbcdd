"""Verdicts on claims by others who did not see the claim, with the doubt beside each.

Whoever claims that an image fails is not asked again. k others answer what the image shows, blind to the claim,
by one of several options; raters differ in care, so the verdict weighs them by Dawid and Skene's model. That
model takes all claims as equally hard, and is too sure of close ones; so the probability of a claim is the lesser
of its and that of :mod:`beholder.stats.truth.majority_errors`, which allows for close cases. A claim is
*verified* where it is at least ``threshold``, *refuted* where it is at most 1 − threshold, and *open* between:
more verifiers decide it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.truth.dawid_skene import dawid_skene
from beholder.stats.truth.majority_errors import majority_errors
from beholder.stats.truth.one_coin import one_coin

Standing = Literal["verified", "refuted", "open"]

OPEN: Standing = "open"

LEAST_CLAIMS = 10
"""Claims below which confusions of verifiers cannot be estimated: then each has one accuracy (one coin)."""

THRESHOLD = 0.95
"""Probability from which a claim is verified."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What the verifiers say of every claim."""

    probability: NDArray[np.float64]  # (claims,) that the claim holds; nan without verifiers
    verifiers: NDArray[np.int64]  # (claims,)
    standing: tuple[Standing, ...]
    accuracy: NDArray[np.float64]  # (verifiers,) estimated
    threshold: float

    @property
    def doubt(self) -> NDArray[np.float64]:
        """The probability that the more likely side is wrong (claims,)."""
        return np.asarray(np.minimum(self.probability, 1 - self.probability), np.float64)

    @property
    def verified(self) -> NDArray[np.bool_]:
        """Whether each claim is verified (claims,)."""
        return np.array([standing == "verified" for standing in self.standing], np.bool_)


def verify_claims(
    verifier: ArrayLike,
    claim: ArrayLike,
    answer: ArrayLike,
    claimed: ArrayLike,
    *,
    options: int,
    unsure: int | None = None,
    threshold: float = THRESHOLD,
) -> Verdicts:
    """Weigh the verifiers' answers.

    Args:
        verifier: Number of each answer's verifier, from 0.
        claim: Number of the claim it is about.
        answer: The option that the verifier chose, from 0.
        claimed: The option that each claim says is true (claims,).
        options: How many options there are, *cannot tell* included.
        unsure: The option that says neither, such as *cannot tell*; by default none does.
        threshold: Probability from which a claim is verified.

    Returns:
        The probability, the number of verifiers and the standing of every claim.
    """
    who, what, given_answer = (np.asarray(column, np.int64) for column in (verifier, claim, answer))
    stated = np.asarray(claimed, np.int64)
    if not 0.5 < threshold < 1:
        raise StatisticsError(f"a threshold lies above ½ and below 1; found {threshold}")
    if len(stated) == 0 or np.any((stated < 0) | (stated >= options)) or np.any(what >= len(stated)):
        raise StatisticsError(f"claims name one of {options} options, and answers are about claims")
    counts = np.bincount(what, minlength=len(stated))
    if len(what) == 0:
        unknown = np.full(len(stated), np.nan)
        return Verdicts(unknown, counts, tuple(OPEN for _ in stated), np.zeros(0), threshold)
    fit = (dawid_skene if len(stated) >= LEAST_CLAIMS else one_coin)(who, what, given_answer, classes=options)
    agree = np.where(given_answer == stated[what], 1.0, -1.0)
    close = majority_errors(
        who, what, np.where(given_answer == unsure, 0.0, agree) if unsure is not None else agree
    ).first
    posterior = np.full((len(stated), options), np.nan)
    posterior[: len(fit.posterior)] = fit.posterior
    probability = np.where(counts > 0, posterior[np.arange(len(stated)), stated], np.nan)
    populated = np.full(len(stated), np.nan)
    populated[: len(close)] = close
    probability = np.where(np.isnan(populated), probability, np.minimum(probability, populated))
    standing = tuple(_standing(float(chance), threshold) for chance in probability)
    return Verdicts(probability, counts, standing, np.asarray(fit.accuracy, np.float64), threshold)


def _standing(chance: float, threshold: float) -> Standing:
    if chance >= threshold:
        return "verified"
    return "refuted" if chance <= 1 - threshold else "open"
