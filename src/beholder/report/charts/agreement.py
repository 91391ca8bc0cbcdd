"""How far people agree, before and after screening."""

from collections.abc import Sequence

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish, known
from beholder.report.site.theme import var
from beholder.report.tables.raters import Accord, Crowd

ALPHA = "krippendorff-alpha"
"""The statistic that the chart shows; others stand in the table ``agreement``."""


def agreement_chart(crowds: Sequence[Crowd], name: str) -> Chart | None:
    """Two dots an aspect, hollow before screening and filled after, each with its interval; none if undefined."""
    rows: Rows = []
    said = []
    for crowd in crowds:
        for accord in crowd.accords:
            if not accord.statistic.startswith(ALPHA):
                continue
            what = _name(crowd, accord)
            rows += [
                {"what": what, "people": people, "value": value, "low": low, "high": high}
                for people, (value, low, high) in (("all", accord.before), ("used", accord.after))
                if value is not None
            ]
            if accord.before[0] is not None and accord.after[0] is not None:
                said.append(f"{what} {accord.before[0]:.2f} before and {accord.after[0]:.2f} after")
    if not rows:
        return None
    order = list(dict.fromkeys(str(row["what"]) for row in rows))
    base = alt.Chart()
    y = alt.Y("what:N", sort=order, title=None, axis=alt.Axis(labelLimit=150))
    dodge = alt.YOffset("people:N", scale=alt.Scale(domain=["all", "used"], paddingOuter=0.9))
    tint = alt.Color(
        "people:N", scale=alt.Scale(domain=["all", "used"], range=[var("soft"), var("accent")]), legend=None
    )
    ticks = alt.Axis(tickCount=5, format="~g")
    x = alt.X("value:Q", scale=alt.Scale(zero=True), title="Krippendorff’s α", axis=ticks)
    bars = base.transform_filter("datum.low != null").mark_rule(strokeWidth=3, opacity=0.5, strokeCap="round")
    tips = [
        alt.Tooltip("what:N", title="question"),
        alt.Tooltip("people:N", title="people"),
        alt.Tooltip("value:Q", title="α", format=".3f"),
    ]
    low = alt.X("low:Q", scale=alt.Scale(zero=True), title="Krippendorff’s α")
    before = base.transform_filter("datum.people == 'all'").mark_point(
        size=70, fill=var("paper"), strokeWidth=1.8, opacity=1
    )
    after = base.transform_filter("datum.people == 'used'").mark_point(size=80, filled=True, opacity=1)
    layers = [
        *([bars.encode(x=low, x2="high:Q", y=y, yOffset=dodge, color=tint)] if known(rows, "low") else []),
        before.encode(x=x, y=y, yOffset=dodge, color=tint, tooltip=tips),
        after.encode(x=x, y=y, yOffset=dodge, color=tint, tooltip=tips),
    ]
    words = f"Agreement before and after screening: {'; '.join(said) or 'not defined'}."
    return finish(layers, rows, name, words, height=max(44 * len(order), 60))


def _name(crowd: Crowd, accord: Accord) -> str:
    return crowd.question if accord.aspect == crowd.question else f"{crowd.question}: {accord.aspect}"
