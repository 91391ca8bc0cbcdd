"""How far each metric orders the generators as raters do."""

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish_chart, has_values
from beholder.report.site.theme import var
from beholder.report.tables.metrics import MetricsPart, format_correlation, with_correlation

WORDS = {
    "trusted": "agrees with raters",
    "alongside": "correlates; neither direction is known to be better",
    "unknown": "not enough evidence",
    "against": "disagrees with raters",
}
"""What a standing is called in the key."""

COLUMNS = {"metric": "metric", "rho": "rank correlation", "low": "low", "high": "high", "standing": "standing"}

TINTS = {"trusted": "accent", "alongside": "better", "unknown": "soft", "against": "warn"}


def metrics_chart(part: MetricsPart, name: str) -> Chart | None:
    """One dot per metric with its confidence interval, above 0 where it agrees; a line at the human ceiling."""
    metrics = with_correlation(part.verdict.metrics)
    if not metrics:
        return None
    rows: Rows = [
        {"metric": m.name, "rho": m.rho, "low": m.low, "high": m.high, "standing": m.standing} for m in metrics
    ]
    order = [metric.name for metric in metrics]
    base = alt.Chart()
    title = f"rank correlation with the {part.board.measure.name}"
    scale = alt.Scale(domain=[-1, 1])
    x = alt.X("rho:Q", scale=scale, title=title, axis=alt.Axis(tickCount=5, format=".1~f"))
    y = alt.Y("metric:N", sort=order, title=None, axis=alt.Axis(labelLimit=230))
    domain = list(TINTS)
    tint = alt.Color(
        "standing:N",
        scale=alt.Scale(domain=domain, range=[var(TINTS[standing]) for standing in domain]),
        legend=None,
    )
    tips = [alt.Tooltip("metric:N"), alt.Tooltip("rho:Q", title="ρ", format="+.3f")]
    tips += [alt.Tooltip(f"{end}:Q", format="+.3f") for end in ("low", "high")]
    layers = [base.transform_calculate(at="0").mark_rule(color=var("line")).encode(x=alt.X("at:Q", scale=scale))]
    if part.verdict.human_ceiling is not None:
        ceiling = base.transform_calculate(at=str(part.verdict.human_ceiling))
        layers.append(ceiling.mark_rule(color=var("ink"), strokeDash=[4, 3]).encode(x=alt.X("at:Q", scale=scale)))
    if has_values(rows, "low"):
        bars = base.transform_filter("datum.low != null").mark_rule(strokeWidth=3, opacity=0.5, strokeCap="round")
        low = alt.X("low:Q", scale=scale, title=title)
        layers.append(bars.encode(x=low, x2=alt.X2("high:Q"), y=y, color=tint))
    layers.append(base.mark_point(size=70, filled=True, opacity=1).encode(x=x, y=y, color=tint, tooltip=tips))
    descriptions = "; ".join(f"{m.name} {format_correlation(m.rho)}, {WORDS[m.standing]}" for m in metrics)
    words = f"Agreement of metrics with raters: {descriptions}."
    return finish_chart(layers, rows, name, words, columns=COLUMNS, height=max(24 * len(order), 60))
