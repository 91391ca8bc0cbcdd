"""The ground truth of a synthetic image: its scores, as formulas.

All scores are in [0, 1] and 1 is flawless. With s the severity and a the area (proportion of the frame) of each
implausible region, h the haze, c the severity of the composition flaw (0 without one):

- visibility     v = s · (1 − exp(−a / 0.03))
- plausibility   P = (1 − 0.1 h) · Π (1 − 0.75 v)
- alignment      A = (1 − W)^1.5, W the proportion of the prompt's attributes that are wrong, by weight
- aesthetics     E = taste · (1 − 0.5 c) · (1 − 0.2 h) · (1 − 0.3 (1 − P))
- overall        O = 0.35 P + 0.35 A + 0.30 E
- detectability  d′ = √( Σ (2.8 v)² + (1.4 h)² )

A flawless picture has P = A = 1 and d′ = 0; its aesthetics are its taste, in [0.78, 1]: some flawless
images are liked better than others, too.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from beholder.simulate.grammar import Attribute
from beholder.simulate.palette import COLOUR_RGB, LIGHTS
from beholder.simulate.scene import Scene

ATTRIBUTE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"object": 1.0, "colour": 0.8, "relation": 0.8, "count": 0.7, "setting": 0.6, "size": 0.5, "style": 0.4}
)
"""How much it matters that each attribute of a prompt is rendered as requested."""


def visibility(severity: float, area: float) -> float:
    """Return how much one implausible region strikes the eye: s · (1 − exp(−a / 0.03)), in [0, 1)."""
    return severity * (1 - math.exp(-area / 0.03))


def plausibility(visibilities: Sequence[float], haze: float) -> float:
    """Return (1 − 0.1 h) · Π (1 − 0.75 v)."""
    return (1 - 0.1 * haze) * math.prod(1 - 0.75 * v for v in visibilities)


def alignment(stated: Iterable[Attribute], wrong: Iterable[Attribute]) -> float:
    """Return (1 − W)^1.5, with W the weight of the wrong attributes over that of all the prompt states."""
    total = sum(ATTRIBUTE_WEIGHTS[attribute.name] for attribute in stated)
    proportion = sum(ATTRIBUTE_WEIGHTS[attribute.name] for attribute in wrong) / total
    return float((1 - proportion) ** 1.5)


def taste(scene: Scene) -> float:
    """Return how well a scene pleases before any flaw: 1 − 0.12 · merging − 0.1 · clutter, in [0.78, 1].

    Merging is 1 where objects have the colour of what lies behind them and 0 from an RGB distance of 0.6 on,
    averaged over the objects; clutter grows from 0 for one object to 1 for eight.
    """
    light = LIGHTS[scene.view.setting]
    merging = 0.0
    for placed in scene.objects:
        near, far = light.ground if placed.grounded else light.sky
        rgb = COLOUR_RGB[placed.colour]
        squares = ((c * a - (n + f) / 2) ** 2 for c, a, n, f in zip(rgb, light.ambient, near, far, strict=True))
        merging += max(0.0, 1 - sum(squares) ** 0.5 / 0.6)
    count = len(scene.objects)
    return 1 - 0.12 * merging / count - 0.1 * min(1.0, (count - 1) / 7)


def aesthetics(taste: float, composition: float, haze: float, plausibility: float) -> float:
    """Return taste · (1 − 0.5 c) · (1 − 0.2 h) · (1 − 0.3 (1 − P))."""
    return taste * (1 - 0.5 * composition) * (1 - 0.2 * haze) * (1 - 0.3 * (1 - plausibility))


def overall(plausibility: float, alignment: float, aesthetics: float) -> float:
    """Return 0.35 P + 0.35 A + 0.30 E."""
    return 0.35 * plausibility + 0.35 * alignment + 0.30 * aesthetics


def detectability(visibilities: Sequence[float], haze: float) -> float:
    """Return d′ = √( Σ (2.8 v)² + (1.4 h)² ): regions and haze are independent cues; misalignment is none."""
    return math.sqrt(sum((2.8 * v) ** 2 for v in visibilities) + (1.4 * haze) ** 2)
