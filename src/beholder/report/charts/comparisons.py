"""One bar per pair of generators: how often the first was judged better, about the same, or worse."""

from beholder.report.charts.chart import Chart, finish_chart
from beholder.report.charts.vega_lite import Layer, Rows, channel, end_channel
from beholder.report.site.theme import var
from beholder.report.tables.comparisons import WORDS, Comparisons
from beholder.report.tables.leaderboard import Board
from beholder.report.text.words import percent
from beholder.tables.schemas.rank import OUTCOMES

FILLS = dict(zip(OUTCOMES, ("accent", "better", "line", "worse", "warn"), strict=True))
"""From much better to much worse."""

COLUMNS = {"pair": "pair", "outcome": "outcome", "percent": "votes (%)", "low": "low (%)", "high": "high (%)"}
COLUMNS |= {"votes": "votes", "raters": "raters"}

ROW = 28
WRITTEN = 0.08
"""Proportions from here on have room for their number."""


def comparisons_chart(board: Board, compared: Comparisons, name: str) -> Chart:
    """One bar per pair, divided by outcome, the best for the first generator on the left."""
    rows: Rows = []
    for pair in compared.pairs:
        start = 0.0
        for rate in pair.outcomes:
            rows.append(
                {
                    "pair": f"{pair.generator} : {pair.other}",
                    "outcome": WORDS[rate.outcome],
                    "start": round(100 * start, 4),
                    "end": round(100 * (start + rate.proportion), 4),
                    "middle": round(100 * (start + rate.proportion / 2), 4),
                    "label": f"{100 * rate.proportion:.0f}" if rate.proportion >= WRITTEN else "",
                    "ink": var("paper") if rate.outcome in ("much-better", "much-worse") else var("ink"),
                    "shown": percent(rate.proportion),
                    "percent": round(100 * rate.proportion, 4),
                    "low": None if rate.low is None else round(100 * rate.low, 4),
                    "high": None if rate.high is None else round(100 * rate.high, 4),
                    "interval": "–"
                    if rate.low is None or rate.high is None
                    else f"{100 * rate.low:.0f} to {100 * rate.high:.0f} %",
                    "votes": pair.answers,
                    "raters": pair.raters,
                }
            )
            start += rate.proportion
    order = [f"{pair.generator} : {pair.other}" for pair in compared.pairs]
    words = [WORDS[outcome] for outcome in compared.outcomes]
    tint = channel(
        "outcome:N",
        scale={"domain": words, "range": [var(FILLS[outcome]) for outcome in compared.outcomes]},
        legend=None,
    )
    scale = {"domain": [0, 100], "nice": False}
    y = channel(
        "pair:N", sort=order, title=None, scale={"paddingInner": 0.2}, axis={"labelLimit": 210, "grid": False}
    )
    tips = [channel(f"{field}:N") for field in ("pair", "outcome")]
    tips += [channel("shown:N", title="proportion"), channel("interval:N", title="confidence interval")]
    tips += [channel(f"{field}:Q", format=",") for field in ("votes", "raters")]
    title = "proportion of votes (%)"
    axis = {"values": [0, 25, 50, 75, 100], "grid": False}
    bars = (
        Layer()
        .mark("bar")
        .encode(
            x=channel("start:Q", scale=scale, title=title, axis=axis),
            x2=end_channel("end"),
            y=y,
            color=tint,
            tooltip=tips,
        )
    )
    numbers = (
        Layer()
        .mark("text", fontSize=11.5)
        .encode(
            x=channel("middle:Q", scale=scale, title=title, axis=axis),
            y=y,
            text=channel("label:N"),
            color=channel("ink:N", scale=None),
        )
    )
    half = Layer().mark("rule", color=var("ink"), strokeDash=[3, 3], strokeWidth=1).encode(x={"datum": 50})
    chart = finish_chart(
        [bars, half, numbers],
        rows,
        name,
        _words(board, compared),
        columns=COLUMNS,
        height=max(ROW * len(order), 40),
    )
    chart.spec["resolve"] = {"scale": {"color": "independent"}}
    return chart


def _words(board: Board, compared: Comparisons) -> str:
    descriptions = [
        f"{pair.generator} better than {pair.other} in {percent(pair.better)}" for pair in compared.pairs[:12]
    ]
    return f"Proportions of votes by {board.name}: {'; '.join(descriptions)}."
