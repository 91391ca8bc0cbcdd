"""A chart: a Vega-Lite specification, its name, and what it shows in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import vl_convert

from beholder.report.site.theme import chart_config

Spec = dict[str, Any]
"""A Vega-Lite specification as plain JSON."""

Rows = list[dict[str, object]]
"""The data of a chart."""

VEGA_LITE = "6.1"
"""Version of the bundle and of the still drawings; what the charts use has not changed since 5.8."""

STILL_WIDTH = 560
"""Width of a stand-alone drawing; on the page a chart is as wide as its column."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of the page. ``name`` is unique in a report, and its file's name."""

    name: str
    alt: str
    """What it shows, for a reader who does not see it."""
    spec: Spec

    def svg(self) -> str:
        """A still drawing, its colours being CSS variables."""
        still = {**self.spec, "width": STILL_WIDTH}
        return str(vl_convert.vegalite_to_svg(still, vl_version=VEGA_LITE))


def finish_chart(layers: Sequence[alt.Chart], rows: Rows, name: str, alt_text: str, *, height: int) -> Chart:
    """The layers over their common rows, as wide as their column, in the theme of the page."""
    chart = alt.layer(*layers, data=inline(rows)).properties(width="container", height=height)
    spec: Spec = chart.to_dict(validate=False)
    spec.pop("$schema", None)
    spec["description"] = alt_text
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["config"] = chart_config()
    return Chart(name, alt_text, spec)


def has_values(rows: Rows, field: str) -> bool:
    """Whether any row has the field: an empty layer would have no scale, and Vega warns about it."""
    return any(row.get(field) is not None for row in rows)


def inline(rows: Rows) -> alt.InlineData:
    """Rows inside the specification."""
    return alt.InlineData(values=rows)
