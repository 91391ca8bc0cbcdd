"""Governance of a panel: three raters, three researchers and one independent seat decide on its rules."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from beholder.errors import FaultsError

Role = Literal["rater", "researcher", "independent"]
Choice = Literal["yes", "no", "abstain"]

SEATS: dict[Role, int] = {"rater": 3, "researcher": 3, "independent": 1}
"""Seats of the board (Daemo)."""

CHOICES: tuple[Choice, ...] = ("yes", "no", "abstain")
NEEDED = sum(SEATS.values()) // 2 + 1
"""Votes that adopt or reject a proposal: a majority of all seats, so that no side decides alone."""


class GovernanceError(FaultsError):
    """A board, or votes on a proposal, that do not fit."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the votes on a proposal stand."""

    status: Literal["adopted", "rejected", "open"]
    yes: int
    no: int
    abstained: int
    missing: tuple[str, ...]
    """who has not voted"""


def count_votes(board: Mapping[str, Role], votes: Mapping[str, Choice]) -> Outcome:
    """Count the votes of the board: ``NEEDED`` of all seats adopt, and as soon as that cannot be reached, reject.

    A seat that is empty, because somebody left, may still be taken: until then it keeps a proposal open.

    Args:
        board: Who sits in which seat.
        votes: Of the members; the latest of each.

    Returns:
        The outcome.

    Example:
        >>> board = {"r1": "rater", "r2": "rater", "r3": "rater", "a": "researcher", "b": "researcher",
        ...          "c": "researcher", "i": "independent"}
        >>> count_votes(board, {"r1": "yes", "r2": "yes", "r3": "yes"}).status
        'open'
        >>> count_votes(board, {"r1": "yes", "r2": "yes", "r3": "yes", "i": "yes"}).status
        'adopted'
    """
    held = Counter(board.values())
    strangers = sorted(set(votes) - set(board))
    unknown = sorted(f"{name}: '{choice}'" for name, choice in votes.items() if choice not in CHOICES)
    faults = [
        f"{held[role]} {role} seats; {most} are the most" for role, most in SEATS.items() if held[role] > most
    ]
    faults += [f"{name} has no seat on the board" for name in strangers]
    faults += [f"{vote} is no vote; votes are {', '.join(CHOICES)}" for vote in unknown]
    if faults:
        raise GovernanceError("votes", faults)
    counts = Counter(votes.values())
    missing = tuple(sorted(set(board) - set(votes)))
    if counts["yes"] >= NEEDED:
        status: Literal["adopted", "rejected", "open"] = "adopted"
    elif counts["yes"] + len(missing) + sum(SEATS.values()) - len(board) < NEEDED:
        status = "rejected"
    else:
        status = "open"
    return Outcome(status, counts["yes"], counts["no"], counts["abstain"], missing)


def check_board(board: Mapping[str, Role]) -> None:
    """Refuse a board that has not three raters, three researchers and one independent member.

    Args:
        board: Who sits in which seat.
    """
    counts = Counter(board.values())
    faults = [
        f"{counts[role]} {role} seats; {seats} are needed"
        for role, seats in SEATS.items()
        if counts[role] != seats
    ]
    if faults:
        raise GovernanceError("the board of a panel", faults)
