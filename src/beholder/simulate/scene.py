"""Where everything stands: a request laid out in unit coordinates (x right, y down, the frame is [0, 1]²).

Objects stand on the ground; of two groups one above the other, the upper one hangs in the air. Radii come from a
short geometric ladder, so that drawn objects can be cached.
"""

from dataclasses import dataclass, replace

import numpy as np

from beholder.simulate.backdrop import VARIANTS, View
from beholder.simulate.grammar import JOINED, Group, Request
from beholder.simulate.objects import FOOT

RADII = tuple(0.29 * 2 ** (-step / 4) for step in range(10))
"""The ladder of radii, from .29 down to .061 of the frame."""

TILTS = (-0.05, 0.0, 0.05)
"""How objects lean, in radians: a little, lest flawless pictures look askew."""

_SIZE_STEP = {"large": 0, "": 1, "small": 3}
_SLOTS: dict[int, tuple[tuple[float, float], ...]] = {  # middles of n objects, in half-widths of their box
    1: ((0.0, 0.0),),
    2: ((-0.5, -0.3), (0.5, 0.3)),
    3: ((-0.62, 0.35), (0.0, -0.6), (0.62, 0.35)),
    4: ((-0.52, -0.75), (0.6, -0.6), (-0.6, 0.5), (0.52, 0.65)),
}
_ROWS: dict[int, tuple[tuple[float, float], ...]] = {
    1: ((0.0, 0.0),),
    2: ((-0.45, 0.0), (0.45, 0.06)),
    3: ((-0.66, 0.05), (0.0, -0.04), (0.66, 0.05)),
    4: ((-0.75, 0.04), (-0.25, -0.05), (0.25, 0.05), (0.75, -0.04)),
}


@dataclass(frozen=True, slots=True)
class Placed:
    """One object in the picture."""

    group: int  # 0 or 1
    kind: str
    colour: str
    x: float  # of its middle
    y: float
    radius: float
    tilt: float
    grounded: bool  # stands on the ground, or hangs in the air
    extra: bool = False  # one more than the prompt asks for


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture ready to be rendered."""

    objects: tuple[Placed, ...]  # from back to front
    missing: tuple[Placed, ...]  # asked for, and not there
    view: View
    tone: tuple[float, float, float]  # multiplies the finished picture: the camera's exposure and white balance
    contrast: float = 1.0


def lay_out(painted: Request, rng: np.random.Generator, *, requested: tuple[int, ...] = ()) -> Scene:
    """Place the objects of ``painted``; ``requested`` are the counts that the prompt asks for, where they differ.

    Each group has as many places as objects painted or requested, whichever is more: requested objects that are
    not painted leave a gap (``Scene.missing``), painted ones that were not requested are marked ``extra``.
    """
    requested = requested or tuple(group.count for group in painted.groups)
    boxes = _boxes(painted, rng)
    objects: list[Placed] = []
    missing: list[Placed] = []
    for index, (group, box) in enumerate(zip(painted.groups, boxes, strict=True)):
        places = _places(index, group, box, max(group.count, requested[index]), rng)
        objects += places[: requested[index]][: group.count]
        objects += [replace(placed, extra=True) for placed in places[requested[index] : group.count]]
        missing += places[group.count :]
    objects.sort(key=lambda placed: placed.y + FOOT * placed.radius)
    view = View(painted.setting, painted.style, int(rng.integers(VARIANTS)))
    gain, warmth = 1 + 0.05 * float(rng.standard_normal()), 0.025 * float(rng.standard_normal())
    gain = min(max(gain, 0.9), 1.1)
    return Scene(tuple(objects), tuple(missing), view, (gain * (1 + warmth), gain, gain * (1 - warmth)))


@dataclass(frozen=True, slots=True)
class _Box:
    """The room a group has."""

    x: float  # of its middle
    y: float
    half_width: float
    half_height: float
    step: tuple[int, int, int, int]  # ladder step of one … four large objects
    grounded: bool
    row: bool  # side by side, or in two rows


def _boxes(request: Request, rng: np.random.Generator) -> tuple[_Box, ...]:
    row = bool(rng.random() < 0.5)
    if len(request.groups) == 1:
        return (_Box(0.5, 0.62, 0.45, 0.19, (0, 2, 4, 5), True, row),)
    relation = request.relation
    if relation == JOINED:
        relation = "left of" if rng.random() < 0.5 else "right of"
    if relation in ("left of", "right of"):
        left = _Box(0.26, 0.63, 0.23, 0.19, (2, 5, 6, 6), True, False)
        right = replace(left, x=0.74)
        return (left, right) if relation == "left of" else (right, left)
    upper = _Box(0.5, 0.26, 0.45, 0.12, (3, 3, 5, 6), False, True)
    lower = replace(upper, y=0.70, grounded=True)
    return (upper, lower) if relation == "above" else (lower, upper)


def _places(index: int, group: Group, box: _Box, count: int, rng: np.random.Generator) -> list[Placed]:
    radius = RADII[box.step[count - 1] + _SIZE_STEP[group.size]]
    slots = (_ROWS if box.row else _SLOTS)[count]
    turn = int(rng.integers(count))
    jitter = rng.uniform(-0.14, 0.14, (count, 2)) * radius
    tilts = rng.integers(len(TILTS), size=count)
    places = []
    for number in range(count):
        dx, dy = slots[(number + turn) % count]
        x = box.x + dx * box.half_width + float(jitter[number, 0])
        y = box.y + dy * box.half_height + float(jitter[number, 1])
        if box.grounded:
            y += 0.18 - FOOT * radius
        x, y = (min(max(v, 0.98 * radius), 1 - 0.98 * radius) for v in (x, y))
        tilt = TILTS[int(tilts[number])]
        places.append(Placed(index, group.kind, group.colour, x, y, radius, tilt, box.grounded))
    return places
