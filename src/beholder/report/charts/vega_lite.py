"""Vega-Lite specifications as plain dictionaries.

What Altair writes, for the few constructs that the charts use: importing Altair takes as long as composing the
whole report.

Reference: https://vega.github.io/vega-lite/docs/
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

Spec = dict[str, Any]
"""A specification, or a part of it, as plain JSON."""

Rows = list[dict[str, object]]
"""The data of a chart."""

TYPES = {"Q": "quantitative", "N": "nominal"}


def channel(shorthand: str, **options: object) -> Spec:
    """Return the encoding of a field.

    Args:
        shorthand: The field and its type, such as ``"rating:Q"``.
        options: Scale, axis, title and others, as in Vega-Lite; ``None`` turns one off.

    Returns:
        The definition of the channel.

    Example:
        >>> channel("rating:Q", title=None)
        {'field': 'rating', 'type': 'quantitative', 'title': None}
    """
    field, _, kind = shorthand.rpartition(":")
    return {"field": field, "type": TYPES[kind], **options}


def end_channel(field: str) -> Spec:
    """Return the other end of a bar or area: a field on the scale of the first channel."""
    return {"field": field}


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a chart. Every method returns a new one.

    Example:
        >>> layer = Layer().filter("datum.low != null").mark("rule", opacity=0.5).encode(x=channel("low:Q"))
        >>> layer.spec()["mark"]
        {'type': 'rule', 'opacity': 0.5}
    """

    rows: Rows | None = None
    """Rows of its own; otherwise those of the whole chart."""
    transforms: tuple[Spec, ...] = ()
    drawn: Spec | None = None
    encoding: Spec | None = None

    def filter(self, expression: str) -> Self:
        """Only rows for which the expression holds."""
        return self._transformed({"filter": expression})

    def calculate(self, field: str, expression: str) -> Self:
        """Add a field to every row."""
        return self._transformed({"calculate": expression, "as": field})

    def flatten(self, fields: Sequence[str]) -> Self:
        """One row for each element of these fields, which are lists."""
        return self._transformed({"flatten": list(fields)})

    def mark(self, kind: str, **options: object) -> Self:
        """Draw a mark for every row: ``point``, ``rule``, ``text`` and so on."""
        return replace(self, drawn={"type": kind, **options})

    def encode(self, **channels: object) -> Self:
        """Say what the position, colour and shape of marks mean."""
        return replace(self, encoding=channels)

    def spec(self) -> Spec:
        """The layer as JSON."""
        parts = {
            "data": None if self.rows is None else {"values": self.rows},
            "transform": list(self.transforms) or None,
            "mark": self.drawn,
            "encoding": self.encoding,
        }
        return {name: part for name, part in parts.items() if part is not None}

    def _transformed(self, transform: Spec) -> Self:
        return replace(self, transforms=(*self.transforms, transform))
