"""Ratings by raters and scores together: ``powered_ratings`` as boards, for the page and the terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import polars as pl

from beholder.report.text.measures import Measure, measure_of

HELPS = 0.95
"""A median ratio of widths up to this is called narrower."""

SAME = 0.995
"""A ratio as close to 1 as this is called the same: the score is of no use."""

MOST_SENTENCES = 3

KEY = ("question", "aspect", "method", "metric")


@dataclass(frozen=True, slots=True)
class PoweredStanding:
    """One generator: its rating by raters and scores, and by the same raters alone."""

    generator: str
    rating: float
    low: float | None
    high: float | None
    people_rating: float
    people_low: float | None
    people_high: float | None
    width_ratio: float | None
    """Width of the confidence interval divided by that of raters alone."""
    tuning: float
    """λ: the weight of the scores."""
    answers: int
    raters: int
    judged: int
    unjudged: int


@dataclass(frozen=True, slots=True)
class PoweredBoard:
    """All generators by one measure of one question, with one metric, the highest rated first."""

    question: str
    aspect: str
    method: str
    metric: str
    level: float
    rows: tuple[PoweredStanding, ...]

    @property
    def measure(self) -> Measure:
        """How its numbers are read and written."""
        return measure_of(self.method)

    @property
    def name(self) -> str:
        """The question, and the aspect where that differs."""
        return self.question if self.aspect == self.question else f"{self.question}: {self.aspect}"

    @property
    def width_ratio(self) -> float | None:
        """The median over generators of how wide the confidence intervals are, relative to raters alone."""
        ratios = [row.width_ratio for row in self.rows if row.width_ratio is not None]
        return median(ratios) if ratios else None

    @property
    def unit(self) -> str:
        """What is judged or not: prompts where images are compared, otherwise images."""
        return "prompts" if self.method in ("win-rate", "mean-preference") else "images"

    @property
    def sentence(self) -> str:
        """What the scores are worth, in words."""
        ratio = self.width_ratio
        if ratio is None:
            return f"Too few raters for confidence intervals, with {self.metric} or without."
        if ratio > SAME:
            wider = "as wide as" if ratio < 2 - SAME else f"{100 * (ratio - 1):.0f} % wider than"
            return f"{self.metric} is of no use here: the confidence intervals are {wider} from raters alone."
        if ratio > HELPS:
            return (
                f"{self.metric} is of little use here: the confidence intervals are {100 * (1 - ratio):.0f} % "
                "narrower than from raters alone."
            )
        return (
            f"With {self.metric} the confidence intervals are {100 * (1 - ratio):.0f} % narrower than from raters "
            f"alone, as with {1 / ratio**2:.1f} times as many raters and judged {self.unit}."
        )


def build_powered_boards(powered: pl.DataFrame, metric: str | None = None) -> tuple[PoweredBoard, ...]:
    """All boards of the table, or those of one metric: by question and aspect, the narrowest intervals first."""
    rows = powered if metric is None else powered.filter(pl.col("metric") == metric)
    boards = [
        PoweredBoard(
            question=str(key[0]),
            aspect=str(key[1]),
            method=str(key[2]),
            metric=str(key[3]),
            level=float(part["level"][0]),
            rows=tuple(
                sorted((_standing(row) for row in part.to_dicts()), key=lambda row: (-row.rating, row.generator))
            ),
        )
        for key, part in rows.partition_by(KEY, as_dict=True, maintain_order=True).items()
    ]
    place = {(board.question, board.aspect): number for number, board in reversed(list(enumerate(boards)))}
    return tuple(
        sorted(
            boards, key=lambda board: (place[board.question, board.aspect], board.width_ratio or 1.0, board.metric)
        )
    )


def group_by_question(boards: Iterable[PoweredBoard]) -> tuple[tuple[str, tuple[PoweredBoard, ...]], ...]:
    """The boards of each question and aspect under their name, in the order in which they are."""
    groups: dict[str, list[PoweredBoard]] = {}
    for board in boards:
        groups.setdefault(board.name, []).append(board)
    return tuple((name, tuple(part)) for name, part in groups.items())


def write_powered_findings(boards: Sequence[PoweredBoard]) -> tuple[str, ...]:
    """What the scores of one question are worth, in words: those that help, and how many do not."""
    helpful = [board for board in boards if (board.width_ratio or 1.0) <= HELPS]
    rest = len(boards) - len(helpful)
    if len(boards) == 1 or boards[0].width_ratio is None:
        return (boards[0].sentence,)
    if not helpful:
        return (f"None of {len(boards)} scores is of much use here. The best: {boards[0].sentence}",)
    more = f"The other {rest} are of little or no use." if rest > 1 else f"{boards[-1].sentence}" if rest else ""
    return (*(board.sentence for board in helpful[:MOST_SENTENCES]), *([more] if more else []))


def format_powered_board(board: PoweredBoard) -> str:
    """The board as a table of aligned columns for a terminal, with a sentence on what the scores are worth."""
    measure, interval = board.measure, f"{100 * board.level:g} % CI"
    heads = [
        "generator",
        "raters alone",
        interval,
        "raters and scores",
        interval,
        "width",
        "λ",
        "raters",
        "answers",
    ]
    heads += [f"unjudged {board.unit}"]
    lines = [heads, *(_cells(measure, row) for row in board.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    aligned = [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    unit = f", {measure.unit}" if measure.unit else ""
    title = f"{board.name} — {measure.name}{unit}, by raters and {board.metric} (prediction-powered)"
    rule = "─" * max(len(line) for line in aligned)
    return "\n".join([title, aligned[0], rule, *aligned[1:], board.sentence])


def _cells(measure: Measure, row: PoweredStanding) -> list[str]:
    return [
        row.generator,
        measure.with_unit(measure.show(row.people_rating)),
        measure.with_unit(measure.show_interval(row.people_low, row.people_high)),
        measure.with_unit(measure.show(row.rating)),
        measure.with_unit(measure.show_interval(row.low, row.high)),
        "–" if row.width_ratio is None else f"× {row.width_ratio:.2f}",
        f"{row.tuning:.2f}",
        f"{row.raters:,}",
        f"{row.answers:,}",
        f"{row.unjudged:,}",
    ]


def _standing(row: dict[str, Any]) -> PoweredStanding:
    names = PoweredStanding.__dataclass_fields__
    return PoweredStanding(**{name: row[name] for name in names})
