"""Verdicts on claims: careful verifiers outweigh careless ones, close cases stay open, credit needs a verdict."""

import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.rounds.credit import MOST_OF_ONE, credit_claims
from beholder.rounds.verification import Verdicts, verify_claims


def answered(claims: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every claim has three careful verifiers, who say the truth (even claims hold), and two who always say 0."""
    claim = np.repeat(np.arange(claims), 5)
    who = np.tile(np.arange(5), claims)
    truth = claim % 2
    return who, claim, np.where(who < 3, truth, 0)


def test_careful_verifiers_outweigh_careless_ones() -> None:
    verdicts = verify_claims(*answered(), np.zeros(40, int), options=2)
    assert verdicts.verified.tolist() == [claim % 2 == 0 for claim in range(40)]
    assert set(verdicts.standing) == {"verified", "refuted"}
    assert verdicts.accuracy[:3].min() > 0.95
    assert verdicts.accuracy[3:].max() < 0.6
    assert verdicts.doubt.max() < 0.05


def test_a_close_case_stays_open() -> None:
    who, claim, said = answered()
    said[:5] = [0, 0, 1, 0, 1]  # one of the careful ones differs
    verdicts = verify_claims(who, claim, said, np.zeros(40, int), options=2)
    assert verdicts.standing[0] == "open"
    assert 0.05 < verdicts.probability[0] < 0.95


def test_who_cannot_tell_speaks_for_neither_side() -> None:
    who, claim, said = answered()
    said[:5] = 2
    verdicts = verify_claims(who, claim, said, np.zeros(40, int), options=3, unsure=2)
    assert not verdicts.verified[0]


def test_without_verifiers_a_claim_is_open() -> None:
    verdicts = verify_claims([], [], [], [0, 1], options=2)
    assert verdicts.standing == ("open", "open")
    assert np.isnan(verdicts.probability).all()
    later = verify_claims([0, 1, 2], [0, 0, 0], [0, 0, 0], [0, 0], options=2)
    assert later.verifiers.tolist() == [3, 0]
    assert later.standing[1] == "open"


@pytest.mark.parametrize(("claimed", "threshold"), [([2], 0.95), ([0], 0.5), ([], 0.95)])
def test_impossible_claims_are_refused(claimed: list[int], threshold: float) -> None:
    with pytest.raises(StatisticsError):
        verify_claims([0], [0], [0], claimed, options=2, threshold=threshold)


def verdicts_of(*standing: str) -> Verdicts:
    chance = {"verified": 0.98, "refuted": 0.01, "open": 0.6}
    probability = np.array([chance[word] for word in standing])
    return Verdicts(probability, np.full(len(standing), 5), standing, np.zeros(0), 0.95)  # type: ignore[arg-type]


def test_credit_is_for_verified_failures_each_once() -> None:
    verdicts = verdicts_of("verified", "verified", "refuted", "open", "verified")
    earned = credit_claims([0, 1, 0, 1, 1], [7, 7, 8, 9, 10], verdicts, claimants=3)
    assert earned.claims.tolist() == [2, 3, 0]
    assert earned.verified.tolist() == [1, 2, 0]
    # failure 7 is credited to the first, and the refuted claim 8 takes that back; the second has failure 10
    assert earned.credit.tolist() == pytest.approx([0.0, 0.98, 0.0])
    assert earned.precision[:2].tolist() == [0.5, 1.0]
    assert np.isnan(earned.precision[2])


def test_nobody_takes_more_than_a_part_of_a_round() -> None:
    verdicts = verdicts_of(*["verified"] * 10)
    earned = credit_claims([0] * 9 + [1], range(10), verdicts, claimants=6)
    assert earned.credit[0] == pytest.approx(MOST_OF_ONE * 9.8)
    with pytest.raises(StatisticsError, match="verdict"):
        credit_claims([0], [0], verdicts, claimants=1)
