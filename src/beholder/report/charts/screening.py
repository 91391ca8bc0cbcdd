"""The effect of screening: ratings with nobody excluded, and after screening."""

from beholder.report.charts.chart import Chart, finish_chart, has_values
from beholder.report.charts.ratings import CROWDED_ROW
from beholder.report.charts.vega_lite import Layer, Rows, channel, end_channel
from beholder.report.site.theme import var
from beholder.report.tables.leaderboard import Board

BEFORE, AFTER = "all", "used"


def screening_chart(board: Board, name: str) -> Chart:
    """Two dots per generator with confidence intervals, hollow with all raters and filled with the raters used."""
    measure = board.measure
    rows: Rows = []
    for row in board.rows:
        sides = [(AFTER, row.rating, row.low, row.high, row.raters)]
        if row.before:
            sides.insert(0, (BEFORE, row.before.rating, row.before.low, row.before.high, row.before.raters))
        rows += [
            {
                "generator": row.generator,
                "raters": raters,
                "rating": round(rating * measure.factor, 6),
                "low": None if low is None else round(low * measure.factor, 6),
                "high": None if high is None else round(high * measure.factor, 6),
                "shown": measure.with_unit(measure.show(rating)),
                "number": number,
            }
            for raters, rating, low, high, number in sides
        ]
    order = [row.generator for row in board.rows]
    base = Layer()
    scale = {"zero": False, "nice": True, "padding": 8}
    title = f"{measure.name} ({measure.unit})" if measure.unit else measure.name
    axis = {"tickCount": 4, "format": "~f"}
    x = channel("rating:Q", scale=scale, title=title, axis=axis)
    low_end = channel("low:Q", scale=scale, title=title, axis=axis)
    y = channel("generator:N", sort=order, title=None, axis={"labelLimit": 90})
    sides_scale = {"domain": [BEFORE, AFTER], "paddingOuter": 0.6}
    dodge = channel("raters:N", sort=[BEFORE, AFTER], scale=sides_scale)
    tint = channel(
        "raters:N", scale={"domain": [BEFORE, AFTER], "range": [var("soft"), var("accent")]}, legend=None
    )
    tips = [
        channel("generator:N"),
        channel("raters:N", title="whose answers"),
        channel("shown:N", title=measure.name),
        channel("number:Q", title="raters", format=","),
    ]
    bars = base.filter("datum.low != null").mark("rule", strokeWidth=3, opacity=0.45, strokeCap="round")
    hollow = base.filter(f"datum.raters == '{BEFORE}'").mark(
        "point", size=40, fill=var("paper"), strokeWidth=1.6, opacity=1
    )
    filled = base.filter(f"datum.raters == '{AFTER}'").mark("point", size=45, filled=True, opacity=1)
    layers = [
        *(
            [bars.encode(x=low_end, x2=end_channel("high"), y=y, yOffset=dodge, color=tint)]
            if has_values(rows, "low")
            else []
        ),
        hollow.encode(x=x, y=y, yOffset=dodge, color=tint, tooltip=tips),
        filled.encode(x=x, y=y, yOffset=dodge, color=tint, tooltip=tips),
    ]
    columns = {"generator": "generator", "raters": "whose answers", "rating": title, "low": "low", "high": "high"}
    columns["number"] = "raters"
    height = max(len(order) * (CROWDED_ROW + 6), 60)
    return finish_chart(layers, rows, name, _words(board), columns=columns, height=height)


def _words(board: Board) -> str:
    measure = board.measure
    descriptions = [
        f"{row.generator} {measure.show(row.before.rating)} before and {measure.show(row.rating)} after"
        for row in board.rows[:12]
        if row.before
    ]
    return f"Ratings by {board.name} before and after screening: {'; '.join(descriptions)}."
