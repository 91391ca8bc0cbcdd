"""Dose and response of every measure, and the distribution of chroma by generator."""

from collections.abc import Mapping

from beholder.report.charts.chart import Chart, finish_chart, has_values
from beholder.report.charts.vega_lite import Layer, Rows, channel, end_channel
from beholder.report.site.generator_marks import SHAPE, UNRANKED, Mark
from beholder.report.site.theme import PALETTE, var
from beholder.report.tables.board_checks import Chroma, Family

MOST_CURVES = 5
"""Measures whose curves are drawn; all have their slopes."""

UNIT = "change, standard deviations"


def slopes_chart(family: Family, name: str) -> Chart:
    """One dot per measure: its change from the first to the last variant, with the confidence interval."""
    rows: Rows = [
        {"measure": r.measure, "slope": r.slope, "low": r.low, "high": r.high, "people": r.people}
        for r in family.responses
        if r.slope is not None
    ]
    base = Layer()
    y = channel("measure:N", sort=[row["measure"] for row in rows], title=None, axis={"labelLimit": 230})
    tint = channel("people:N", scale={"domain": [True, False], "range": [var("accent"), var("soft")]}, legend=None)
    tips = [channel("measure:N"), *(channel(f"{c}:Q", format="+.2f") for c in ("slope", "low", "high"))]
    layers = [base.calculate("at", "0").mark("rule", color=var("line")).encode(x=channel("at:Q", title=UNIT))]
    if has_values(rows, "low"):
        bars = base.filter("datum.low != null").mark("rule", strokeWidth=3, opacity=0.5, strokeCap="round")
        layers.append(bars.encode(x=channel("low:Q", title=UNIT), x2=end_channel("high"), y=y, color=tint))
    x = channel("slope:Q", title=UNIT, axis={"tickCount": 5})
    layers.append(base.mark("point", size=70, filled=True, opacity=1).encode(x=x, y=y, color=tint, tooltip=tips))
    parts = "; ".join(f"{r.measure} {r.slope:+.2f}" for r in family.responses if r.slope is not None)
    words = f"Change of each measure from the first to the last variant of {family.setting}: {parts}."
    columns = {"measure": "measure", "slope": "change", "low": "low", "high": "high"}
    return finish_chart(layers, rows, name, words, columns=columns, height=max(24 * len(rows), 60))


def curves_chart(family: Family, name: str) -> Chart:
    """One line per measure over the doses: difference from the first variant, people and those that see most."""
    drawn = family.responses[:MOST_CURVES]
    rows: Rows = [
        {"measure": r.measure, "dose": dose, "difference": difference, "low": low, "high": high}
        for r in drawn
        for dose, difference, low, high in r.steps
    ]
    order = [r.measure for r in drawn]
    base = Layer()
    x = channel("dose:Q", title=family.setting, scale={"zero": False})
    y = channel("difference:Q", title=UNIT)
    tint = channel(
        "measure:N",
        scale={"domain": order, "range": [var(PALETTE[k % len(PALETTE)]) for k in range(len(order))]},
        legend={"title": None, "orient": "top", "columns": 2, "labelLimit": 260},
    )
    tips = [channel("measure:N"), channel("dose:Q"), channel("difference:Q", format="+.2f")]
    layers = [base.calculate("at", "0").mark("rule", color=var("line")).encode(y=channel("at:Q", title=UNIT))]
    if has_values(rows, "low"):
        bars = base.filter("datum.low != null").mark("rule", strokeWidth=2, opacity=0.4, strokeCap="round")
        layers.append(bars.encode(x=x, y=channel("low:Q", title=UNIT), y2=end_channel("high"), color=tint))
    layers.append(base.mark("line", strokeWidth=2).encode(x=x, y=y, color=tint))
    layers.append(base.mark("point", size=50, filled=True, opacity=1).encode(x=x, y=y, color=tint, tooltip=tips))
    words = f"Change of {len(order)} measures over {family.setting}, from the first variant: {', '.join(order)}."
    columns = {"measure": "measure", "dose": family.setting, "difference": "change", "low": "low", "high": "high"}
    return finish_chart(layers, rows, name, words, columns=columns, height=260)


def chroma_chart(chroma: tuple[Chroma, ...], marks: Mapping[str, Mark], name: str) -> Chart:
    """Quantiles of the mean chroma of each generator's images: median, the middle half, and 5 to 95 %."""
    heads = ("lowest", "lower", "median", "upper", "highest")
    ordered = sorted(chroma, key=lambda row: -row.quantiles[2])
    rows: Rows = [
        {"generator": row.generator, **dict(zip(heads, row.quantiles, strict=True))}
        | {"images": row.images, **marks.get(row.generator, UNRANKED).fields()}
        for row in ordered
    ]
    base = Layer()
    title = "mean chroma of an image, levels of 255"
    y = channel("generator:N", sort=[row.generator for row in ordered], title=None, axis={"labelLimit": 230})
    tint = channel("colour:N", scale=None)
    tips = [channel("generator:N"), *(channel(f"{head}:Q", format=".1f") for head in heads), channel("images:Q")]
    layers = [
        base.mark("rule", strokeWidth=width, opacity=opacity, strokeCap="round").encode(
            x=channel(f"{low}:Q", title=title, scale={"zero": False}), x2=end_channel(high), y=y, color=tint
        )
        for width, opacity, low, high in ((2, 0.5, "lowest", "highest"), (7, 0.45, "lower", "upper"))
    ]
    point = base.mark("point", size=70, filled=True, opacity=1)
    layers.append(point.encode(x=channel("median:Q", title=title), y=y, color=tint, shape=SHAPE, tooltip=tips))
    parts = "; ".join(f"{row.generator} {row.quantiles[2]:.1f}" for row in ordered)
    words = f"Distribution of the mean chroma of images by generator; medians: {parts}."
    columns = {"generator": "generator"} | {head: head for head in heads} | {"images": "images"}
    return finish_chart(layers, rows, name, words, columns=columns, height=max(24 * len(rows), 60))
