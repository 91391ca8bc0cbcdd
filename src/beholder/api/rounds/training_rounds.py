"""Verified claims of a study's rounds as pairs to train on: ``beholder learn FOLDER --rounds``."""

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.api.rounds.claims import VerifiedClaims, verify_study_claims
from beholder.api.rounds.fresh_claims import CLAIMS, ROOM
from beholder.errors import StudyError, UserError
from beholder.rounds.attacks import Attack, AttackRounds, RoundCounts, held_out_attackers
from beholder.rounds.pair_claims import PLACES
from beholder.study.study import FILE_NAME
from beholder.tables.store import Store

ALL = "all"
SPAN = re.compile(r"(\d+)(?:-(\d+))?")


def read_attack_rounds(folder: Path, rounds: str = ALL) -> AttackRounds:
    """Return the verified claims about scorers of a study's rounds; all faults are raised at once.

    Args:
        folder: The study whose raters claimed.
        rounds: Those that a model is trained on: ``all``, a number, or a span such as ``1-3``.
    """
    numbers = _numbers(folder)
    numbers_chosen = _parse(rounds, numbers, folder)
    results = {number: _read(folder, number) for number in numbers}
    usable = [result for result in results.values() if isinstance(result, _Round)]
    if rounds == ALL and usable:
        numbers_chosen = tuple(result.counts.round for result in usable)
    faults = [result for number, result in results.items() if isinstance(result, str) and number in numbers_chosen]
    if faults:
        raise StudyError(str(folder / ROOM), faults)
    attackers = {attack.attacker for result in usable for attack in result.attacks}
    if len(attackers) < 2:
        raise StudyError(
            str(folder / ROOM),
            [f"verified claims of {len(attackers)} attackers; at least 2 are needed, one of them held out"],
        )
    return AttackRounds(
        tuple(result.counts for result in usable),
        tuple(attack for result in usable for attack in result.attacks),
        numbers_chosen,
        held_out_attackers(attackers),
    )


@dataclass(frozen=True, slots=True)
class _Round:
    counts: RoundCounts
    attacks: tuple[Attack, ...]


def _numbers(folder: Path) -> list[int]:
    numbers = sorted(int(p.parent.name) for p in (folder / ROOM).glob(f"*/{FILE_NAME}") if p.parent.name.isdigit())
    if not numbers:
        raise UserError(
            f"{folder / ROOM}: there are no rounds yet. Let raters attack a model by a question of kind "
            f"write-prompt with fools = 'scorer', then beholder rounds {folder}"
        )
    return numbers


def _parse(rounds: str, numbers: list[int], folder: Path) -> tuple[int, ...]:
    """The rounds that are meant; each must be there."""
    if rounds == ALL:
        return tuple(numbers)
    span = SPAN.fullmatch(rounds)
    if span is None:
        raise UserError(f"--rounds {rounds}: expected all, a number, or a span such as 1-3")
    first, last = int(span[1]), int(span[2] or span[1])
    chosen = tuple(range(first, last + 1))
    missing = [str(number) for number in chosen if number not in numbers]
    if missing or not chosen:
        there = ", ".join(str(number) for number in numbers)
        raise UserError(f"{folder / ROOM}: no round {', '.join(missing) or rounds}; found: {there}")
    return chosen


def _read(folder: Path, number: int) -> "_Round | str":
    """One round; or why nothing can be trained on it."""
    place = folder / ROOM / str(number)
    listed = pl.read_csv(place / CLAIMS, infer_schema=False)
    if not set(PLACES) <= set(listed.columns):
        return f"round {number}: its claims are about a generator, and no pairs that a scorer is trained on"
    if not Store(place).has("judgements"):
        return (
            f"round {number}: nobody has verified its claims yet: beholder collect {place}, then "
            f"beholder consolidate {place}"
        )
    verified = verify_study_claims(place, place / CLAIMS)
    counts = verified.counts()
    credit = float(verified.credits.credit.sum())
    attacks = tuple(_attacks(number, verified, listed))
    target = str(listed["target"][0])
    return _Round(RoundCounts(number, target, len(listed), counts["verified"], counts["refuted"], credit), attacks)


def _attacks(number: int, verified: VerifiedClaims, listed: pl.DataFrame) -> list[Attack]:
    """The verified claims of a round: the image that is claimed to be better, and the other one."""
    rows = zip(listed.to_dicts(), verified.verdicts.verified.tolist(), strict=True)
    attacks = []
    for claim, holds in rows:
        if holds:
            other = PLACES[1 - PLACES.index(claim["claimed"])]
            attacks.append(Attack(number, claim["claimant"], claim[claim["claimed"]], claim[other]))
    return attacks
