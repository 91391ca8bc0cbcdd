"""Traces of staircases, and the modal exposure of each rater."""

from collections.abc import Mapping

from beholder.report.charts.chart import Chart, finish_chart, has_values
from beholder.report.charts.ratings import NAME_LIMIT, ROW
from beholder.report.charts.vega_lite import Layer, Rows, channel, end_channel
from beholder.report.site.generator_marks import SHAPE, UNRANKED, Mark
from beholder.report.site.theme import var
from beholder.report.tables.staircases import Staircases, Traces
from beholder.report.text.words import count_raters


def traces_chart(traces: Traces, colour: str, limits: tuple[float, float], name: str) -> Chart:
    """One thin line per block, and the median of all blocks; ``limits`` are the shortest and longest exposure."""
    rows: Rows = [
        {"block": number, "trial": list(range(1, len(path) + 1)), "ms": list(path)}
        for number, path in enumerate(traces.paths)
    ]
    median: Rows = [{"trial": trial, "ms": round(ms, 1)} for trial, ms in enumerate(traces.median, start=1)]
    x = channel("trial:Q", title="trial of the block", scale={"nice": False}, axis={"tickCount": 4, "grid": False})
    y = channel(
        "ms:Q", title="exposure (ms)", scale={"domain": list(limits), "nice": False}, axis={"tickCount": 4}
    )
    thin = (
        Layer()
        .flatten(["trial", "ms"])
        .mark("line", strokeWidth=1, opacity=0.4, interpolate="step-after", color=var("soft"))
        .encode(x=x, y=y, detail=channel("block:N"))
    )
    thick = Layer(median).mark("line", strokeWidth=2.4, color=colour).encode(x=x, y=y)
    columns = {"block": "block", "trial": "trial", "ms": "exposure (ms)"}
    return finish_chart([thin, thick], rows, name, _trace_words(traces), columns=columns, height=150)


def exposures_chart(staircases: Staircases, order: list[str], marks: Mapping[str, Mark], name: str) -> Chart:
    """One tick per rater at their mean modal exposure; the mean of raters used with its confidence interval."""
    raters: Rows = [
        {
            "generator": exposure.generator,
            "rater": exposure.rater,
            "ms": round(exposure.modal, 2),
            "used": exposure.used,
            "verdict": "used" if exposure.used else "excluded",
        }
        for exposure in staircases.raters
    ]
    rows: Rows = [
        {
            "generator": row.generator,
            "ms": row.modal.value,
            "low": row.modal.low,
            "high": row.modal.high,
            **marks.get(row.generator, UNRANKED).fields(),
            "raters": row.raters,
        }
        for row in staircases.generators
    ]
    title = "modal exposure (ms)"
    scale = {"zero": False, "nice": True}
    axis = {"tickCount": 6, "format": "~f"}
    y = channel("generator:N", sort=order, title=None, axis={"labelLimit": NAME_LIMIT})
    x = channel("ms:Q", title=title, scale=scale, axis=axis)
    tips = [channel("rater:N", title="rater"), channel("ms:Q", format=".0f"), channel("verdict:N")]
    ticks = (
        Layer(raters)
        .filter("datum.used")
        .mark("tick", size=16, thickness=1.6, opacity=0.55, color=var("soft"))
        .encode(x=x, y=y, tooltip=tips)
    )
    excluded = (
        Layer(raters)
        .filter("!datum.used")
        .mark("point", shape="cross", angle=45, size=36, filled=True, opacity=0.9, color=var("warn"))
        .encode(x=x, y=y, tooltip=tips)
    )
    tint = channel("colour:N", scale=None)
    bars = (
        Layer()
        .filter("datum.low != null")
        .mark("rule", strokeWidth=6, opacity=0.45, strokeCap="round")
        .encode(x=channel("low:Q", title=title, scale=scale, axis=axis), x2=end_channel("high"), y=y, color=tint)
    )
    means = (
        Layer()
        .mark("point", size=95, filled=True, opacity=1, stroke=var("paper"), strokeWidth=1.2)
        .encode(
            x=x,
            y=y,
            fill=tint,
            shape=SHAPE,
            tooltip=[channel("generator:N"), channel("ms:Q", format=".0f")],
        )
    )
    layers = [ticks, *([excluded] if any(not exposure.used for exposure in staircases.raters) else [])]
    layers += [*([bars] if has_values(rows, "low") else []), means]
    columns = {"generator": "generator", "ms": title, "low": "low", "high": "high", "raters": "raters"}
    height = max(len(rows) * ROW, 60)
    return finish_chart(layers, rows, name, _exposure_words(staircases), columns=columns, height=height)


def _trace_words(traces: Traces) -> str:
    return (
        f"Staircases of {traces.generator}: the median exposure of {traces.blocks} blocks goes from "
        f"{traces.median[0]:.0f} to {traces.median[-1]:.0f} ms in {len(traces.median)} trials."
    )


def _exposure_words(staircases: Staircases) -> str:
    descriptions = [
        f"{row.generator} {row.modal.value:.0f} ms over {count_raters(row.raters)}"
        for row in staircases.generators
        if row.modal.value is not None
    ]
    return f"Modal exposure of each rater, and means: {'; '.join(descriptions)}."
