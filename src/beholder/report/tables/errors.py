"""Errors on real and on generated images, side by side: the tables of HYPE and of Layer 6."""

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.report.tables.leaderboard import ALL_IMAGES, Board, Standing

BOTH, FAKE, REAL, D_PRIME = "error-rate", "fake-error-rate", "real-error-rate", "d-prime"


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """Error rates for one generator: on all images, on its images, and on the real ones shown with them."""

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


def build_errors(boards: Sequence[Board]) -> Errors | None:
    """The errors among the boards of one question; ``None`` where raters were not asked what is real."""
    overall = {board.method: board for board in boards if board.slice == ALL_IMAGES}
    if BOTH not in overall or not {FAKE, REAL} & set(overall):
        return None
    by_method = {
        method: {row.generator: row for row in overall[method].rows} if method in overall else {}
        for method in (FAKE, REAL, D_PRIME)
    }
    rows = tuple(
        ErrorRow(row.generator, row, *(by_method[method].get(row.generator) for method in (FAKE, REAL, D_PRIME)))
        for row in overall[BOTH].rows
    )
    return Errors(overall[BOTH], rows)
