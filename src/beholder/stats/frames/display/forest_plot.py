"""A forest plot: one dot per estimate with its confidence interval."""

import altair as alt
import polars as pl

ROW = 26
"""Height of a row in pixels."""

INK, SOFT, TINT = "#1f2937", "#9ca3af", "#2563eb"


def forest_plot(
    rows: pl.DataFrame,
    *,
    label: str,
    estimate: str,
    title: str,
    reference: float | None = None,
    width: int = 420,
) -> alt.LayerChart:
    """Draw one row per estimate, in the order of the rows.

    Args:
        rows: A column of labels, one of estimates, and where there are intervals ``low`` and ``high``.
        label: The column of labels.
        estimate: The column of estimates.
        title: What the axis measures.
        reference: A number that means something by itself, such as no difference, drawn as a dashed line.
        width: Pixels of the plot without its labels.

    Returns:
        A chart that a notebook shows and that ``chart.save("figure.pdf")`` writes (also .svg, .png, .html).
    """
    columns = [name for name in (estimate, "low", "high") if name in rows.columns]
    plotted = rows.select(pl.col(label).cast(pl.String).alias("label"), *columns).rename({estimate: "estimate"})
    source = alt.Chart(_inline(plotted.to_dicts()))
    y = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=260, domain=False, ticks=False))
    scale = alt.Scale(zero=False, nice=True, padding=12)
    x = alt.X("estimate:Q", scale=scale, title=title, axis=alt.Axis(grid=True, tickCount=6))
    layers: list[alt.Chart] = []
    if reference is not None:
        line = alt.Chart(_inline([{"estimate": reference}]))
        layers.append(line.mark_rule(color=SOFT, strokeDash=[4, 3]).encode(x=alt.X("estimate:Q", scale=scale)))
    if "low" in columns and plotted["low"].is_not_null().any():
        bar = source.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2.4, color=TINT)
        layers.append(bar.encode(x=alt.X("low:Q", scale=scale, title=title), x2="high:Q", y=y))
    dot = source.mark_point(filled=True, size=70, color=TINT, opacity=1)
    tooltip = [alt.Tooltip(f"{name}:{'N' if name == 'label' else 'Q'}") for name in plotted.columns]
    layers.append(dot.encode(x=x, y=y, tooltip=tooltip))
    chart = alt.layer(*layers).properties(width=width, height=max(ROW * len(plotted), 2 * ROW))
    return plain_style(chart)


def plain_style(chart: alt.LayerChart | alt.FacetChart) -> alt.LayerChart:
    """Return a chart with light rules and plain titles, fit for a paper."""
    styled: alt.LayerChart = chart.configure_view(stroke=None).configure_axis(
        labelColor=INK, titleColor=INK, gridColor="#eef0f3", titleFontWeight="normal", labelFontSize=12
    )
    return styled


def _inline(rows: list[dict[str, object]]) -> alt.InlineData:
    return alt.InlineData(values=rows)
