"""Inter-rater agreement, before and after screening."""

from collections.abc import Sequence

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish_chart, has_values
from beholder.report.site.theme import var
from beholder.report.tables.raters import Agreement, RaterPool

ALPHA = "krippendorff-alpha"
"""The statistic that the chart shows; others are in the table ``agreement``."""

COLUMNS = {"what": "question", "raters": "raters", "value": "Krippendorff’s α", "low": "low", "high": "high"}


def agreement_chart(pools: Sequence[RaterPool], name: str) -> Chart | None:
    """Two dots per aspect and their confidence intervals, before and after screening; ``None`` if undefined."""
    rows: Rows = []
    descriptions = []
    for pool in pools:
        for agreement in pool.agreements:
            if not agreement.statistic.startswith(ALPHA):
                continue
            what = _name(pool, agreement)
            rows += [
                {"what": what, "raters": raters, "value": value, "low": low, "high": high}
                for raters, (value, low, high) in (("all", agreement.before), ("used", agreement.after))
                if value is not None
            ]
            before, after = agreement.before[0], agreement.after[0]
            if before is not None and after is not None:
                descriptions.append(f"{what} {before:.2f} before and {after:.2f} after")
    if not rows:
        return None
    order = list(dict.fromkeys(str(row["what"]) for row in rows))
    base = alt.Chart()
    y = alt.Y("what:N", sort=order, title=None, axis=alt.Axis(labelLimit=150))
    dodge = alt.YOffset("raters:N", scale=alt.Scale(domain=["all", "used"], paddingOuter=0.9))
    tint = alt.Color(
        "raters:N", scale=alt.Scale(domain=["all", "used"], range=[var("soft"), var("accent")]), legend=None
    )
    ticks = alt.Axis(tickCount=5, format="~g")
    x = alt.X("value:Q", scale=alt.Scale(zero=True), title="Krippendorff’s α", axis=ticks)
    bars = base.transform_filter("datum.low != null").mark_rule(strokeWidth=3, opacity=0.5, strokeCap="round")
    tips = [
        alt.Tooltip("what:N", title="question"),
        alt.Tooltip("raters:N", title="raters"),
        alt.Tooltip("value:Q", title="α", format=".3f"),
    ]
    low = alt.X("low:Q", scale=alt.Scale(zero=True), title="Krippendorff’s α")
    hollow = base.transform_filter("datum.raters == 'all'").mark_point(
        size=70, fill=var("paper"), strokeWidth=1.8, opacity=1
    )
    filled = base.transform_filter("datum.raters == 'used'").mark_point(size=80, filled=True, opacity=1)
    layers = [
        *(
            [bars.encode(x=low, x2=alt.X2("high:Q"), y=y, yOffset=dodge, color=tint)]
            if has_values(rows, "low")
            else []
        ),
        hollow.encode(x=x, y=y, yOffset=dodge, color=tint, tooltip=tips),
        filled.encode(x=x, y=y, yOffset=dodge, color=tint, tooltip=tips),
    ]
    words = f"Inter-rater agreement before and after screening: {'; '.join(descriptions) or 'not defined'}."
    return finish_chart(layers, rows, name, words, columns=COLUMNS, height=max(44 * len(order), 60))


def _name(pool: RaterPool, agreement: Agreement) -> str:
    return pool.question if agreement.aspect == pool.question else f"{pool.question}: {agreement.aspect}"
