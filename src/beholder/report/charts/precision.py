"""How the width of confidence intervals falls with the number of raters."""

from collections.abc import Mapping

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish_chart, inline
from beholder.report.site.generator_marks import SHAPE, Mark
from beholder.report.site.theme import var
from beholder.report.tables.leaderboard import Board
from beholder.report.tables.precision import Precision


def precision_chart(board: Board, precision: Precision, marks: Mapping[str, Mark], name: str) -> Chart:
    """One dot per generator at its present width; the median by 1/√n as a line, narrowest to widest as a band."""
    factor = board.measure.factor
    curve: Rows = [
        {"raters": raters, "low": low * factor, "width": middle * factor, "high": high * factor}
        for raters, low, middle, high in precision.curve
    ]
    rows: Rows = [
        {
            "generator": present.generator,
            "raters": present.raters,
            "width": round(present.width * factor, 6),
            **marks[present.generator].fields(),
        }
        for present in precision.now
    ]
    unit = "percentage points" if board.measure.unit == "%" else board.measure.unit
    title = f"CI width ({unit})" if unit else "CI width"
    x = alt.X(
        "raters:Q",
        scale=alt.Scale(type="log", nice=False),
        title="raters per generator",
        axis=alt.Axis(values=[2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000], format="~s", grid=False),
    )
    axis = alt.Axis(tickCount=5, format="~f")
    scale = alt.Scale(zero=True, nice=True)
    y = alt.Y("width:Q", title=title, scale=scale, axis=axis)
    base = alt.Chart(inline(curve))
    band = base.mark_area(color=var("tint"), opacity=0.22).encode(
        x=x, y=alt.Y("low:Q", title=title, scale=scale, axis=axis), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(color=var("accent"), strokeWidth=1.8).encode(x=x, y=y)
    tips = [
        alt.Tooltip("generator:N"),
        alt.Tooltip("raters:Q", format=","),
        alt.Tooltip("width:Q", title="width", format=".3~g"),
    ]
    dots = (
        alt.Chart()
        .mark_point(size=70, filled=True, opacity=1, stroke=var("paper"), strokeWidth=1.2)
        .encode(x=x, y=y, fill=alt.Color("colour:N", scale=None), shape=SHAPE, tooltip=tips)
    )
    columns = {"generator": "generator", "raters": "raters", "width": title}
    return finish_chart([band, line, dots], rows, name, _words(board, precision), columns=columns, height=200)


def _words(board: Board, precision: Precision) -> str:
    last_raters, _, last, _ = precision.curve[-1]
    factor = board.measure.factor
    return (
        f"Width of the confidence intervals by {board.name} against the number of raters: "
        f"{precision.width * factor:.3g} with {precision.raters} raters per generator, "
        f"about {last * factor:.3g} with {last_raters}."
    )
