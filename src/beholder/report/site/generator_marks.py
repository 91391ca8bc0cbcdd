"""How a generator is marked on the whole page: by a colour and a shape."""

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.report.charts.vega_lite import channel
from beholder.report.site.theme import PALETTE, var

SHAPE_PATHS = {
    "circle": "M6 1.2A4.8 4.8 0 1 1 6 10.8A4.8 4.8 0 1 1 6 1.2Z",
    "square": "M1.7 1.7H10.3V10.3H1.7Z",
    "triangle-up": "M6 1L11.5 11H.5Z",
    "diamond": "M6 .5L10.5 6L6 11.5L1.5 6Z",
    "cross": "M4.5 1H7.5V4.5H11V7.5H7.5V11H4.5V7.5H1V4.5H4.5Z",
    "triangle-down": "M6 11L11.5 1H.5Z",
}
"""Vega's shapes in tables and keys, 12 pixels wide."""

SHAPES = ("circle", "square", "triangle-up", "cross", "triangle-down")
"""Without the diamond, which marks ground truth. Their number shares no divisor with that of the colours, so that
30 generators differ in colour, in shape, or in both."""

SHAPE = channel("shape:N", scale=None)
"""The channel of a chart whose rows have the fields of a mark."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The colour, as a CSS variable, and the shape of one generator."""

    colour: str
    shape: str

    def fields(self) -> dict[str, str]:
        """As columns of a chart's rows."""
        return {"colour": self.colour, "shape": self.shape}


UNRANKED = Mark(var("soft"), "circle")
"""Of what is on no leaderboard, such as real images."""


def generator_marks(generators: Sequence[str]) -> dict[str, Mark]:
    """The mark of each generator; neighbours in order differ in both. Beyond 30 they repeat."""
    return {
        generator: Mark(var(PALETTE[place % len(PALETTE)]), SHAPES[place % len(SHAPES)])
        for place, generator in enumerate(generators)
    }
