"""Leaderboards: the rows of ``ratings`` and ``separations`` as frozen boards, for the page and the terminal."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import polars as pl

from beholder.report.text.measures import Measure, measure_of

WHOLE = "all"
"""The slice that holds every image."""

Key = tuple[str, str, str, str]
"""Question, aspect, method and slice: what one board is about."""

Record = dict[str, Any]
"""A row of a checked table, by column."""


@dataclass(frozen=True, slots=True)
class Before:
    """A rating with nobody set aside by screening."""

    rating: float
    low: float | None
    high: float | None
    people: int


@dataclass(frozen=True, slots=True)
class Standing:
    """One generator on a board."""

    generator: str
    rank_low: int
    rank_high: int
    rating: float
    low: float | None
    high: float | None
    naive_low: float | None
    naive_high: float | None
    people: int
    answers: int
    images: int
    planted: float | None = None
    """What honest people would give on average: known only of made-up people."""
    se: float | None = None
    """Standard error over people."""
    before: Before | None = None
    """The rating, were nobody set aside by screening."""
    prior_share: float | None = None
    """Share of the draws that needed pseudo-votes to be finite."""

    @property
    def narrowness(self) -> float | None:
        """How many times wider the interval over people is than the one that takes answers as independent."""
        low, high, naive_low, naive_high = self.low, self.high, self.naive_low, self.naive_high
        if low is None or high is None or naive_low is None or naive_high is None or naive_high <= naive_low:
            return None
        return (high - low) / (naive_high - naive_low)

    @property
    def rank(self) -> str:
        """``1``, or ``2–3`` where the ranks between are not told apart."""
        low, high = self.rank_low, self.rank_high
        return str(low) if low == high else f"{low}–{high}"

    @property
    def covered(self) -> bool | None:
        """Whether the interval holds the planted value; ``None`` where either is not known."""
        if self.planted is None or self.low is None or self.high is None:
            return None
        return self.low <= self.planted <= self.high


@dataclass(frozen=True, slots=True)
class Pair:
    """Two generators of a board, the higher rated first."""

    one: str
    other: str
    difference: float
    low: float | None
    high: float | None
    p_adjusted: float | None
    apart: bool
    more_people: int | None


@dataclass(frozen=True, slots=True)
class Board:
    """All generators by one measure of one question, the highest rated first."""

    question: str
    aspect: str
    method: str
    slice: str
    level: float
    draws: int
    ties: str | None
    rows: tuple[Standing, ...]
    pairs: tuple[Pair, ...]

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.question, self.aspect, self.method, self.slice

    @property
    def measure(self) -> Measure:
        """How its numbers are read and written."""
        return measure_of(self.method)

    @property
    def name(self) -> str:
        """What it is called beside other boards: the question, and the aspect where that says more."""
        return self.question if self.aspect == self.question else f"{self.question}: {self.aspect}"

    @property
    def planted(self) -> bool:
        """Whether the planted value of any generator is known."""
        return any(row.planted is not None for row in self.rows)

    @property
    def narrowness(self) -> tuple[float, float, float] | None:
        """Smallest, median and largest :attr:`Standing.narrowness` of its rows."""
        found = [row.narrowness for row in self.rows if row.narrowness is not None]
        return (min(found), median(found), max(found)) if found else None

    @property
    def screened(self) -> bool:
        """Whether screening set anyone aside whose answers would have entered the ratings."""
        return any(row.before is not None and row.before.people != row.people for row in self.rows)

    @property
    def leaders(self) -> tuple[str, ...]:
        """The generators for which the first rank is not ruled out."""
        return tuple(row.generator for row in self.rows if row.rank_low == 1)

    @property
    def undecided(self) -> tuple[Pair, ...]:
        """The pairs not told apart, the one that needs the fewest more people first."""
        open_pairs = [pair for pair in self.pairs if not pair.apart]
        unknown = 1 << 62
        return tuple(
            sorted(open_pairs, key=lambda p: (unknown if p.more_people is None else p.more_people, p.one, p.other))
        )


def boards(
    ratings: pl.DataFrame, separations: pl.DataFrame, planted: pl.DataFrame | None = None
) -> tuple[Board, ...]:
    """Every board of the tables, in their order; ``planted`` has the shape of ``ratings``."""
    truth = {} if planted is None else {(_key(r), r["generator"]): r["rating"] for r in _records(planted)}
    rated, compared = _by_board(ratings), _by_board(separations)
    return tuple(
        Board(
            *key,
            level=records[0]["level"],
            draws=records[0]["draws"],
            ties=next((record["ties"] for record in records if record["ties"] is not None), None),
            rows=tuple(
                sorted(
                    (_standing(record, truth.get((key, record["generator"]))) for record in records),
                    key=lambda row: (-row.rating, row.generator),
                )
            ),
            pairs=tuple(_pair(record) for record in compared.get(key, ())),
        )
        for key, records in rated.items()
    )


def headlines(every: Iterable[Board]) -> tuple[Board, ...]:
    """The boards that lead: of all images, by the measure that leads its question."""
    return tuple(board for board in every if board.slice == WHOLE and board.measure.headline)


def slugs(leading: Iterable[Board]) -> dict[Key, str]:
    """A name for the files of each board: its question and aspect, and its method where another has both."""
    found: dict[Key, str] = {}
    for board in leading:
        slug = board.question if board.aspect == board.question else f"{board.question}-{board.aspect}"
        found[board.key] = f"{slug}-{board.method}" if slug in found.values() else slug
    return found


def text(board: Board) -> str:
    """The board as a table of aligned columns for a terminal."""
    measure = board.measure
    heads = ["rank", "generator", measure.name, f"{100 * board.level:g} % interval", "people", "answers", "images"]
    heads += ["planted"] if board.planted else []
    lines = [heads, *(_cells(board, row) for row in board.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    left = {0, 1}
    aligned = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    where = "" if board.slice == WHOLE else f", {board.slice} only"
    unit = f", {measure.unit}" if measure.unit else ""
    rule = "─" * max(len(line) for line in aligned)
    return "\n".join([f"{board.name}{where} — {measure.name}{unit}", aligned[0], rule, *aligned[1:]])


def _cells(board: Board, row: Standing) -> list[str]:
    measure = board.measure
    cells = [
        row.rank,
        row.generator,
        measure.with_unit(measure.show(row.rating)),
        measure.with_unit(measure.show_interval(row.low, row.high)),
        f"{row.people:,}",
        f"{row.answers:,}",
        f"{row.images:,}",
    ]
    return [*cells, measure.with_unit(measure.show(row.planted))] if board.planted else cells


def _by_board(frame: pl.DataFrame) -> dict[Key, list[Record]]:
    groups: dict[Key, list[Record]] = {}
    for record in _records(frame):
        groups.setdefault(_key(record), []).append(record)
    return groups


def _records(frame: pl.DataFrame) -> list[Record]:
    return frame.to_dicts()


def _key(record: Record) -> Key:
    return record["question"], record["aspect"], record["method"], record["slice"]


def _standing(record: Record, planted: float | None) -> Standing:
    return Standing(
        generator=record["generator"],
        rank_low=record["rank_low"],
        rank_high=record["rank_high"],
        rating=record["rating"],
        low=record["low"],
        high=record["high"],
        naive_low=record["naive_low"],
        naive_high=record["naive_high"],
        people=record["raters"],
        answers=record["answers"],
        images=record["images"],
        planted=planted,
        se=record["se"],
        before=_before(record),
        prior_share=record["prior_share"],
    )


def _before(record: Record) -> Before | None:
    if record["rating_all"] is None:
        return None
    return Before(record["rating_all"], record["low_all"], record["high_all"], record["raters_all"] or 0)


def _pair(record: Record) -> Pair:
    return Pair(
        one=record["generator"],
        other=record["other"],
        difference=record["difference"],
        low=record["low"],
        high=record["high"],
        p_adjusted=record["p_adjusted"],
        apart=record["separated"],
        more_people=record["more_raters"],
    )
