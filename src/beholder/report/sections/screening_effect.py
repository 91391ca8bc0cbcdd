"""What screening changed, in words: how far ratings moved, and whether the order did."""

from beholder.report.tables.leaderboard import Board, Standing
from beholder.report.text.words import count, sentence


def effect_of_screening(board: Board) -> str | None:
    """A sentence on one board; nothing where nobody was set aside, or the ratings before are not known."""
    if not board.screened:
        return None
    moved = [(row.rating - row.before.rating, row) for row in board.rows if row.before]
    by, row = max(moved, key=lambda pair: abs(pair[0]))
    measure = board.measure
    unit = "percentage points" if measure.unit == "%" else measure.unit
    most = f"{row.generator} moves most, by {f'{measure.show_difference(by)} {unit}'.strip()}"
    return sentence(f"{most}; {_order(board)}")


def _order(board: Board) -> str:
    known = [row for row in board.rows if row.before]
    before = sorted(known, key=_before)
    moved = sum(one is not other for one, other in zip(known, before, strict=True))
    if not moved:
        return "the order of the generators stays"
    return f"{count(moved, 'generator')} {'has' if moved == 1 else 'have'} another place"


def _before(row: Standing) -> tuple[float, str]:
    assert row.before is not None
    return -row.before.rating, row.generator
