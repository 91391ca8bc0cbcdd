"""Inter-rater agreement, before and after screening."""

from collections.abc import Sequence

from beholder.report.charts.chart import Chart, finish_chart, has_values
from beholder.report.charts.vega_lite import Layer, Rows, channel, end_channel
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
    base = Layer()
    y = channel("what:N", sort=order, title=None, axis={"labelLimit": 150})
    dodge = channel("raters:N", scale={"domain": ["all", "used"], "paddingOuter": 0.9})
    tint = channel(
        "raters:N", scale={"domain": ["all", "used"], "range": [var("soft"), var("accent")]}, legend=None
    )
    ticks = {"tickCount": 5, "format": "~g"}
    x = channel("value:Q", scale={"zero": True}, title="Krippendorff’s α", axis=ticks)
    bars = base.filter("datum.low != null").mark("rule", strokeWidth=3, opacity=0.5, strokeCap="round")
    tips = [
        channel("what:N", title="question"),
        channel("raters:N", title="raters"),
        channel("value:Q", title="α", format=".3f"),
    ]
    low = channel("low:Q", scale={"zero": True}, title="Krippendorff’s α")
    hollow = base.filter("datum.raters == 'all'").mark(
        "point", size=70, fill=var("paper"), strokeWidth=1.8, opacity=1
    )
    filled = base.filter("datum.raters == 'used'").mark("point", size=80, filled=True, opacity=1)
    layers = [
        *(
            [bars.encode(x=low, x2=end_channel("high"), y=y, yOffset=dodge, color=tint)]
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
