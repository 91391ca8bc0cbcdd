"""How the width of confidence intervals falls with the number of raters."""

from collections.abc import Mapping

from beholder.report.charts.chart import Chart, finish_chart
from beholder.report.charts.vega_lite import Layer, Rows, channel, end_channel
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
    x = channel(
        "raters:Q",
        scale={"type": "log", "nice": False},
        title="raters per generator",
        axis={"values": [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000], "format": "~s", "grid": False},
    )
    axis = {"tickCount": 5, "format": "~f"}
    scale = {"zero": True, "nice": True}
    y = channel("width:Q", title=title, scale=scale, axis=axis)
    base = Layer(curve)
    band = base.mark("area", color=var("tint"), opacity=0.22).encode(
        x=x, y=channel("low:Q", title=title, scale=scale, axis=axis), y2=end_channel("high")
    )
    line = base.mark("line", color=var("accent"), strokeWidth=1.8).encode(x=x, y=y)
    tips = [
        channel("generator:N"),
        channel("raters:Q", format=","),
        channel("width:Q", title="width", format=".3~g"),
    ]
    dots = (
        Layer()
        .mark("point", size=70, filled=True, opacity=1, stroke=var("paper"), strokeWidth=1.2)
        .encode(x=x, y=y, fill=channel("colour:N", scale=None), shape=SHAPE, tooltip=tips)
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
