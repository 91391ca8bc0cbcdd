"""Votes on every pair of generators: the proportions of ≫ > ≈ < ≪, or of > ≈ <."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import polars as pl

from beholder.report.tables.leaderboard import ALL_IMAGES, Board, Record
from beholder.tables.schemas.rank import OUTCOMES

MOST_PAIRS = 21
"""All pairs of seven generators. Where there are more, only those adjacent on the board are shown."""

SIGNS = dict(zip(OUTCOMES, ("≫", ">", "≈", "<", "≪"), strict=True))
WORDS = dict(zip(OUTCOMES, ("much better", "better", "about the same", "worse", "much worse"), strict=True))
SWAPPED = dict(zip(OUTCOMES, reversed(OUTCOMES), strict=True))


@dataclass(frozen=True, slots=True)
class OutcomeRate:
    """The proportion of votes with one outcome, and its confidence interval."""

    outcome: str
    proportion: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Votes on two generators, the one that is higher on the board first."""

    generator: str
    other: str
    outcomes: tuple[OutcomeRate, ...]
    answers: int
    raters: int

    @property
    def better(self) -> float:
        """Proportion of votes that find the first better, much or slightly."""
        return sum(rate.proportion for rate in self.outcomes if rate.outcome in OUTCOMES[:2])


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The pairs that the page shows, and how many pairs were compared."""

    outcomes: tuple[str, ...]
    pairs: tuple[Compared, ...]
    total: int

    @property
    def all_shown(self) -> bool:
        """Whether every pair is shown, not only adjacent ones."""
        return len(self.pairs) == self.total


def build_comparisons(board: Board, table: pl.DataFrame) -> Comparisons | None:
    """The comparisons that belong to a board of votes; ``None`` where there are none."""
    votes = table.filter(
        (pl.col("question") == board.question)
        & (pl.col("aspect") == board.aspect)
        & (pl.col("slice") == ALL_IMAGES)
    )
    if votes.is_empty():
        return None
    by_pair: dict[tuple[str, str], list[Record]] = {}
    for row in votes.to_dicts():
        by_pair.setdefault((row["generator"], row["other"]), []).append(row)
    order = [row.generator for row in board.rows]
    shown_pairs = list(combinations(order, 2)) if len(by_pair) <= MOST_PAIRS else list(pairwise(order))
    pairs = [_compared(generator, other, by_pair) for generator, other in shown_pairs]
    occurring = set(votes["outcome"])
    return Comparisons(
        outcomes=tuple(outcome for outcome in OUTCOMES if outcome in occurring),
        pairs=tuple(pair for pair in pairs if pair),
        total=len(by_pair),
    )


def _compared(generator: str, other: str, by_pair: Mapping[tuple[str, str], Sequence[Record]]) -> Compared | None:
    """The votes on two generators, as outcomes for the first; ``None`` where nobody compared them."""
    swap = (generator, other) not in by_pair
    rows = by_pair.get((other, generator) if swap else (generator, other))
    if not rows:
        return None
    rates = [
        OutcomeRate(SWAPPED[row["outcome"]] if swap else row["outcome"], row["share"], row["low"], row["high"])
        for row in rows
    ]
    in_order = sorted(rates, key=lambda rate: OUTCOMES.index(rate.outcome))
    return Compared(generator, other, tuple(in_order), rows[0]["answers"], rows[0]["raters"])
