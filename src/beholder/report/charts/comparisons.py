"""Every two generators as a bar: how often the one was found better, the same, or worse."""

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish
from beholder.report.site.theme import var
from beholder.report.tables.comparisons import WORDS, Comparisons
from beholder.report.tables.leaderboard import Board
from beholder.report.text.words import percent
from beholder.tables.schemas.rank import OUTCOMES

FILLS = dict(zip(OUTCOMES, ("accent", "better", "line", "worse", "warn"), strict=True))
"""From much better to much worse."""

ROW = 28
WRITTEN = 0.08
"""Shares from here on have room for their number."""


def comparisons_chart(board: Board, compared: Comparisons, name: str) -> Chart:
    """A bar a pair, cut by outcome, the best for the first generator on the left."""
    rows: Rows = []
    for pair in compared.pairs:
        start = 0.0
        for share in pair.shares:
            rows.append(
                {
                    "pair": f"{pair.one} : {pair.other}",
                    "outcome": WORDS[share.outcome],
                    "start": round(100 * start, 4),
                    "end": round(100 * (start + share.share), 4),
                    "middle": round(100 * (start + share.share / 2), 4),
                    "label": f"{100 * share.share:.0f}" if share.share >= WRITTEN else "",
                    "ink": var("paper") if share.outcome in ("much-better", "much-worse") else var("ink"),
                    "shown": percent(share.share),
                    "interval": "–"
                    if share.low is None or share.high is None
                    else f"{100 * share.low:.0f} to {100 * share.high:.0f} %",
                    "votes": pair.answers,
                    "people": pair.people,
                }
            )
            start += share.share
    order = [f"{pair.one} : {pair.other}" for pair in compared.pairs]
    words = [WORDS[outcome] for outcome in compared.outcomes]
    tint = alt.Color(
        "outcome:N",
        scale=alt.Scale(domain=words, range=[var(FILLS[outcome]) for outcome in compared.outcomes]),
        legend=None,
    )
    scale = alt.Scale(domain=[0, 100], nice=False)
    y = alt.Y(
        "pair:N",
        sort=order,
        title=None,
        scale=alt.Scale(paddingInner=0.2),
        axis=alt.Axis(labelLimit=210, grid=False),
    )
    tips = [alt.Tooltip(f"{field}:N") for field in ("pair", "outcome")]
    tips += [alt.Tooltip("shown:N", title="share"), alt.Tooltip("interval:N")]
    tips += [alt.Tooltip(f"{field}:Q", format=",") for field in ("votes", "people")]
    title = "share of votes (%)"
    axis = alt.Axis(values=[0, 25, 50, 75, 100], grid=False)
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(x=alt.X("start:Q", scale=scale, title=title, axis=axis), x2="end:Q", y=y, color=tint, tooltip=tips)
    )
    numbers = (
        alt.Chart()
        .mark_text(fontSize=11.5)
        .encode(
            x=alt.X("middle:Q", scale=scale, title=title, axis=axis),
            y=y,
            text="label:N",
            color=alt.Color("ink:N", scale=None),
        )
    )
    half = alt.Chart().mark_rule(color=var("ink"), strokeDash=[3, 3], strokeWidth=1).encode(x=alt.datum(50))
    chart = finish([bars, half, numbers], rows, name, _words(board, compared), height=max(ROW * len(order), 40))
    chart.spec["resolve"] = {"scale": {"color": "independent"}}
    return chart


def _words(board: Board, compared: Comparisons) -> str:
    said = [f"{pair.one} better than {pair.other} in {percent(pair.better)}" for pair in compared.pairs[:12]]
    return f"Shares of votes by {board.name}: {'; '.join(said)}."
