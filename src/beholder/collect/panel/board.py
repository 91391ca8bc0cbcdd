"""The board of a panel: seats, proposals and votes, all in the open log."""

from collections.abc import Mapping
from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select, update

from beholder.care.governance import CHOICES, Choice, Outcome, Role, check_board, count_votes
from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import proposals, seats, votes
from beholder.errors import StageError


def seat_board(connection: Connection, board: Mapping[str, Role], *, now: float) -> None:
    """Seat a new board: three raters, three researchers and one independent member.

    Args:
        connection: In a write transaction.
        board: Who sits in which seat.
        now: The time.
    """
    check_board(board)
    connection.execute(delete(votes).where(votes.c.member.not_in(list(board))))
    connection.execute(delete(seats).where(seats.c.member.not_in(list(board))))
    known = set(connection.scalars(select(seats.c.member)))
    for member, role in board.items():
        if member not in known:
            connection.execute(insert(seats).values(member=member, role=role))
    write_entry(connection, "board", {"seats": dict(board)}, now=now)


def propose_rule(connection: Connection, title: str, text: str, *, by: str, now: float) -> int:
    """Propose a change of the panel's rules; anybody may.

    Args:
        connection: In a write transaction.
        title: Of the proposal.
        text: What is to change.
        by: Who proposes.
        now: The time.

    Returns:
        The number of the proposal.
    """
    if not title.strip():
        raise StageError("a proposal needs a title")
    inserted = connection.execute(insert(proposals).values(title=title, text=text, by=by, at=now))
    number = int(inserted.inserted_primary_key[0])  # type: ignore[index]
    write_entry(connection, "proposal", {"proposal": number, "title": title, "text": text, "by": by}, now=now)
    return number


def vote(
    connection: Connection, number: int, member: str, choice: Choice, reason: str = "", *, now: float
) -> Outcome:
    """Vote on a proposal; a later vote replaces an earlier one until it is decided.

    Args:
        connection: In a write transaction.
        number: Of the proposal.
        member: Of the board.
        choice: ``yes``, ``no`` or ``abstain``.
        reason: For the log.
        now: The time.

    Returns:
        How the votes stand.
    """
    board: dict[str, Role] = {row.member: row.role for row in connection.execute(select(seats))}
    if member not in board or choice not in CHOICES:
        raise StageError(f"{member}: votes are {', '.join(CHOICES)}, by members of the board: {', '.join(board)}")
    if connection.scalar(select(proposals.c.id).where(proposals.c.id == number)) is None:
        raise StageError(f"there is no proposal {number}")
    before = outcome_of(connection, number)
    if before.status != "open":
        raise StageError(f"proposal {number} is {before.status}")
    connection.execute(delete(votes).where(votes.c.proposal == number, votes.c.member == member))
    connection.execute(insert(votes).values(proposal=number, member=member, choice=choice, reason=reason, at=now))
    outcome = outcome_of(connection, number)
    if outcome.status != "open":
        here = proposals.c.id == number
        connection.execute(update(proposals).where(here).values(outcome=asdict(outcome)))
    detail = {"proposal": number, "member": member, "choice": choice, "reason": reason, "status": outcome.status}
    write_entry(connection, "vote", detail, now=now)
    return outcome


def outcome_of(connection: Connection, number: int) -> Outcome:
    """Count the votes on a proposal.

    Args:
        connection: In any transaction.
        number: Of the proposal.

    Returns:
        How they stand.
    """
    decided = connection.scalar(select(proposals.c.outcome).where(proposals.c.id == number))
    if decided is not None:
        return Outcome(**(decided | {"missing": tuple(decided["missing"])}))
    board: dict[str, Role] = {row.member: row.role for row in connection.execute(select(seats))}
    cast: dict[str, Choice] = {
        row.member: row.choice for row in connection.execute(select(votes).where(votes.c.proposal == number))
    }
    return count_votes(board, cast)
