"""How wide intervals would be with fewer or more people, drawn out from those at hand."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from beholder.report.tables.leaderboard import Board

FEWEST = 5
FURTHEST = 4
"""The curve ends at so many times the people at hand: there the intervals are half as wide."""

STEPS = 24


@dataclass(frozen=True, slots=True)
class Width:
    """The width of a generator's interval, and the number of people it rests on."""

    generator: str
    people: int
    width: float


@dataclass(frozen=True, slots=True)
class Precision:
    """The widths at hand, and what 1/√n makes of them: people, then lowest, median and highest width."""

    now: tuple[Width, ...]
    curve: tuple[tuple[int, float, float, float], ...]

    @property
    def people(self) -> int:
        """Median number of people behind a rating."""
        return round(median(one.people for one in self.now))

    @property
    def width(self) -> float:
        """Median width of an interval at hand."""
        return median(one.width for one in self.now)

    def needed(self, width: float) -> int:
        """People a generator for intervals as wide as ``width``, by the median generator."""
        return math.ceil(median(one.people * one.width**2 for one in self.now) / width**2)


def precision(board: Board) -> Precision | None:
    """The precision of a board; nothing where its intervals do not resample people."""
    if board.measure.resampled != "people":
        return None
    now = tuple(
        Width(row.generator, row.people, row.high - row.low)
        for row in board.rows
        if row.low is not None and row.high is not None and row.people > 1 and row.high > row.low
    )
    if not now:
        return None
    return Precision(now, tuple(_at(people, now) for people in _steps(now)))


def _steps(now: Sequence[Width]) -> list[int]:
    """Numbers of people, evenly by ratio, from a few to a multiple of those at hand."""
    last = FURTHEST * max(one.people for one in now)
    first = min(FEWEST, *(one.people for one in now))
    ratio = (last / first) ** (1 / STEPS)
    return sorted({round(first * ratio**step) for step in range(STEPS + 1)})


def _at(people: int, now: Sequence[Width]) -> tuple[int, float, float, float]:
    widths = [one.width * math.sqrt(one.people / people) for one in now]
    return people, min(widths), median(widths), max(widths)
