"""Drawings on the pages, as numbers for an SVG: intervals in cells, and two measures against each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from beholder.report.board_site.content import BoardSlice, Cell, Content, Entry, MeasureHead
from beholder.report.board_site.figures import figure
from beholder.stats.decision.pareto import pareto_front

CELL_WIDTH = 128
"""Of the drawing in a cell, in pixels; its height is 14."""

MARGIN = 5
"""Left and right of the scale in a cell."""

WIDTH, HEIGHT = 640, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 16, 52
"""Of the chart of two measures."""


@dataclass(frozen=True, slots=True)
class Whisker:
    """A confidence interval in a cell: where its ends and its value are, in pixels."""

    low: float
    value: float
    high: float


def whisker(cell: Cell, ends: tuple[float, float] | None) -> Whisker | None:
    """Return the drawing of a cell on the scale that its column shares; none without a value."""
    if cell.value is None or ends is None:
        return None
    span = (ends[1] - ends[0]) or 1.0

    def place(number: float) -> float:
        return round(MARGIN + (CELL_WIDTH - 2 * MARGIN) * (number - ends[0]) / span, 1)

    low, high = (cell.value if end is None else end for end in (cell.low, cell.high))
    return Whisker(place(low), place(cell.value), place(high))


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis."""

    place: float
    text: str


@dataclass(frozen=True, slots=True)
class Dot:
    """An entry in the chart of two measures; whiskers are its confidence intervals."""

    entry: Entry
    x: float
    y: float
    left: float
    right: float
    top: float
    bottom: float
    front: bool
    title: str


@dataclass(frozen=True, slots=True)
class FrontChart:
    """Two measures against each other; better is always to the right and up."""

    x: MeasureHead
    y: MeasureHead
    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    line: str
    """The Pareto front of these two measures, as an SVG path."""


def chart_measures(content: Content) -> tuple[MeasureHead, MeasureHead] | None:
    """Return the two measures that the chart shows first: a cost, or one from elsewhere; and the leading one."""
    directed = [
        measure
        for measure in content.measures
        if measure.better and sum(_has(content.overall, measure, entry) for entry in content.entries) > 1
    ]
    if len(directed) < 2:
        return None
    y = content.leading if content.leading in directed else directed[0]
    others = [measure for measure in directed if measure is not y]
    costs = [measure for measure in others if measure.source == "cost"]
    return next((m for m in (*costs, *others) if m.source != y.source), others[0]), y


def front_chart(content: Content, x: MeasureHead, y: MeasureHead) -> FrontChart:
    """Return the chart of all entries by two measures over all prompts.

    Args:
        content: Of the site.
        x: The measure from left to right.
        y: The measure upwards.

    Returns:
        Numbers for the template.
    """
    part = content.overall
    entries = [e for e in content.entries if _has(part, x, e) and _has(part, y, e)]
    x_axis, y_axis = _Axis.over(part, x, LEFT, WIDTH - RIGHT), _Axis.over(part, y, HEIGHT - BOTTOM, TOP)
    cells = [(part.cells[x.name, entry.name], part.cells[y.name, entry.name]) for entry in entries]
    signed = [[_sign(x) * (a.value or 0.0), _sign(y) * (b.value or 0.0)] for a, b in cells]
    front = pareto_front(signed).tolist() if signed else []
    dots = tuple(
        Dot(
            entry=entry,
            x=x_axis.place(a.value),
            y=y_axis.place(b.value),
            left=x_axis.place(a.value if a.low is None else a.low),
            right=x_axis.place(a.value if a.high is None else a.high),
            top=y_axis.place(b.value if b.high is None else b.high),
            bottom=y_axis.place(b.value if b.low is None else b.low),
            front=bool(front[k]),
            title=f"{entry.name}: {x.name} {a.text}, {y.name} {b.text}",
        )
        for k, (entry, (a, b)) in enumerate(zip(entries, cells, strict=True))
    )
    best = sorted((dot for dot in dots if dot.front), key=lambda dot: dot.x)
    line = "".join(f"M{dot.x} {dot.y}" if k == 0 else f"V{dot.y}H{dot.x}" for k, dot in enumerate(best))
    return FrontChart(x, y, dots, x_axis.ticks(), y_axis.ticks(), line)


def _has(part: BoardSlice, measure: MeasureHead, entry: Entry) -> bool:
    cell = part.cells.get((measure.name, entry.name))
    return cell is not None and cell.value is not None


def _sign(measure: MeasureHead) -> float:
    return -1.0 if measure.better == "lower" else 1.0


@dataclass(frozen=True, slots=True)
class _Axis:
    """A scale from numbers to pixels; that of a measure where lower is better is reversed."""

    low: float
    high: float
    start: float
    end: float
    decimals: int

    @classmethod
    def over(cls, part: BoardSlice, measure: MeasureHead, start: float, end: float) -> "_Axis":
        low, high = part.ends(measure.name) or (0.0, 1.0)
        room = 0.06 * ((high - low) or 1.0)
        low, high = low - room, high + room
        if measure.better == "lower":
            start, end = end, start
        return cls(low, high, start, end, measure.decimals)

    def place(self, number: float | None) -> float:
        return round(
            self.start + (self.end - self.start) * ((number or 0.0) - self.low) / (self.high - self.low), 1
        )

    def ticks(self) -> tuple[Tick, ...]:
        numbers = round_numbers(self.low, self.high)
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1.0
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        return tuple(Tick(self.place(number), figure(number, decimals)) for number in numbers)


def round_numbers(low: float, high: float, most: int = 6) -> Sequence[float]:
    """Return at most ``most`` numbers of 1, 2 or 5 × 10ᵏ apart within a range.

    Example:
        >>> list(round_numbers(0.3, 4.2))
        [1.0, 2.0, 3.0, 4.0]
    """
    span = (high - low) or 1.0
    size = 10 ** math.floor(math.log10(span / most))
    step = next(size * factor for factor in (1, 2, 5, 10, 20) if span / (size * factor) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]
