"""The rules of a panel on a rater's own page: the board, proposals with their votes, the latest of the open log.

Other raters appear as *a rater*: their pseudonyms are nobody's business, while researchers sign with their names.
"""

from typing import Any

from sqlalchemy import Connection, Row, func, select

from beholder.collect.panel.board import outcome_of, propose_rule
from beholder.collect.panel.open_log import latest_entries
from beholder.collect.panel.schema import proposals, raters, seats, votes
from beholder.errors import RefusedError

DAY = 86_400.0
PROPOSALS_A_DAY = 3
"""Proposals that a rater can make within a day: each is written to the open log for good."""

ENTRIES = 30
"""Entries of the log that the page shows."""

PROPOSALS = 20
"""Proposals that the page shows, besides all open ones."""

DETAILS = ("study", "title", "choice", "status", "decision", "outcome", "proposal", "appeal")
"""What an entry of the log says to raters; the command line shows all of it."""

PSEUDONYM, FORGOTTEN = "p-", "forgotten-"
"""How the names of raters begin, and those of raters who were deleted."""

JsonObject = dict[str, Any]


def rules_page(connection: Connection, rater: str) -> JsonObject:
    """Return what a rater sees of the panel's rules.

    Args:
        connection: In any transaction.
        rater: Who looks.

    Returns:
        As JSON.
    """
    board = {row.member: row.role for row in connection.execute(select(seats))}
    people = set(connection.scalars(select(raters.c.rater).where(raters.c.rater.in_(_names(connection, board)))))
    rows = connection.execute(select(proposals).order_by(proposals.c.id.desc())).all()
    listed = [_proposal(connection, row, rater, people) for row in rows]
    return {
        "seats": {role: sum(held == role for held in board.values()) for role in sorted(set(board.values()))},
        "may_vote": board.get(rater) == "rater",
        "proposals": [row for place, row in enumerate(listed) if place < PROPOSALS or row["status"] == "open"],
        "log": [
            {
                "at": entry.at,
                "kind": entry.kind,
                "detail": {name: entry.detail[name] for name in DETAILS if name in entry.detail},
                "by": _signed(entry.detail.get("by") or entry.detail.get("member"), rater, people, board),
                "hash": entry.hash[:12],
            }
            for entry in latest_entries(connection, ENTRIES)
        ],
    }


def propose_as_rater(connection: Connection, rater: str, title: str, text: str, *, now: float) -> int:
    """Propose a change of the rules, at most ``PROPOSALS_A_DAY`` within a day.

    Args:
        connection: In a write transaction.
        rater: Who proposes.
        title: Of the proposal.
        text: What is to change.
        now: The time.

    Returns:
        The number of the proposal.
    """
    recent = (proposals.c.by == rater) & (proposals.c.at > now - DAY)
    if int(connection.scalar(select(func.count()).select_from(proposals).where(recent)) or 0) >= PROPOSALS_A_DAY:
        raise RefusedError(409, "many-proposals", f"{PROPOSALS_A_DAY} proposals a day; come back tomorrow")
    return propose_rule(connection, title, text, by=rater, now=now)


def require_own_vote(connection: Connection, member: str) -> None:
    """Refuse to enter a vote for somebody who votes on their own page.

    Args:
        connection: In any transaction.
        member: Of the board.
    """
    if connection.scalar(select(raters.c.rater).where(raters.c.rater == member)) is not None:
        raise RefusedError(409, "votes-alone", f"{member} is a rater of this panel, and votes on the own page")


def _names(connection: Connection, board: dict[str, str]) -> list[str]:
    """Return everybody who proposed or sits on the board."""
    return [*board, *connection.scalars(select(proposals.c.by).distinct())]


def _proposal(connection: Connection, row: Row[Any], rater: str, people: set[str]) -> JsonObject:
    outcome = outcome_of(connection, row.id)
    cast = connection.execute(select(votes).where(votes.c.proposal == row.id).order_by(votes.c.at)).all()
    board = {seat.member: seat.role for seat in connection.execute(select(seats))}
    return {
        "proposal": row.id,
        "title": row.title,
        "text": row.text,
        "by": _signed(row.by, rater, people, board),
        "at": row.at,
        "status": outcome.status,
        "yes": outcome.yes,
        "no": outcome.no,
        "abstained": outcome.abstained,
        "yours": next((vote.choice for vote in cast if vote.member == rater), None),
        "votes": [
            {"by": _signed(vote.member, rater, people, board), "choice": vote.choice, "reason": vote.reason}
            for vote in cast
        ],
    }


def _signed(name: object, rater: str, people: set[str], board: dict[str, str]) -> JsonObject | None:
    """Return how somebody is named to a rater: by role, and by name unless they are a rater."""
    if not isinstance(name, str) or not name:
        return None
    if name == rater:
        return {"role": "you"}
    if name in people or name.startswith((PSEUDONYM, FORGOTTEN)):
        return {"role": "rater"}
    return {"role": board.get(name, "researcher"), "name": name}
