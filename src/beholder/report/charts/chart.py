"""A chart: a Vega-Lite specification, its name, and what it shows in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt

from beholder.report.charts.still import Spec, draw_still
from beholder.report.site.theme import chart_config

Rows = list[dict[str, object]]
"""The data of a chart."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of the page. ``name`` is unique in a report, and its file's name."""

    name: str
    alt: str
    """What it shows, for a reader who does not see it."""
    spec: Spec

    def svg(self) -> str:
        """A still drawing, its colours being CSS variables."""
        return draw_still(self.spec)


def finish_chart(
    layers: Sequence[alt.Chart], rows: Rows, name: str, alt_text: str, *, columns: Mapping[str, str], height: int
) -> Chart:
    """The layers over their common rows, as wide as their column, in the theme of the page.

    ``columns`` are the fields that a reader copies as a table, with their heads.
    """
    spec = layered(layers)
    spec |= {"width": "container", "height": height}
    spec["data"] = {"values": rows}  # afterwards, because Altair would copy every row many times
    spec["usermeta"] = {"columns": [[field, head] for field, head in columns.items()]}  # in order
    spec["description"] = alt_text
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["config"] = chart_config()
    return Chart(name, alt_text, spec)


def layered(layers: Sequence[alt.Chart]) -> Spec:
    """The specification of ``alt.layer(*layers)``, without the data that layers share.

    Each layer is converted by itself: ``alt.layer`` copies all of them several times.
    """
    datasets: dict[str, object] = {}
    context = {"top_level": False, "datasets": datasets}
    specs: list[Spec] = [layer.to_dict(validate=False, context=context) for layer in layers]
    for spec in specs:
        if spec.get("data") == WITHOUT_DATA:
            del spec["data"]
            datasets.pop("empty", None)
    return {"layer": specs} | ({"datasets": datasets} if datasets else {})


WITHOUT_DATA = {"name": "empty"}
"""What Altair writes for a layer that takes the data of the whole chart."""


def has_values(rows: Rows, field: str) -> bool:
    """Whether any row has the field: an empty layer would have no scale, and Vega warns about it."""
    return any(row.get(field) is not None for row in rows)


def inline(rows: Rows) -> alt.InlineData:
    """Rows inside the specification."""
    return alt.InlineData(values=rows)
