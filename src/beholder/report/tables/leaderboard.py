"""Leaderboards: the rows of ``ratings`` and ``separations`` as frozen boards, for the page and the terminal."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import polars as pl

from beholder.report.text.measures import Measure, measure_of
from beholder.stats.frames.display.text_table import TextTable

ALL_IMAGES = "all"
"""The slice that holds every image."""

Key = tuple[str, str, str, str]
"""Question, aspect, method and slice: what one board is about."""

Record = dict[str, Any]
"""A row of a checked table, by column."""


@dataclass(frozen=True, slots=True)
class Before:
    """A rating from the answers of all raters, with nobody excluded by screening."""

    rating: float
    low: float | None
    high: float | None
    raters: int


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
    raters: int
    answers: int
    images: int
    true_rating: float | None = None
    """The ground truth, what honest raters would give on average: known only of simulated raters."""
    se: float | None = None
    """Standard error over raters."""
    before: Before | None = None
    """The rating before screening."""

    @property
    def width_ratio(self) -> float | None:
        """Width of the confidence interval over raters, divided by that of the naive one."""
        low, high, naive_low, naive_high = self.low, self.high, self.naive_low, self.naive_high
        if low is None or high is None or naive_low is None or naive_high is None or naive_high <= naive_low:
            return None
        return (high - low) / (naive_high - naive_low)

    @property
    def rank(self) -> str:
        """``1``, or ``2–3`` where the generators within are not significantly different."""
        low, high = self.rank_low, self.rank_high
        return str(low) if low == high else f"{low}–{high}"

    @property
    def covered(self) -> bool | None:
        """Whether the confidence interval contains the ground truth; ``None`` where either is unknown."""
        if self.true_rating is None or self.low is None or self.high is None:
            return None
        return self.low <= self.true_rating <= self.high


@dataclass(frozen=True, slots=True)
class Pair:
    """Two generators of a board, the higher rated first; confidence limits are of their difference."""

    generator: str
    other: str
    difference: float
    low: float | None
    high: float | None
    p_adjusted: float | None
    separated: bool
    """Whether they differ significantly, at the level corrected for all pairs."""
    more_raters: int | None


@dataclass(frozen=True, slots=True)
class Board:
    """All generators by one measure of one question, the highest rated first."""

    question: str
    aspect: str
    method: str
    slice: str
    level: float
    ties: str | None
    rows: tuple[Standing, ...]
    pairs: tuple[Pair, ...]

    @property
    def key(self) -> Key:
        """Question, aspect, method and slice."""
        return self.question, self.aspect, self.method, self.slice

    @property
    def measure(self) -> Measure:
        """How its numbers are read and written."""
        return measure_of(self.method)

    @property
    def name(self) -> str:
        """What it is called among other boards: the question, and the aspect where that differs."""
        return self.question if self.aspect == self.question else f"{self.question}: {self.aspect}"

    @property
    def has_truth(self) -> bool:
        """Whether the ground truth of any generator is known."""
        return any(row.true_rating is not None for row in self.rows)

    @property
    def width_ratio(self) -> tuple[float, float, float] | None:
        """Smallest, median and largest :attr:`Standing.width_ratio` of its rows."""
        ratios = [row.width_ratio for row in self.rows if row.width_ratio is not None]
        return (min(ratios), median(ratios), max(ratios)) if ratios else None

    @property
    def screened(self) -> bool:
        """Whether screening excluded anyone whose answers would have entered the ratings."""
        return any(row.before is not None and row.before.raters != row.raters for row in self.rows)

    @property
    def leaders(self) -> tuple[str, ...]:
        """The generators for which rank 1 is not ruled out."""
        return tuple(row.generator for row in self.rows if row.rank_low == 1)

    @property
    def fewest_raters(self) -> int:
        """How many raters judged the generator that the fewest judged."""
        return min((row.raters for row in self.rows), default=0)

    @property
    def untested(self) -> bool:
        """Whether no pair has a confidence interval, as with fewer than five raters."""
        return bool(self.pairs) and all(pair.low is None for pair in self.pairs)

    @property
    def undecided(self) -> tuple[Pair, ...]:
        """The pairs that are not significantly different, the one that needs the fewest more raters first."""
        open_pairs = [pair for pair in self.pairs if not pair.separated]
        unknown = 1 << 62
        return tuple(
            sorted(
                open_pairs,
                key=lambda p: (unknown if p.more_raters is None else p.more_raters, p.generator, p.other),
            )
        )


def build_boards(
    ratings: pl.DataFrame, separations: pl.DataFrame, true_ratings: pl.DataFrame | None = None
) -> tuple[Board, ...]:
    """All leaderboards of the tables, in their order; ``true_ratings`` has the columns of ``ratings``."""
    truth = (
        {} if true_ratings is None else {(_key(r), r["generator"]): r["rating"] for r in _records(true_ratings)}
    )
    rated, compared = _by_board(ratings), _by_board(separations)
    return tuple(
        Board(
            *key,
            level=records[0]["level"],
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


def select_headlines(boards: Iterable[Board]) -> tuple[Board, ...]:
    """The boards of all images by the main measure of each question."""
    return tuple(board for board in boards if board.slice == ALL_IMAGES and board.measure.headline)


def file_stems(boards: Iterable[Board]) -> dict[Key, str]:
    """Names for the files of each board: its question and aspect, and its method where another board has both."""
    stems: dict[Key, str] = {}
    for board in boards:
        stem = board.question if board.aspect == board.question else f"{board.question}-{board.aspect}"
        stems[board.key] = f"{stem}-{board.method}" if stem in stems.values() else stem
    return stems


def board_text(board: Board, footer: tuple[str, ...] = ()) -> TextTable:
    """The board as text, in columns: for a terminal, a notebook, Markdown or LaTeX."""
    measure = board.measure
    heads = ["rank", "generator", measure.name, f"{100 * board.level:g} % CI", "raters", "answers", "images"]
    heads += ["ground truth"] if board.has_truth else []
    where = "" if board.slice == ALL_IMAGES else f", {board.slice} only"
    unit = f", {measure.unit}" if measure.unit else ""
    return TextTable(
        title=f"{board.name}{where} — {measure.name}{unit}",
        heads=tuple(heads),
        numeric=tuple(column > 1 for column in range(len(heads))),
        cells=tuple(tuple(_cells(board, row)) for row in board.rows),
        footer=footer,
    )


def format_board(board: Board) -> str:
    """The board as a table of aligned columns for a terminal."""
    return board_text(board).plain()


def _cells(board: Board, row: Standing) -> list[str]:
    measure = board.measure
    cells = [
        row.rank,
        row.generator,
        measure.with_unit(measure.show(row.rating)),
        measure.with_unit(measure.show_interval(row.low, row.high)),
        f"{row.raters:,}",
        f"{row.answers:,}",
        f"{row.images:,}",
    ]
    return [*cells, measure.with_unit(measure.show(row.true_rating))] if board.has_truth else cells


def _by_board(frame: pl.DataFrame) -> dict[Key, list[Record]]:
    groups: dict[Key, list[Record]] = {}
    for record in _records(frame):
        groups.setdefault(_key(record), []).append(record)
    return groups


def _records(frame: pl.DataFrame) -> list[Record]:
    return frame.to_dicts()


def _key(record: Record) -> Key:
    return record["question"], record["aspect"], record["method"], record["slice"]


def _standing(record: Record, true_rating: float | None) -> Standing:
    return Standing(
        generator=record["generator"],
        rank_low=record["rank_low"],
        rank_high=record["rank_high"],
        rating=record["rating"],
        low=record["low"],
        high=record["high"],
        naive_low=record["naive_low"],
        naive_high=record["naive_high"],
        raters=record["raters"],
        answers=record["answers"],
        images=record["images"],
        true_rating=true_rating,
        se=record["se"],
        before=_before(record),
    )


def _before(record: Record) -> Before | None:
    if record["rating_all"] is None:
        return None
    return Before(record["rating_all"], record["low_all"], record["high_all"], record["raters_all"] or 0)


def _pair(record: Record) -> Pair:
    return Pair(
        generator=record["generator"],
        other=record["other"],
        difference=record["difference"],
        low=record["low"],
        high=record["high"],
        p_adjusted=record["p_adjusted"],
        separated=record["separated"],
        more_raters=record["more_raters"],
    )
