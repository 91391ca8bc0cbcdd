"""Errors on generated and on real images, side by side."""

from beholder.report.charts.chart import Chart, finish_chart, has_values
from beholder.report.charts.ratings import CROWDED_ROW, MANY, NAME_LIMIT, ROW
from beholder.report.charts.vega_lite import Layer, Rows, channel, end_channel
from beholder.report.site.theme import var
from beholder.report.tables.errors import Errors
from beholder.report.text.measures import MEASURES
from beholder.report.text.words import count

KINDS = ("generated", "real")
COLUMNS = {"generator": "generator", "kind": "images", "error": "error rate (%)", "low": "low", "high": "high"}
COLUMNS |= {"raters": "raters", "answers": "answers"}


def errors_chart(errors: Errors, name: str) -> Chart:
    """Two dots per generator, filled for its images and hollow for the real ones, with confidence intervals."""
    rows: Rows = []
    for row in errors.rows:
        for kind, standing in zip(KINDS, (row.fake, row.real), strict=True):
            if standing is None:
                continue
            measure = MEASURES["error-rate"]
            rows.append(
                {
                    "generator": row.generator,
                    "kind": kind,
                    "error": round(100 * standing.rating, 6),
                    "low": None if standing.low is None else round(100 * standing.low, 6),
                    "high": None if standing.high is None else round(100 * standing.high, 6),
                    "shown": measure.with_unit(measure.show(standing.rating)),
                    "interval": measure.with_unit(measure.show_interval(standing.low, standing.high)),
                    "raters": standing.raters,
                    "answers": standing.answers,
                }
            )
    order = [row.generator for row in errors.rows]
    crowded = len(order) > MANY
    base = Layer()
    scale = {"zero": True, "nice": True}
    title = "error rate of raters (%)"
    axis = {"tickCount": 6, "format": "~f"}
    x = channel("error:Q", scale=scale, title=title, axis=axis)
    low = channel("low:Q", scale=scale, title=title, axis=axis)
    y = channel("generator:N", sort=order, title=None, axis={"labelLimit": NAME_LIMIT})
    dodge = channel("kind:N", sort=list(KINDS), scale={"domain": list(KINDS), "paddingOuter": 0.6})
    tint = channel("kind:N", scale={"domain": list(KINDS), "range": [var("accent"), var("soft")]}, legend=None)
    heads = {"generator": "generator", "kind": "images", "shown": "error rate", "interval": "confidence interval"}
    tips = [channel(f"{field}:N", title=word) for field, word in heads.items()]
    tips += [channel(f"{field}:Q", format=",") for field in ("raters", "answers")]
    bars = base.filter("datum.low != null").mark(
        "rule", strokeWidth=3 if crowded else 4, opacity=0.45, strokeCap="round"
    )
    filled = base.filter("datum.kind == 'generated'").mark("point", size=60, filled=True, opacity=1)
    hollow = base.filter("datum.kind == 'real'").mark(
        "point", size=50, fill=var("paper"), strokeWidth=1.8, opacity=1
    )
    layers = [
        *(
            [bars.encode(x=low, x2=end_channel("high"), y=y, yOffset=dodge, color=tint)]
            if has_values(rows, "low")
            else []
        ),
        filled.encode(x=x, y=y, yOffset=dodge, color=tint, tooltip=tips),
        hollow.encode(x=x, y=y, yOffset=dodge, color=tint, tooltip=tips),
    ]
    height = max(len(order) * (CROWDED_ROW + 4 if crowded else ROW), 60)
    return finish_chart(layers, rows, name, _words(errors, rows), columns=COLUMNS, height=height)


def _words(errors: Errors, rows: Rows) -> str:
    descriptions = [f"{row['generator']} {row['kind']} {row['shown']}" for row in rows[:16]]
    more = f"; and {count(len(rows) - 16, 'more')}" if len(rows) > 16 else ""
    return f"Errors on generated and on real images by {errors.lead.name}: {'; '.join(descriptions)}{more}."
