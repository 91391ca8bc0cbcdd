"""What people said of every two generators: the shares of ≫ > ≈ < ≪, or of > ≈ <."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import polars as pl

from beholder.report.leaderboard import WHOLE, Board
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
    found: dict[tuple[str, str], list[dict[str, object]]] = {}
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


def _compared(one: str, other: str, found: dict[tuple[str, str], list[dict[str, object]]]) -> Compared | None:
    rows, swap = found.get((one, other)), False
    if rows is None:
        rows, swap = found.get((other, one)), True
    if rows is None:
        return None
    shares = [_share(row, swap=swap) for row in rows]
    frame: Sequence[Share] = sorted(shares, key=lambda share: OUTCOMES.index(share.outcome))
    return Compared(one, other, tuple(frame), _whole(rows[0]["answers"]), _whole(rows[0]["raters"]))


def _share(row: dict[str, object], *, swap: bool) -> Share:
    outcome, share, low, high = (row[name] for name in ("outcome", "share", "low", "high"))
    assert isinstance(outcome, str)
    assert isinstance(share, float)
    assert low is None or isinstance(low, float)
    assert high is None or isinstance(high, float)
    return Share(SWAPPED[outcome] if swap else outcome, share, low, high)


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value
