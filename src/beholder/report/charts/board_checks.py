"""Dose and response of every measure, and the distribution of chroma by generator."""

from collections.abc import Mapping

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish_chart, has_values
from beholder.report.site.generator_marks import SHAPE, UNRANKED, Mark
from beholder.report.site.theme import PALETTE, var
from beholder.report.tables.board_checks import Chroma, Family

MOST_CURVES = 5
"""Measures whose curves are drawn; all have their slopes."""

UNIT = "change, standard deviations"


def slopes_chart(family: Family, name: str) -> Chart:
    """One dot per measure: its change from the first to the last variant, with the confidence interval."""
    rows: Rows = [
        {"measure": r.measure, "slope": r.slope, "low": r.low, "high": r.high, "people": r.people}
        for r in family.responses
        if r.slope is not None
    ]
    order = [str(row["measure"]) for row in rows]
    base = alt.Chart()
    x = alt.X("slope:Q", title=UNIT, axis=alt.Axis(tickCount=5))
    y = alt.Y("measure:N", sort=order, title=None, axis=alt.Axis(labelLimit=230))
    tint = alt.Color(
        "people:N", scale=alt.Scale(domain=[True, False], range=[var("accent"), var("soft")]), legend=None
    )
    tips = [alt.Tooltip("measure:N"), *(alt.Tooltip(f"{c}:Q", format="+.2f") for c in ("slope", "low", "high"))]
    layers = [base.transform_calculate(at="0").mark_rule(color=var("line")).encode(x=alt.X("at:Q", title=UNIT))]
    if has_values(rows, "low"):
        bars = base.transform_filter("datum.low != null").mark_rule(strokeWidth=3, opacity=0.5, strokeCap="round")
        layers.append(bars.encode(x=alt.X("low:Q", title=UNIT), x2=alt.X2("high:Q"), y=y, color=tint))
    layers.append(base.mark_point(size=70, filled=True, opacity=1).encode(x=x, y=y, color=tint, tooltip=tips))
    parts = "; ".join(f"{r.measure} {r.slope:+.2f}" for r in family.responses if r.slope is not None)
    words = f"Change of each measure from the first to the last variant of {family.setting}: {parts}."
    columns = {"measure": "measure", "slope": "change", "low": "low", "high": "high"}
    return finish_chart(layers, rows, name, words, columns=columns, height=max(24 * len(rows), 60))


def curves_chart(family: Family, name: str) -> Chart:
    """One line per measure over the doses: difference from the first variant, people and those that see most."""
    shown_measures = family.responses[:MOST_CURVES]
    rows: Rows = [
        {"measure": r.measure, "dose": dose, "difference": difference, "low": low, "high": high}
        for r in shown_measures
        for dose, difference, low, high in r.steps
    ]
    order = [r.measure for r in shown_measures]
    base = alt.Chart()
    x = alt.X("dose:Q", title=family.setting, scale=alt.Scale(zero=False))
    y = alt.Y("difference:Q", title=UNIT)
    tint = alt.Color(
        "measure:N",
        scale=alt.Scale(domain=order, range=[var(PALETTE[k % len(PALETTE)]) for k in range(len(order))]),
        legend=alt.Legend(title=None, orient="top", columns=2, labelLimit=260),
    )
    tips = [alt.Tooltip("measure:N"), alt.Tooltip("dose:Q"), alt.Tooltip("difference:Q", format="+.2f")]
    layers = [base.transform_calculate(at="0").mark_rule(color=var("line")).encode(y=alt.Y("at:Q"))]
    if has_values(rows, "low"):
        bars = base.transform_filter("datum.low != null").mark_rule(strokeWidth=2, opacity=0.4, strokeCap="round")
        layers.append(bars.encode(x=x, y=alt.Y("low:Q", title=None), y2=alt.Y2("high:Q"), color=tint))
    layers.append(base.mark_line(strokeWidth=2).encode(x=x, y=y, color=tint))
    layers.append(base.mark_point(size=50, filled=True, opacity=1).encode(x=x, y=y, color=tint, tooltip=tips))
    words = f"Change of {len(order)} measures over {family.setting}, from the first variant: {', '.join(order)}."
    columns = {"measure": "measure", "dose": family.setting, "difference": "change", "low": "low", "high": "high"}
    return finish_chart(layers, rows, name, words, columns=columns, height=260)


def chroma_chart(chroma: tuple[Chroma, ...], marks: Mapping[str, Mark], name: str) -> Chart:
    """Quantiles of the mean chroma of each generator's images: median, the middle half, and 5 to 95 %."""
    heads = ("lowest", "lower", "median", "upper", "highest")
    ordered = sorted(chroma, key=lambda row: -row.quantiles[2])
    rows: Rows = [
        {"generator": row.generator, **dict(zip(heads, row.quantiles, strict=True))}
        | {"images": row.images, **marks.get(row.generator, UNRANKED).fields()}
        for row in ordered
    ]
    base = alt.Chart()
    title = "mean chroma of an image, levels of 255"
    y = alt.Y("generator:N", sort=[row.generator for row in ordered], title=None, axis=alt.Axis(labelLimit=230))
    tint = alt.Color("colour:N", scale=None)
    tips = [alt.Tooltip("generator:N"), *(alt.Tooltip(f"{head}:Q", format=".1f") for head in heads)]
    tips.append(alt.Tooltip("images:Q"))
    layers = [
        base.mark_rule(strokeWidth=width, opacity=opacity, strokeCap="round").encode(
            x=alt.X(f"{low}:Q", title=title, scale=alt.Scale(zero=False)), x2=alt.X2(f"{high}:Q"), y=y, color=tint
        )
        for width, opacity, low, high in ((2, 0.5, "lowest", "highest"), (7, 0.45, "lower", "upper"))
    ]
    point = base.mark_point(size=70, filled=True, opacity=1)
    layers.append(point.encode(x=alt.X("median:Q", title=title), y=y, color=tint, shape=SHAPE, tooltip=tips))
    parts = "; ".join(f"{row.generator} {row.quantiles[2]:.1f}" for row in ordered)
    words = f"Distribution of the mean chroma of images by generator; medians: {parts}."
    columns = {"generator": "generator"} | {head: head for head in heads} | {"images": "images"}
    return finish_chart(layers, rows, name, words, columns=columns, height=max(24 * len(rows), 60))
