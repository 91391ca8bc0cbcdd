"""How wide confidence intervals would be with fewer or more raters, extrapolated from the present ones by 1/√n."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from beholder.report.tables.leaderboard import Board

FEWEST = 5
FURTHEST = 4
"""The curve ends at this multiple of the present raters: there the intervals are half as wide."""

STEPS = 24


@dataclass(frozen=True, slots=True)
class Width:
    """The width of a generator's confidence interval, and the number of raters behind it."""

    generator: str
    raters: int
    width: float


@dataclass(frozen=True, slots=True)
class Precision:
    """The present widths, and their curve by 1/√n: raters, then the lowest, median and highest width."""

    now: tuple[Width, ...]
    curve: tuple[tuple[int, float, float, float], ...]

    @property
    def raters(self) -> int:
        """Median number of raters behind a rating."""
        return round(median(width.raters for width in self.now))

    @property
    def width(self) -> float:
        """Median present width of a confidence interval."""
        return median(width.width for width in self.now)

    def needed_raters(self, width: float) -> int:
        """Raters per generator for intervals as wide as ``width``, for the median generator."""
        return math.ceil(median(present.raters * present.width**2 for present in self.now) / width**2)


def build_precision(board: Board) -> Precision | None:
    """The precision of a board; ``None`` where its confidence intervals do not resample raters."""
    if board.measure.resampled != "raters":
        return None
    now = tuple(
        Width(row.generator, row.raters, row.high - row.low)
        for row in board.rows
        if row.low is not None and row.high is not None and row.raters > 1 and row.high > row.low
    )
    if not now:
        return None
    return Precision(now, tuple(_at(raters, now) for raters in _steps(now)))


def _steps(now: Sequence[Width]) -> list[int]:
    """Numbers of raters, evenly by ratio, from a few to a multiple of the present ones."""
    last = FURTHEST * max(width.raters for width in now)
    first = min(FEWEST, *(width.raters for width in now))
    ratio = (last / first) ** (1 / STEPS)
    return sorted({round(first * ratio**step) for step in range(STEPS + 1)})


def _at(raters: int, now: Sequence[Width]) -> tuple[int, float, float, float]:
    widths = [width.width * math.sqrt(width.raters / raters) for width in now]
    return raters, min(widths), median(widths), max(widths)
