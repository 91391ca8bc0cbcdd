"""Ratings of a board with their confidence intervals, over raters and naive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beholder.report.charts.chart import Chart, finish_chart, has_values
from beholder.report.charts.vega_lite import Layer, Spec, channel, end_channel
from beholder.report.site.generator_marks import SHAPE, Mark
from beholder.report.site.theme import var
from beholder.report.tables.leaderboard import Board, Standing
from beholder.report.text.words import count

ROW = 42
"""Height of a generator's row in pixels."""

CROWDED_ROW = 24
"""The same where there are many."""

NAME_LIMIT = 130
"""Pixels for a name; the full one is in the table."""

MANY = 12
"""Beyond so many generators rows are narrower."""


@dataclass(frozen=True, slots=True)
class Slim:
    """What small multiples share so that they can be compared: the ends of the axis and the order of the rows."""

    domain: tuple[float, float]
    order: Sequence[str]


def ratings_chart(board: Board, marks: Mapping[str, Mark], name: str, *, slim: Slim | None = None) -> Chart:
    """One dot per generator; its confidence interval over raters thick, the naive one thin, ground truth hollow.

    One of several small charts is ``slim``: it omits what only the large chart shows.
    """
    names = [row.generator for row in board.rows]
    order = [name for name in slim.order if name in names] if slim else names
    crowded = slim is not None or len(order) > MANY
    scale = {"domain": list(slim.domain)} if slim else {"zero": False, "nice": True, "padding": 14}
    x = channel("rating:Q", scale=scale, title=None if slim else _title(board), axis=_axis(board, slim=bool(slim)))
    y = channel("generator:N", sort=order, title=None, axis={"labelLimit": 90 if slim else NAME_LIMIT})
    tint = channel("colour:N", scale=None)
    base = Layer()
    rows = [_row(board, row, marks) for row in board.rows]
    layers = _reference(board, scale, slim=bool(slim))
    if not slim and has_values(rows, "naive_low"):
        thin = base.filter("datum.naive_low != null").mark(
            "rule", strokeWidth=1.5, yOffset=7 if crowded else 11, color=var("soft")
        )
        layers.append(thin.encode(x=_at("naive_low:Q", x), x2=end_channel("naive_high"), y=y))
    thick = base.filter("datum.low != null").mark(
        "rule", strokeWidth=4 if slim else 6, opacity=0.45, strokeCap="round"
    )
    if has_values(rows, "low"):
        layers.append(thick.encode(x=_at("low:Q", x), x2=end_channel("high"), y=y, color=tint))
    dots = base.mark(
        "point", size=45 if slim else 95, filled=True, opacity=1, stroke=var("paper"), strokeWidth=1.2
    )
    layers.append(dots.encode(x=x, y=y, fill=tint, shape=SHAPE, tooltip=_tooltip(board)))
    if board.has_truth:
        diamond = base.filter("datum.truth != null").mark(
            "point", shape="diamond", size=150, filled=False, color=var("ink"), strokeWidth=1.4
        )
        layers.append(diamond.encode(x=_at("truth:Q", x), y=y))
    height = max(len(order) * (CROWDED_ROW if crowded else ROW), 40)
    return finish_chart(layers, rows, name, _words(board), columns=_columns(board), height=height)


def _title(board: Board) -> str:
    measure = board.measure
    return f"{measure.name} ({measure.unit})" if measure.unit else measure.name


def _columns(board: Board) -> dict[str, str]:
    columns = {"generator": "generator", "rank": "rank", "rating": _title(board), "low": "low", "high": "high"}
    columns |= {"naive_low": "naive low", "naive_high": "naive high"}
    columns |= {"truth": "ground truth"} if board.has_truth else {}
    return columns | {"raters": "raters", "answers": "answers"}


def _axis(board: Board, *, slim: bool) -> Spec:
    """Ticks with a sign where ratings have one; nothing is neither above nor below."""
    signed = "datum.value == 0 ? '0' : format(datum.value, '+.1~f')"
    return {
        "tickCount": 4 if slim else 6,
        "labelExpr": signed if board.measure.signed else "format(datum.value, '~f')",
    }


def _at(field: str, like: Spec) -> Spec:
    """Another field on the same axis."""
    return like | channel(field)


def _row(board: Board, row: Standing, marks: Mapping[str, Mark]) -> dict[str, object]:
    measure = board.measure
    factor = measure.factor

    def scaled(value: float | None) -> float | None:
        return None if value is None else round(value * factor, 6)

    return {
        "generator": row.generator,
        "rating": scaled(row.rating),
        "low": scaled(row.low),
        "high": scaled(row.high),
        "naive_low": scaled(row.naive_low),
        "naive_high": scaled(row.naive_high),
        "truth": scaled(row.true_rating),
        **marks[row.generator].fields(),
        "rank": row.rank,
        "shown": measure.with_unit(measure.show(row.rating)),
        "interval": measure.with_unit(measure.show_interval(row.low, row.high)),
        "naive": measure.with_unit(measure.show_interval(row.naive_low, row.naive_high)),
        "raters": row.raters,
        "answers": row.answers,
    }


def _reference(board: Board, scale: Spec, *, slim: bool) -> list[Layer]:
    """A line at a reference point of the scale, such as guessing."""
    measure = board.measure
    if measure.reference is None:
        return []
    place = Layer([{"rating": measure.reference * measure.factor, "word": measure.reference_word}])
    x = channel("rating:Q", scale=scale)
    line = place.mark("rule", color=var("soft"), strokeDash=[3, 3], strokeWidth=1).encode(x=x)
    if slim:
        return [line]
    word = place.mark("text", color=var("soft"), baseline="bottom", dy=-4, fontStyle="italic", fontSize=12)
    return [line, word.encode(x=x, y={"value": 0}, text=channel("word:N"))]


def _tooltip(board: Board) -> list[Spec]:
    heads = {
        "generator": "generator",
        "rank": "rank",
        "shown": board.measure.name,
        "interval": f"{100 * board.level:g} % confidence interval",
        "naive": "if all answers were independent",
        "raters": "raters",
        "answers": "answers",
    }
    kinds = {"raters": "Q", "answers": "Q"}
    return [channel(f"{field}:{kinds.get(field, 'N')}", title=title) for field, title in heads.items()]


def _words(board: Board) -> str:
    measure = board.measure
    where = "" if board.slice == "all" else f", {board.slice} only"
    rated = [
        f"{row.generator} {measure.with_unit(measure.show(row.rating))}"
        + ("" if row.low is None else f" ({measure.show_interval(row.low, row.high)})")
        for row in board.rows[:12]
    ]
    more = f" and {count(len(board.rows) - 12, 'more generator')}" if len(board.rows) > 12 else ""
    return f"Dot chart of the {measure.name} by {board.name}{where}: {'; '.join(rated)}{more}."
