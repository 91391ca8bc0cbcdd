"""What people said of every two generators: the shares of ≫ > ≈ < ≪, or of > ≈ <."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import polars as pl

from beholder.report.tables.leaderboard import WHOLE, Board, Record
from beholder.tables.schemas.rank import OUTCOMES

MOST_PAIRS = 21
"""All pairs of seven generators. Where there are more, only neighbours on the board are shown."""

SIGNS = dict(zip(OUTCOMES, ("≫", ">", "≈", "<", "≪"), strict=True))
WORDS = dict(zip(OUTCOMES, ("much better", "better", "about the same", "worse", "much worse"), strict=True))
SWAPPED = dict(zip(OUTCOMES, reversed(OUTCOMES), strict=True))


@dataclass(frozen=True, slots=True)
class Share:
    """How often one outcome was said."""

    outcome: str
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Two generators, the one that stands higher on the board first."""

    one: str
    other: str
    shares: tuple[Share, ...]
    answers: int
    people: int

    @property
    def better(self) -> float:
        """Share that finds the first better, much or slightly."""
        return sum(share.share for share in self.shares if share.outcome in OUTCOMES[:2])


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The pairs shown, and whether they are all there are."""

    outcomes: tuple[str, ...]
    pairs: tuple[Compared, ...]
    total: int

    @property
    def all_shown(self) -> bool:
        """Whether every pair is shown, and not neighbours alone."""
        return len(self.pairs) == self.total


def comparisons(board: Board, table: pl.DataFrame) -> Comparisons | None:
    """The comparisons that belong to a board of votes; nothing where there are none."""
    mine = table.filter(
        (pl.col("question") == board.question) & (pl.col("aspect") == board.aspect) & (pl.col("slice") == WHOLE)
    )
    if mine.is_empty():
        return None
    found: dict[tuple[str, str], list[Record]] = {}
    for row in mine.to_dicts():
        found.setdefault((row["generator"], row["other"]), []).append(row)
    order = [row.generator for row in board.rows]
    wanted = list(combinations(order, 2)) if len(found) <= MOST_PAIRS else list(pairwise(order))
    pairs = [_compared(one, other, found) for one, other in wanted]
    said = set(mine["outcome"])
    return Comparisons(
        outcomes=tuple(outcome for outcome in OUTCOMES if outcome in said),
        pairs=tuple(pair for pair in pairs if pair),
        total=len(found),
    )


def _compared(one: str, other: str, found: Mapping[tuple[str, str], Sequence[Record]]) -> Compared | None:
    """The votes on two generators, seen from the one; nothing where nobody compared them."""
    swap = (one, other) not in found
    rows = found.get((other, one) if swap else (one, other))
    if not rows:
        return None
    shares = [
        Share(SWAPPED[row["outcome"]] if swap else row["outcome"], row["share"], row["low"], row["high"])
        for row in rows
    ]
    in_order = sorted(shares, key=lambda share: OUTCOMES.index(share.outcome))
    return Compared(one, other, tuple(in_order), rows[0]["answers"], rows[0]["raters"])
