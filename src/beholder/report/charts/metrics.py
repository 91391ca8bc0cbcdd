"""How far each metric orders the generators as raters do."""

from beholder.report.charts.chart import Chart, finish_chart, has_values
from beholder.report.charts.vega_lite import Layer, Rows, channel, end_channel
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
    base = Layer()
    title = f"rank correlation with the {part.board.measure.name}"
    scale = {"domain": [-1, 1]}
    x = channel("rho:Q", scale=scale, title=title, axis={"tickCount": 5, "format": ".1~f"})
    y = channel("metric:N", sort=order, title=None, axis={"labelLimit": 230})
    domain = list(TINTS)
    tint = channel(
        "standing:N", scale={"domain": domain, "range": [var(TINTS[standing]) for standing in domain]}, legend=None
    )
    tips = [channel("metric:N"), channel("rho:Q", title="ρ", format="+.3f")]
    tips += [channel(f"{end}:Q", format="+.3f") for end in ("low", "high")]
    layers = [base.calculate("at", "0").mark("rule", color=var("line")).encode(x=channel("at:Q", scale=scale))]
    if part.verdict.human_ceiling is not None:
        ceiling = base.calculate("at", str(part.verdict.human_ceiling))
        layers.append(
            ceiling.mark("rule", color=var("ink"), strokeDash=[4, 3]).encode(x=channel("at:Q", scale=scale))
        )
    if has_values(rows, "low"):
        bars = base.filter("datum.low != null").mark("rule", strokeWidth=3, opacity=0.5, strokeCap="round")
        low = channel("low:Q", scale=scale, title=title)
        layers.append(bars.encode(x=low, x2=end_channel("high"), y=y, color=tint))
    layers.append(base.mark("point", size=70, filled=True, opacity=1).encode(x=x, y=y, color=tint, tooltip=tips))
    descriptions = "; ".join(f"{m.name} {format_correlation(m.rho)}, {WORDS[m.standing]}" for m in metrics)
    words = f"Agreement of metrics with raters: {descriptions}."
    return finish_chart(layers, rows, name, words, columns=COLUMNS, height=max(24 * len(order), 60))
