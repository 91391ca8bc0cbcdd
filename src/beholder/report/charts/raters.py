"""Each rater of a question: time per answer against accuracy, or agreement with the others."""

from beholder.report.charts.chart import Chart, finish_chart
from beholder.report.charts.vega_lite import Layer, Rows, channel
from beholder.report.site.theme import var
from beholder.report.tables.raters import RaterPool, RaterSummary
from beholder.study.question import Screening

SHAPES = ("cross", "triangle-up", "square", "diamond", "triangle-down")
"""Shapes of excluded raters, by the first rule that excluded them; rules beyond these share the last."""

ACCURACY = "accuracy"

MOST_DOTS = 2_000
"""Of more raters, so many are drawn, evenly spaced in their table: more dots say no more, and are slow to draw."""


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
        for rater in _drawn(pool)
    ]
    x = channel(
        "seconds:Q",
        scale={"type": "log", "nice": False, "padding": 12},
        title=f"{pool.timing} seconds per answer",
        axis={"values": [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60], "format": "~g", "grid": True},
    )
    title = ACCURACY if pool.by_accuracy else agreement
    y = channel(
        "quality:Q", scale={"zero": False, "padding": 10}, title=title, axis={"tickCount": 5, "format": "~g"}
    )
    words = {"rater": "rater", "verdict": "verdict", "reasons": "why"}
    tips = [channel(f"{field}:N", title=head) for field, head in words.items()]
    tips += [channel("seconds:Q", format=".2f"), channel("quality:Q", title=title, format=".2f")]
    if any(rater.habit for rater in pool.raters):
        tips.append(channel("habit:N", title="habit (known of simulated raters)"))
    columns = {"rater": "rater", "seconds": "seconds", "quality": title, "verdict": "verdict", "reasons": "why"}
    layers = _limits(pool, screening, rows)
    if any(row["used"] for row in rows):
        used = Layer().filter("datum.used")
        dots = used.mark("point", shape="circle", filled=True, size=42, opacity=0.55, color=var("accent"))
        layers.append(dots.encode(x=x, y=y, tooltip=tips))
    rules = exclusion_shapes(pool)
    if rules:
        excluded = Layer().filter("!datum.used")
        marks = excluded.mark("point", filled=True, size=52, opacity=0.9, color=var("warn"))
        shape = channel(
            "rule:N", scale={"domain": [rule for rule, _ in rules], "range": [s for _, s in rules]}, legend=None
        )
        layers.append(marks.encode(x=x, y=y, shape=shape, tooltip=tips))
    return finish_chart(layers, rows, name, _words(pool), columns=columns, height=230)


def exclusion_shapes(pool: RaterPool) -> list[tuple[str, str]]:
    """The rules that excluded raters who are in the chart, each with its shape."""
    present = {rater.rule for rater in _drawn(pool) if not rater.used}
    rules = [reason.rule for reason in pool.reasons if reason.rule in present]
    rules += sorted(present - set(rules))
    return [(rule, SHAPES[min(place, len(SHAPES) - 1)]) for place, rule in enumerate(rules)]


def _drawn(pool: RaterPool) -> list[RaterSummary]:
    """The raters who have a place in the chart, or an even sample of them."""
    placed = [rater for rater in pool.raters if rater.seconds is not None and pool.quality(rater) is not None]
    if len(placed) <= MOST_DOTS:
        return placed
    return [placed[place * len(placed) // MOST_DOTS] for place in range(MOST_DOTS)]


def _limits(pool: RaterPool, screening: Screening, rows: Rows) -> list[Layer]:
    """Lines at the limits of rules on speed and correlation, and at the accuracy of guessing."""
    lines: list[Layer] = []
    if not rows:
        return lines
    if screening.min_seconds:
        limit = Layer([{"seconds": screening.min_seconds}])
        lines.append(limit.mark("rule", color=var("soft"), strokeDash=[3, 3]).encode(x=channel("seconds:Q")))
    if screening.min_correlation is not None and not pool.by_accuracy:
        limit = Layer([{"quality": screening.min_correlation}])
        lines.append(limit.mark("rule", color=var("soft"), strokeDash=[3, 3]).encode(y=channel("quality:Q")))
    if pool.by_accuracy:
        guessing = Layer([{"quality": 0.5}])
        lines.append(guessing.mark("rule", color=var("line"), strokeWidth=1.5).encode(y=channel("quality:Q")))
    return lines


def _words(pool: RaterPool) -> str:
    placed = len(pool.raters) - pool.unplaced
    quality = ACCURACY if pool.by_accuracy else "agreement with the others"
    drawn = f"{MOST_DOTS:,} of {placed:,}" if placed > MOST_DOTS else str(placed)
    return (
        f"Scatter of {drawn} raters by {pool.timing} time and {quality} in {pool.question}: "
        f"{len(pool.used)} used, {pool.excluded} excluded in all."
    )
