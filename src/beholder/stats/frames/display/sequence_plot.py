"""How a confidence interval narrows as raters arrive: a line in a band."""

import altair as alt
import polars as pl

from beholder.stats.frames.display.forest_plot import TINT, plain_style


def sequence_plot(rows: pl.DataFrame, *, group: str | None, title: str, width: int = 420) -> alt.LayerChart:
    """Draw estimate and confidence sequence over the number of raters, one colour per group.

    Args:
        rows: Columns ``raters``, ``estimate``, ``low`` and ``high``, and the group.
        group: The column of groups, if there are several.
        title: What the vertical axis measures.
        width: Pixels of the plot.

    Returns:
        A chart.
    """
    columns = ["raters", "estimate", "low", "high", *([group] if group else [])]
    names = {group: "group"} if group else {}
    source = alt.Chart(alt.InlineData(values=rows.select(columns).rename(names).to_dicts()))
    legend = alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2)
    colour = alt.Color("group:N", title=group, legend=legend) if group else alt.value(TINT)
    x = alt.X("raters:Q", title="raters", axis=alt.Axis(format="d", tickMinStep=1))
    scale = alt.Scale(zero=False)
    band = source.transform_filter("isFinite(datum.low) && isFinite(datum.high)").mark_area(opacity=0.18)
    line = source.mark_line(strokeWidth=2)
    chart = alt.layer(
        band.encode(x=x, y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q", color=colour),
        line.encode(x=x, y=alt.Y("estimate:Q", title=title, scale=scale), color=colour),
    )
    return plain_style(chart.properties(width=width, height=240))
