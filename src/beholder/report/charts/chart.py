"""A chart: a Vega-Lite specification, its name, and what it shows in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beholder.report.charts.still import draw_still
from beholder.report.charts.vega_lite import Layer, Rows, Spec
from beholder.report.site.theme import chart_config


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
    layers: Sequence[Layer], rows: Rows, name: str, alt_text: str, *, columns: Mapping[str, str], height: int
) -> Chart:
    """The layers over their common rows, as wide as their column, in the theme of the page.

    ``columns`` are the fields that a reader copies as a table, with their heads.
    """
    spec: Spec = {"layer": [layer.spec() for layer in layers], "data": {"values": rows}}
    spec |= {"width": "container", "height": height}
    spec["usermeta"] = {"columns": [[field, head] for field, head in columns.items()]}  # in order
    spec["description"] = alt_text
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["config"] = chart_config()
    return Chart(name, alt_text, spec)


def has_values(rows: Rows, field: str) -> bool:
    """Whether any row has the field: an empty layer would have no scale, and Vega warns about it."""
    return any(row.get(field) is not None for row in rows)
