"""Traces of staircases, and where each person settled."""

import altair as alt

from beholder.report.charts.chart import Chart, Rows, data, finish, known
from beholder.report.charts.ratings import NAME_LIMIT, ROW
from beholder.report.site.theme import var
from beholder.report.tables.staircases import Staircases, Traces


def traces_chart(traces: Traces, colour: str, limits: tuple[float, float], name: str) -> Chart:
    """A thin line a block, and the median of all blocks; ``limits`` are the shortest and longest exposure."""
    rows: Rows = [
        {"block": number, "trial": list(range(1, len(path) + 1)), "ms": list(path)}
        for number, path in enumerate(traces.shown)
    ]
    middle: Rows = [{"trial": trial, "ms": round(ms, 1)} for trial, ms in enumerate(traces.middle, start=1)]
    x = alt.X(
        "trial:Q", title="trial of the block", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=4, grid=False)
    )
    y = alt.Y(
        "ms:Q",
        title="exposure (ms)",
        scale=alt.Scale(domain=list(limits), nice=False),
        axis=alt.Axis(tickCount=4),
    )
    thin = (
        alt.Chart()
        .transform_flatten(["trial", "ms"])
        .mark_line(strokeWidth=1, opacity=0.4, interpolate="step-after", color=var("soft"))
        .encode(x=x, y=y, detail="block:N")
    )
    thick = alt.Chart(data(middle)).mark_line(strokeWidth=2.4, color=colour).encode(x=x, y=y)
    return finish([thin, thick], rows, name, _trace_words(traces), height=150)


def places_chart(found: Staircases, order: list[str], colour: dict[str, str], name: str) -> Chart:
    """A tick a person at their mean modal exposure, and the mean of those used with its interval."""
    people: Rows = [
        {
            "generator": one.generator,
            "rater": one.rater,
            "ms": round(one.modal, 2),
            "used": one.used,
            "verdict": "used" if one.used else "set aside",
        }
        for one in found.people
    ]
    rows: Rows = [
        {
            "generator": one.generator,
            "ms": one.modal.value,
            "low": one.modal.low,
            "high": one.modal.high,
            "colour": colour.get(one.generator, var("accent")),
            "people": one.people,
        }
        for one in found.settled
    ]
    title = "modal exposure (ms)"
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(tickCount=6, format="~f")
    y = alt.Y("generator:N", sort=order, title=None, axis=alt.Axis(labelLimit=NAME_LIMIT))
    x = alt.X("ms:Q", title=title, scale=scale, axis=axis)
    tips = [alt.Tooltip("rater:N", title="person"), alt.Tooltip("ms:Q", format=".0f"), alt.Tooltip("verdict:N")]
    ticks = (
        alt.Chart(data(people))
        .transform_filter("datum.used")
        .mark_tick(size=16, thickness=1.6, opacity=0.55, color=var("soft"))
        .encode(x=x, y=y, tooltip=tips)
    )
    gone = (
        alt.Chart(data(people))
        .transform_filter("!datum.used")
        .mark_point(shape="cross", angle=45, size=36, filled=True, opacity=0.9, color=var("warn"))
        .encode(x=x, y=y, tooltip=tips)
    )
    tint = alt.Color("colour:N", scale=None)
    bars = (
        alt.Chart()
        .transform_filter("datum.low != null")
        .mark_rule(strokeWidth=6, opacity=0.45, strokeCap="round")
        .encode(x=alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high:Q", y=y, color=tint)
    )
    means = (
        alt.Chart()
        .mark_point(size=95, filled=True, opacity=1, stroke=var("paper"), strokeWidth=1.2)
        .encode(x=x, y=y, fill=tint, tooltip=[alt.Tooltip("generator:N"), alt.Tooltip("ms:Q", format=".0f")])
    )
    layers = [ticks, *([gone] if any(not one.used for one in found.people) else [])]
    layers += [*([bars] if known(rows, "low") else []), means]
    return finish(layers, rows, name, _place_words(found), height=max(len(rows) * ROW, 60))


def _trace_words(traces: Traces) -> str:
    return (
        f"Staircases of {traces.generator}: the median exposure of {traces.blocks} blocks goes from "
        f"{traces.middle[0]:.0f} to {traces.middle[-1]:.0f} ms in {len(traces.middle)} trials."
    )


def _place_words(found: Staircases) -> str:
    said = [
        f"{one.generator} {one.modal.value:.0f} ms over {one.people} people"
        for one in found.settled
        if one.modal.value is not None
    ]
    return f"Modal exposure of each person, and means: {'; '.join(said)}."
