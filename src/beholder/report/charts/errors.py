"""Errors on generated and on real images, side by side."""

import altair as alt

from beholder.report.charts.chart import Chart, Rows, finish_chart, has_values
from beholder.report.charts.ratings import CROWDED_ROW, MANY, NAME_LIMIT, ROW
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
    base = alt.Chart()
    scale = alt.Scale(zero=True, nice=True)
    title = "error rate of raters (%)"
    axis = alt.Axis(tickCount=6, format="~f")
    x = alt.X("error:Q", scale=scale, title=title, axis=axis)
    low = alt.X("low:Q", scale=scale, title=title, axis=axis)
    y = alt.Y("generator:N", sort=order, title=None, axis=alt.Axis(labelLimit=NAME_LIMIT))
    dodge = alt.YOffset("kind:N", sort=list(KINDS), scale=alt.Scale(domain=list(KINDS), paddingOuter=0.6))
    tint = alt.Color(
        "kind:N", scale=alt.Scale(domain=list(KINDS), range=[var("accent"), var("soft")]), legend=None
    )
    heads = {"generator": "generator", "kind": "images", "shown": "error rate", "interval": "confidence interval"}
    tips = [alt.Tooltip(f"{field}:N", title=word) for field, word in heads.items()]
    tips += [alt.Tooltip(f"{field}:Q", format=",") for field in ("raters", "answers")]
    bars = base.transform_filter("datum.low != null").mark_rule(
        strokeWidth=3 if crowded else 4, opacity=0.45, strokeCap="round"
    )
    filled = base.transform_filter("datum.kind == 'generated'").mark_point(size=60, filled=True, opacity=1)
    hollow = base.transform_filter("datum.kind == 'real'").mark_point(
        size=50, fill=var("paper"), strokeWidth=1.8, opacity=1
    )
    layers = [
        *(
            [bars.encode(x=low, x2=alt.X2("high:Q"), y=y, yOffset=dodge, color=tint)]
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
