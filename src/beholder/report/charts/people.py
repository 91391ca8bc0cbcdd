"""Each person of a question: how quickly they answered, and how far they agree with the others."""

import altair as alt

from beholder.report.charts.chart import Chart, Rows, data, finish
from beholder.report.crowd import Crowd
from beholder.report.theme import var
from beholder.study.question import Screening


def people_chart(crowd: Crowd, screening: Screening, name: str, agreement: str) -> Chart:
    """A dot a person used, a cross a person set aside; the limits of the screening rules as dashed lines."""
    rows: Rows = [
        {
            "rater": member.rater,
            "seconds": member.seconds,
            "agreement": member.agreement,
            "used": member.used,
            "verdict": "used" if member.used else "set aside",
            "reasons": "; ".join(member.reasons) or "–",
            "habit": member.habit or "–",
        }
        for member in crowd.members
        if member.seconds is not None and member.agreement is not None
    ]
    x = alt.X(
        "seconds:Q",
        scale=alt.Scale(type="log", nice=False, padding=12),
        title="median seconds an answer",
        axis=alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60], format="~g", grid=True),
    )
    y = alt.Y(
        "agreement:Q",
        scale=alt.Scale(zero=False, padding=10),
        title=agreement,
        axis=alt.Axis(tickCount=5, format="~g"),
    )
    words = {"rater": "person", "verdict": "verdict", "reasons": "why"}
    tips = [alt.Tooltip(f"{field}:N", title=title) for field, title in words.items()]
    tips += [alt.Tooltip(f"{field}:Q", format=".2f") for field in ("seconds", "agreement")]
    if any(member.habit for member in crowd.members):
        tips.append(alt.Tooltip("habit:N", title="habit (known of simulated people)"))
    layers = _limits(screening, rows)
    if any(row["used"] for row in rows):
        used = alt.Chart().transform_filter("datum.used")
        dots = used.mark_point(shape="circle", filled=True, size=42, opacity=0.55, color=var("accent"))
        layers.append(dots.encode(x=x, y=y, tooltip=tips))
    if not all(row["used"] for row in rows):
        gone = alt.Chart().transform_filter("!datum.used")
        crosses = gone.mark_point(shape="cross", filled=True, size=60, opacity=1, color=var("warn"), angle=45)
        layers.append(crosses.encode(x=x, y=y, tooltip=tips))
    return finish(layers, rows, name, _words(crowd), height=230)


def _limits(screening: Screening, rows: Rows) -> list[alt.Chart]:
    """Lines where a rule sets people aside by speed or by correlation."""
    lines: list[alt.Chart] = []
    if not rows:
        return lines
    if screening.min_seconds:
        limit = alt.Chart(data([{"seconds": screening.min_seconds}]))
        lines.append(limit.mark_rule(color=var("soft"), strokeDash=[3, 3]).encode(x="seconds:Q"))
    if screening.min_correlation is not None:
        limit = alt.Chart(data([{"agreement": screening.min_correlation}]))
        lines.append(limit.mark_rule(color=var("soft"), strokeDash=[3, 3]).encode(y="agreement:Q"))
    return lines


def _words(crowd: Crowd) -> str:
    shown = len(crowd.members) - crowd.unplaced
    return (
        f"Scatter of {shown} people by median time and agreement with the others in {crowd.question}: "
        f"{len(crowd.used)} used, {crowd.set_aside} set aside in all."
    )
