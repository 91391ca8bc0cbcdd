"""The separation matrix: the difference of every pair of generators, and whether it is significant."""

from beholder.report.charts.chart import Chart, finish_chart
from beholder.report.charts.vega_lite import Layer, Spec, channel
from beholder.report.site.theme import TEXT_SIZE, var
from beholder.report.tables.leaderboard import Board, Pair
from beholder.report.text.measures import win_probability
from beholder.report.text.words import join_names

ROOMY, CROWDED = 46, 22
"""Heights of a row: with the difference written in the cell, and with a mark alone."""

COLUMNS = {"generator": "higher", "other": "lower", "shown": "difference", "interval": "confidence interval"}
COLUMNS |= {"p": "adjusted p", "verdict": "verdict", "more": "more raters"}

MANY = 12
SHORT_NAME = 9
ROOM = 50
"""Pixels that a cell must have for its number to be written."""
MANY_RATERS = 1000
SMALL_P = 0.001
TINY = 12
"""Below this neither the mark in a cell nor the name above it has room; columns are in the order of the rows."""


def matrix_chart(board: Board, name: str) -> Chart:
    """Rows rated above columns: tinted where they differ significantly, dashed with a question mark where not."""
    order = [row.generator for row in board.rows]
    base = Layer()
    many = len(order) > MANY
    upright = len(order) <= 6 and max(len(n) for n in order[1:]) <= SHORT_NAME
    across = {
        "orient": "top",
        "labelAngle": 0 if upright else -90 if many else -40,
        "labelLimit": 110,
        "labelOverlap": False,
        "labelExpr": f"bandwidth('x') < {TINY} ? '' : datum.label",
        "grid": False,
        "title": None,
    }
    x = channel("other:N", sort=order[1:], scale={"domain": order[1:], "paddingInner": 0.06}, axis=across)
    y = channel(
        "generator:N",
        sort=order[:-1],
        scale={"domain": order[:-1], "paddingInner": 0.06},
        axis={"labelLimit": 120, "grid": False, "title": None},
    )
    strength = channel("strength:Q", scale={"domain": [0, 1], "range": [0.12, 0.62]}, legend=None)
    separated = base.filter("datum.separated").mark("rect", fill=var("tint"), cornerRadius=2)
    close = base.filter("!datum.separated").mark(
        "rect", fillOpacity=0, stroke=var("soft"), strokeDash=[3, 3], strokeWidth=1, cornerRadius=2
    )
    tips = _tooltip(board)
    layers = [separated.encode(x=x, y=y, fillOpacity=strength, tooltip=tips), close.encode(x=x, y=y, tooltip=tips)]
    rows = [_cell(board, pair) for pair in board.pairs]
    roomy = f"bandwidth('x') > {ROOM}"
    number = {"expr": f"{roomy} ? datum.label : bandwidth('x') < {TINY} ? '' : datum.mark"}
    size = {"expr": f"{roomy} ? {TEXT_SIZE} : 11"}
    below = "" if many else "datum.below"
    single = base.filter(f"!{below}") if below else base
    layers.append(single.mark("text", text=number, fontSize=size).encode(x=x, y=y))
    if below and any(row["below"] for row in rows):
        double = base.filter(below)
        layers.append(double.mark("text", text=number, fontSize=size, dy=-7).encode(x=x, y=y))
        under = {"expr": f"{roomy} ? {below} : ''"}
        layers.append(double.mark("text", text=under, dy=9, fontSize=11.5).encode(x=x, y=y))
    height = (len(order) - 1) * (CROWDED if many else ROOMY)
    return finish_chart(layers, rows, name, _words(board), columns=COLUMNS, height=height)


def _cell(board: Board, pair: Pair) -> dict[str, object]:
    measure = board.measure
    largest = max(abs(other.difference) for other in board.pairs) or 1.0
    difference = measure.show_difference(pair.difference)
    more = "–" if pair.more_raters is None else f"about {pair.more_raters:,}"
    wins = f"{100 * win_probability(pair.difference):.0f} %"
    return {
        "generator": pair.generator,
        "other": pair.other,
        "separated": pair.separated,
        "strength": round(abs(pair.difference) / largest, 4),
        "label": difference if pair.separated else f"{difference} ?",
        "mark": "" if pair.separated else "?",
        "wins": wins,
        "below": _below(board, pair, wins),
        "shown": difference,
        "interval": measure.show_difference_interval(pair.low, pair.high),
        "verdict": "significantly different" if pair.separated else "not significantly different",
        "p": "–"
        if pair.p_adjusted is None
        else "< 0.001"
        if pair.p_adjusted < SMALL_P
        else f"{pair.p_adjusted:.3f}",
        "more": "none" if pair.separated else more,
    }


def _below(board: Board, pair: Pair, wins: str) -> str:
    """The second line of a cell: the raters still needed, or else how often the row would win."""
    if not pair.separated:
        if pair.more_raters is None:
            return ""
        return f"{pair.more_raters:,} more" if pair.more_raters < MANY_RATERS else f"> {MANY_RATERS:,} more"
    return wins if board.measure.derive else ""


def _tooltip(board: Board) -> list[Spec]:
    heads = {
        "generator": "higher",
        "other": "lower",
        "shown": f"difference ({board.measure.unit})" if board.measure.unit else "difference",
        "interval": f"{100 * board.level:g} % confidence interval",
        "verdict": "verdict",
        "p": "p, adjusted for all pairs",
        "more": "more raters needed",
    }
    if board.measure.derive:
        heads["wins"] = "wins, without ties"
    return [channel(f"{field}:N", title=title) for field, title in heads.items()]


def _words(board: Board) -> str:
    undecided = [f"{pair.generator} and {pair.other}" for pair in board.undecided]
    separated = len(board.pairs) - len(undecided)
    rest = f" Not significantly different: {join_names(undecided, most=8)}." if undecided else ""
    tally = f"{separated} of {len(board.pairs)} differ significantly"
    return f"Matrix of pairs of generators by {board.name}: {tally}.{rest}"
