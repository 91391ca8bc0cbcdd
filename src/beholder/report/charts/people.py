"""Each person of a question: how quickly they answered, and how often they are right or agree with the others."""

import altair as alt

from beholder.report.charts.chart import Chart, Rows, data, finish
from beholder.report.site.theme import var
from beholder.report.tables.raters import Crowd
from beholder.study.question import Screening

SHAPES = ("cross", "triangle-up", "square", "diamond", "triangle-down")
"""Of people set aside, by the first rule that spoke against them; rules beyond these share the last."""

SHAPE_PATHS = {
    "cross": "M4.5 1H7.5V4.5H11V7.5H7.5V11H4.5V7.5H1V4.5H4.5Z",
    "triangle-up": "M6 1L11.5 11H.5Z",
    "square": "M2 2H10V10H2Z",
    "diamond": "M6 .5L10.5 6L6 11.5L1.5 6Z",
    "triangle-down": "M6 11L11.5 1H.5Z",
}
"""The same in the key beside the chart, 12 pixels wide."""

ACCURACY = "share right"


def people_chart(crowd: Crowd, screening: Screening, name: str, agreement: str) -> Chart:
    """A dot a person used, another shape a person set aside, by rule; the rules' limits as dashed lines."""
    rows: Rows = [
        {
            "rater": member.rater,
            "seconds": member.seconds,
            "height": crowd.height(member),
            "used": member.used,
            "rule": member.rule,
            "verdict": "used" if member.used else "set aside",
            "reasons": "; ".join(member.reasons) or "–",
            "habit": member.habit or "–",
        }
        for member in crowd.members
        if member.seconds is not None and crowd.height(member) is not None
    ]
    x = alt.X(
        "seconds:Q",
        scale=alt.Scale(type="log", nice=False, padding=12),
        title=f"{crowd.timing} seconds an answer",
        axis=alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60], format="~g", grid=True),
    )
    title = ACCURACY if crowd.by_accuracy else agreement
    y = alt.Y(
        "height:Q",
        scale=alt.Scale(zero=False, padding=10),
        title=title,
        axis=alt.Axis(tickCount=5, format="~g"),
    )
    words = {"rater": "person", "verdict": "verdict", "reasons": "why"}
    tips = [alt.Tooltip(f"{field}:N", title=head) for field, head in words.items()]
    tips += [alt.Tooltip("seconds:Q", format=".2f"), alt.Tooltip("height:Q", title=title, format=".2f")]
    if any(member.habit for member in crowd.members):
        tips.append(alt.Tooltip("habit:N", title="habit (known of simulated people)"))
    layers = _limits(crowd, screening, rows)
    if any(row["used"] for row in rows):
        used = alt.Chart().transform_filter("datum.used")
        dots = used.mark_point(shape="circle", filled=True, size=42, opacity=0.55, color=var("accent"))
        layers.append(dots.encode(x=x, y=y, tooltip=tips))
    rules = rules_drawn(crowd)
    if rules:
        gone = alt.Chart().transform_filter("!datum.used")
        marks = gone.mark_point(filled=True, size=52, opacity=0.9, color=var("warn"))
        shape = alt.Shape(
            "rule:N", scale=alt.Scale(domain=[rule for rule, _ in rules], range=[s for _, s in rules]), legend=None
        )
        layers.append(marks.encode(x=x, y=y, shape=shape, tooltip=tips))
    return finish(layers, rows, name, _words(crowd), height=230)


def rules_drawn(crowd: Crowd) -> list[tuple[str, str]]:
    """The rules behind the people set aside who have a place in the chart, each with its shape."""
    placed = [m for m in crowd.members if m.seconds is not None and crowd.height(m) is not None]
    present = {member.rule for member in placed if not member.used}
    rules = [reason.rule for reason in crowd.reasons if reason.rule in present]
    rules += sorted(present - set(rules))
    return [(rule, SHAPES[min(place, len(SHAPES) - 1)]) for place, rule in enumerate(rules)]


def _limits(crowd: Crowd, screening: Screening, rows: Rows) -> list[alt.Chart]:
    """Lines where a rule sets people aside by speed or by correlation, and where guessing would put them."""
    lines: list[alt.Chart] = []
    if not rows:
        return lines
    if screening.min_seconds:
        limit = alt.Chart(data([{"seconds": screening.min_seconds}]))
        lines.append(limit.mark_rule(color=var("soft"), strokeDash=[3, 3]).encode(x="seconds:Q"))
    if screening.min_correlation is not None and not crowd.by_accuracy:
        limit = alt.Chart(data([{"height": screening.min_correlation}]))
        lines.append(limit.mark_rule(color=var("soft"), strokeDash=[3, 3]).encode(y="height:Q"))
    if crowd.by_accuracy:
        guessing = alt.Chart(data([{"height": 0.5}]))
        lines.append(guessing.mark_rule(color=var("line"), strokeWidth=1.5).encode(y="height:Q"))
    return lines


def _words(crowd: Crowd) -> str:
    shown = len(crowd.members) - crowd.unplaced
    by = "share right" if crowd.by_accuracy else "agreement with the others"
    return (
        f"Scatter of {shown} people by {crowd.timing} time and {by} in {crowd.question}: "
        f"{len(crowd.used)} used, {crowd.set_aside} set aside in all."
    )
