"""Errors on real and on generated images, beside each other: the tables of HYPE and of Layer 6."""

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.report.tables.leaderboard import WHOLE, Board, Standing

BOTH, FAKE, REAL, D_PRIME = "error-rate", "fake-error-rate", "real-error-rate", "d-prime"


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One generator: how often people are wrong on both, on its images, and on the real ones beside them."""

    generator: str
    both: Standing
    fake: Standing | None
    real: Standing | None
    d_prime: Standing | None


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of all generators of a question, in the order of the leading board."""

    lead: Board
    rows: tuple[ErrorRow, ...]


def errors(boards: Sequence[Board]) -> Errors | None:
    """The errors among the boards of one question; nothing where people were not asked what is real."""
    whole = {board.method: board for board in boards if board.slice == WHOLE}
    if BOTH not in whole or not {FAKE, REAL} & set(whole):
        return None
    by_method = {
        method: {row.generator: row for row in whole[method].rows} if method in whole else {}
        for method in (FAKE, REAL, D_PRIME)
    }
    rows = tuple(
        ErrorRow(row.generator, row, *(by_method[method].get(row.generator) for method in (FAKE, REAL, D_PRIME)))
        for row in whole[BOTH].rows
    )
    return Errors(whole[BOTH], rows)
