"""The effect of screening, in words: how far ratings moved, and whether the order changed."""

from beholder.report.tables.leaderboard import Board, Standing
from beholder.report.text.words import count, end_sentence


def describe_screening_effect(board: Board) -> str | None:
    """A sentence on one board; ``None`` where nobody was excluded, or ratings before screening are not known."""
    if not board.screened:
        return None
    moved = [(row.rating - row.before.rating, row) for row in board.rows if row.before]
    by, row = max(moved, key=lambda pair: abs(pair[0]))
    measure = board.measure
    unit = "percentage points" if measure.unit == "%" else measure.unit
    most = f"{row.generator} moves most, by {f'{measure.show_difference(by)} {unit}'.strip()}"
    return end_sentence(f"{most}; {_order(board)}")


def _order(board: Board) -> str:
    after = [row for row in board.rows if row.before]
    before = sorted(after, key=_before)
    moved = sum(now is not then for now, then in zip(after, before, strict=True))
    if not moved:
        return "the order of the generators does not change"
    return f"{count(moved, 'generator')} {'changes' if moved == 1 else 'change'} position"


def _before(row: Standing) -> tuple[float, str]:
    assert row.before is not None
    return -row.before.rating, row.generator
