"""Pairs served and votes taken, each in one transaction: a vote is on the disk before it is acknowledged."""

import secrets as randomness
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection, Row, insert, select, update

from beholder.arena.pair_choice import draw_pair
from beholder.arena.suspicion import FIRST_PROBE, PROBED
from beholder.collect.arena.catalogue import ArenaImages
from beholder.collect.arena.schema import ballots, voters, votes
from beholder.errors import RefusedError
from beholder.stats.comparisons.active_pairs import PairPlan

OUTCOMES = ("left", "tie", "both-bad", "right")
WINS = {"left": 1.0, "tie": 0.5, "both-bad": 0.5, "right": 0.0}
"""What a vote counts for the first entry."""

CHECK_SHARE = 1 / 12
"""Proportion of pairs that show one image twice: who prefers either did not look."""

CAP = 300
"""Votes of one voter that are taken at most: nobody decides an arena alone."""

LEAST_SECONDS = 0.25
"""Between a pair being served and its vote; a page cannot even show it sooner."""


class Vote(BaseModel):
    """What the page sends."""

    model_config = ConfigDict(extra="forbid")

    ballot: str = Field(max_length=64)
    key: str = Field(min_length=16, max_length=64)
    outcome: Literal["left", "tie", "both-bad", "right"]
    seconds: float = Field(ge=0, le=86_400)


@dataclass(frozen=True)
class Draw:
    """What pairs are drawn from now."""

    plan: PairPlan
    entries: tuple[str, ...]
    probes: Mapping[str, Sequence[tuple[str, str, str]]] = field(default_factory=dict)
    """Voter who is suspect -> two entries and a prompt, of which one would tell."""


def open_ballot(connection: Connection, voter: Row[Any]) -> Row[Any] | None:
    """Return the pair that the voter has not voted on, the latest first.

    Whoever writes a prompt of their own leaves a pair open meanwhile. It is shown again afterwards: otherwise
    voters could choose which pairs they vote on, and a propensity would not be the chance of a vote.
    """
    return connection.execute(
        select(ballots, votes.c.outcome)
        .outerjoin(votes, votes.c.ballot == ballots.c.ballot)
        .where(ballots.c.voter == voter.voter, votes.c.ballot.is_(None))
        .order_by(ballots.c.number.desc())
        .limit(1)
    ).one_or_none()


def near_ballots(connection: Connection, voter: Row[Any]) -> list[Row[Any]]:
    """Return the open pair and the one that was voted on last: their images may be fetched."""
    last = connection.execute(
        select(ballots)
        .join(votes, votes.c.ballot == ballots.c.ballot)
        .where(ballots.c.voter == voter.voter)
        .order_by(votes.c.at.desc(), ballots.c.number.desc())
        .limit(1)
    ).all()
    current = open_ballot(connection, voter)
    return [*([] if current is None else [current]), *last]


def serve_ballot(
    connection: Connection,
    voter: Row[Any],
    draw: Draw,
    images: ArenaImages,
    rng: np.random.Generator,
    *,
    now: float,
) -> Row[Any] | None:
    """Return the open pair, or draw the next one and log it with its propensity; none once the cap is reached."""
    row = open_ballot(connection, voter)
    if row is not None:
        return row
    served = connection.scalar(
        select(ballots.c.number).where(ballots.c.voter == voter.voter).order_by(ballots.c.number.desc()).limit(1)
    )
    number = 0 if served is None else served + 1
    if number >= CAP:
        return None
    connection.execute(
        insert(ballots).values(
            ballot=randomness.token_hex(12),
            voter=voter.voter,
            number=number,
            served=now,
            **_drawn(connection, voter, number, draw, images, rng),
        )
    )
    return open_ballot(connection, voter)


def _drawn(
    connection: Connection, voter: Row[Any], number: int, draw: Draw, images: ArenaImages, rng: np.random.Generator
) -> dict[str, Any]:
    """A pair of entries and a prompt for both that this voter has seen least; of a suspect, mostly a probe.

    The logged propensity of a pair is its chance with that of being no probe.
    """
    count = len(draw.entries)
    probes = [probe for probe in draw.probes.get(voter.voter, ()) if set(probe[:2]) <= set(draw.entries)]
    suspect = bool(probes) and number >= FIRST_PROBE
    if suspect and rng.random() < PROBED:
        return _probe(probes, images, rng) | {"entries": count}
    is_check = bool(rng.random() < CHECK_SHARE)
    drawn = draw_pair(draw.plan, rng)
    first, second = draw.entries[drawn.first], draw.entries[drawn.second]
    prompts = images.prompts_of(first, second)
    if not prompts:
        raise RefusedError(503, "no-pair", f"{first} and {second} have no prompt in common")
    earlier_prompts = list(connection.scalars(select(ballots.c.prompt).where(ballots.c.voter == voter.voter)))
    times = np.array([earlier_prompts.count(prompt) for prompt in prompts])
    fewest = np.flatnonzero(times == times.min())
    prompt = prompts[int(fewest[rng.integers(len(fewest))])]
    if is_check:
        second = first
    return {
        "prompt": prompt,
        "first": first,
        "second": second,
        "first_image": images.by_prompt[prompt][first],
        "second_image": images.by_prompt[prompt][second],
        "propensity": 1.0 if is_check else drawn.propensity * (1 - PROBED if suspect else 1),
        "even": drawn.even and not is_check,
        "is_check": is_check,
        "entries": count,
    }


def _probe(
    probes: Sequence[tuple[str, str, str]], images: ArenaImages, rng: np.random.Generator
) -> dict[str, Any]:
    """One of the probes, in either order: a check that is no identical pair."""
    first, second, prompt = probes[int(rng.integers(len(probes)))]
    if rng.random() < 0.5:
        first, second = second, first
    return {
        "prompt": prompt,
        "first": first,
        "second": second,
        "first_image": images.by_prompt[prompt][first],
        "second_image": images.by_prompt[prompt][second],
        "propensity": 1.0,
        "even": False,
        "is_check": True,
    }


def take_vote(connection: Connection, voter: Row[Any], vote: Vote, *, now: float) -> Row[Any]:
    """Write a vote, once: the same key again changes nothing. Return the pair, to be revealed."""
    ballot = connection.execute(
        select(ballots).where(ballots.c.ballot == vote.ballot, ballots.c.voter == voter.voter)
    ).one_or_none()
    if ballot is None:
        raise RefusedError(404, "no-ballot", "there is no such pair for this voter")
    earlier = connection.execute(select(votes).where(votes.c.ballot == vote.ballot)).one_or_none()
    if earlier is not None:
        if earlier.key == vote.key:
            return ballot
        raise RefusedError(409, "not-current", "this pair has been voted on")
    if now - ballot.served < LEAST_SECONDS:
        raise RefusedError(429, "too-fast", "nobody can have looked at two images in this time")
    if connection.scalar(select(votes.c.ballot).where(votes.c.voter == voter.voter, votes.c.key == vote.key)):
        raise RefusedError(409, "key-used", "this key belongs to another vote")
    connection.execute(
        insert(votes).values(
            ballot=vote.ballot,
            voter=voter.voter,
            key=vote.key,
            outcome=vote.outcome,
            seconds=min(vote.seconds, now - ballot.served),
            at=now,
        )
    )
    connection.execute(update(voters).where(voters.c.voter == voter.voter).values(votes=voter.votes + 1))
    return ballot
