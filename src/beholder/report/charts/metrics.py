"""How far each metric orders the generators as people do."""

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish, known
from beholder.report.site.theme import var
from beholder.report.tables.metrics import MetricsPart, drawn, show

WORDS = {
    "trusted": "agrees with people",
    "alongside": "goes with ratings; no value of it is better as such",
    "unknown": "cannot be told",
    "against": "runs against people",
}
"""What a standing is called in the key."""

TINTS = {"trusted": "accent", "alongside": "better", "unknown": "soft", "against": "warn"}


def metrics_chart(part: MetricsPart, name: str) -> Chart | None:
    """A dot a metric with its interval, above 0 where it agrees; a line where another crowd would stand."""
    shown = drawn(part.verdict.metrics)
    if not shown:
        return None
    rows: Rows = [
        {"metric": one.name, "rho": one.rho, "low": one.low, "high": one.high, "standing": one.standing}
        for one in shown
    ]
    order = [one.name for one in shown]
    base = alt.Chart()
    title = f"rank correlation with the {part.board.measure.name}"
    scale = alt.Scale(domain=[-1, 1])
    x = alt.X("rho:Q", scale=scale, title=title, axis=alt.Axis(tickCount=5, format=".1~f"))
    y = alt.Y("metric:N", sort=order, title=None, axis=alt.Axis(labelLimit=230))
    domain = list(TINTS)
    tint = alt.Color(
        "standing:N", scale=alt.Scale(domain=domain, range=[var(TINTS[one]) for one in domain]), legend=None
    )
    tips = [alt.Tooltip("metric:N"), alt.Tooltip("rho:Q", title="ρ", format="+.3f")]
    tips += [alt.Tooltip(f"{end}:Q", format="+.3f") for end in ("low", "high")]
    layers = [base.transform_calculate(at="0").mark_rule(color=var("line")).encode(x=alt.X("at:Q", scale=scale))]
    if part.verdict.ceiling is not None:
        ceiling = base.transform_calculate(at=str(part.verdict.ceiling))
        layers.append(ceiling.mark_rule(color=var("ink"), strokeDash=[4, 3]).encode(x=alt.X("at:Q", scale=scale)))
    if known(rows, "low"):
        bars = base.transform_filter("datum.low != null").mark_rule(strokeWidth=3, opacity=0.5, strokeCap="round")
        low = alt.X("low:Q", scale=scale, title=title)
        layers.append(bars.encode(x=low, x2="high:Q", y=y, color=tint))
    layers.append(base.mark_point(size=70, filled=True, opacity=1).encode(x=x, y=y, color=tint, tooltip=tips))
    said = "; ".join(f"{one.name} {show(one.rho)}, {WORDS[one.standing]}" for one in shown)
    return finish(layers, rows, name, f"Metrics against people: {said}.", height=max(24 * len(order), 60))
