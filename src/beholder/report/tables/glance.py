"""The study at a glance: the rank of every generator by every measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from beholder.report.tables.leaderboard import Board, Standing


@dataclass(frozen=True, slots=True)
class Glance:
    """One row per generator, one column per headline board."""

    boards: tuple[Board, ...]
    rows: tuple[tuple[str, tuple[Standing | None, ...]], ...]


def build_glance(boards: Sequence[Board]) -> Glance | None:
    """The generators by their mean rank over the boards; ``None`` where there are fewer than two."""
    by_cell = {(number, row.generator): row for number, board in enumerate(boards) for row in board.rows}
    names = dict.fromkeys(generator for _, generator in by_cell)
    if len(names) < 2:
        return None

    def mean_rank(generator: str) -> float:
        standings = [row for (_, name), row in by_cell.items() if name == generator]
        return fmean((row.rank_low + row.rank_high) / 2 for row in standings)

    in_order = sorted(names, key=lambda name: (mean_rank(name), name))
    return Glance(
        tuple(boards),
        tuple((name, tuple(by_cell.get((number, name)) for number in range(len(boards)))) for name in in_order),
    )
