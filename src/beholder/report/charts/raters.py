"""Each rater of a question: time per answer against accuracy, or agreement with the others."""

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish_chart, inline
from beholder.report.site.theme import var
from beholder.report.tables.raters import RaterPool
from beholder.study.question import Screening

SHAPES = ("cross", "triangle-up", "square", "diamond", "triangle-down")
"""Shapes of excluded raters, by the first rule that excluded them; rules beyond these share the last."""

ACCURACY = "accuracy"


def raters_chart(pool: RaterPool, screening: Screening, name: str, agreement: str) -> Chart:
    """One dot per rater used, another shape per excluded rater, by rule; the limits of rules as dashed lines."""
    rows: Rows = [
        {
            "rater": rater.name,
            "seconds": rater.seconds,
            "quality": pool.quality(rater),
            "used": rater.used,
            "rule": rater.rule,
            "verdict": "used" if rater.used else "excluded",
            "reasons": "; ".join(rater.reasons) or "–",
            "habit": rater.habit or "–",
        }
        for rater in pool.raters
        if rater.seconds is not None and pool.quality(rater) is not None
    ]
    x = alt.X(
        "seconds:Q",
        scale=alt.Scale(type="log", nice=False, padding=12),
        title=f"{pool.timing} seconds per answer",
        axis=alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60], format="~g", grid=True),
    )
    title = ACCURACY if pool.by_accuracy else agreement
    y = alt.Y(
        "quality:Q",
        scale=alt.Scale(zero=False, padding=10),
        title=title,
        axis=alt.Axis(tickCount=5, format="~g"),
    )
    words = {"rater": "rater", "verdict": "verdict", "reasons": "why"}
    tips = [alt.Tooltip(f"{field}:N", title=head) for field, head in words.items()]
    tips += [alt.Tooltip("seconds:Q", format=".2f"), alt.Tooltip("quality:Q", title=title, format=".2f")]
    if any(rater.habit for rater in pool.raters):
        tips.append(alt.Tooltip("habit:N", title="habit (known of simulated raters)"))
    columns = {"rater": "rater", "seconds": "seconds", "quality": title, "verdict": "verdict", "reasons": "why"}
    layers = _limits(pool, screening, rows)
    if any(row["used"] for row in rows):
        used = alt.Chart().transform_filter("datum.used")
        dots = used.mark_point(shape="circle", filled=True, size=42, opacity=0.55, color=var("accent"))
        layers.append(dots.encode(x=x, y=y, tooltip=tips))
    rules = exclusion_shapes(pool)
    if rules:
        excluded = alt.Chart().transform_filter("!datum.used")
        marks = excluded.mark_point(filled=True, size=52, opacity=0.9, color=var("warn"))
        shape = alt.Shape(
            "rule:N", scale=alt.Scale(domain=[rule for rule, _ in rules], range=[s for _, s in rules]), legend=None
        )
        layers.append(marks.encode(x=x, y=y, shape=shape, tooltip=tips))
    return finish_chart(layers, rows, name, _words(pool), columns=columns, height=230)


def exclusion_shapes(pool: RaterPool) -> list[tuple[str, str]]:
    """The rules that excluded raters who are in the chart, each with its shape."""
    placed = [rater for rater in pool.raters if rater.seconds is not None and pool.quality(rater) is not None]
    present = {rater.rule for rater in placed if not rater.used}
    rules = [reason.rule for reason in pool.reasons if reason.rule in present]
    rules += sorted(present - set(rules))
    return [(rule, SHAPES[min(place, len(SHAPES) - 1)]) for place, rule in enumerate(rules)]


def _limits(pool: RaterPool, screening: Screening, rows: Rows) -> list[alt.Chart]:
    """Lines at the limits of rules on speed and correlation, and at the accuracy of guessing."""
    lines: list[alt.Chart] = []
    if not rows:
        return lines
    if screening.min_seconds:
        limit = alt.Chart(inline([{"seconds": screening.min_seconds}]))
        lines.append(limit.mark_rule(color=var("soft"), strokeDash=[3, 3]).encode(x=alt.X("seconds:Q")))
    if screening.min_correlation is not None and not pool.by_accuracy:
        limit = alt.Chart(inline([{"quality": screening.min_correlation}]))
        lines.append(limit.mark_rule(color=var("soft"), strokeDash=[3, 3]).encode(y=alt.Y("quality:Q")))
    if pool.by_accuracy:
        guessing = alt.Chart(inline([{"quality": 0.5}]))
        lines.append(guessing.mark_rule(color=var("line"), strokeWidth=1.5).encode(y=alt.Y("quality:Q")))
    return lines


def _words(pool: RaterPool) -> str:
    placed = len(pool.raters) - pool.unplaced
    quality = ACCURACY if pool.by_accuracy else "agreement with the others"
    return (
        f"Scatter of {placed} raters by {pool.timing} time and {quality} in {pool.question}: "
        f"{len(pool.used)} used, {pool.excluded} excluded in all."
    )
