import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.simulate.backdrop import View, backdrop
from beholder.simulate.grammar import OBJECTS, STYLES, Group, Request, draw_request
from beholder.simulate.memo import Memo
from beholder.simulate.noise import value_noise
from beholder.simulate.objects import FOOT, PATCHES
from beholder.simulate.palette import COLOUR_RGB
from beholder.simulate.render import render
from beholder.simulate.scene import Placed, Scene, lay_out
from beholder.simulate.shapes import (
    Field,
    Shape,
    box,
    circle,
    coverage,
    ellipse,
    line,
    polygon,
    ring,
    union,
    without,
)
from beholder.simulate.sprite import sprite

seeds = st.integers(0, 2**32 - 1)


def grid(side: int, reach: float) -> tuple[Field, Field]:
    steps = ((np.arange(side) + 0.5) / side * 2 - 1) * reach
    x, y = np.meshgrid(steps.astype(np.float32), steps.astype(np.float32))
    return x, y


def area(shape: Shape, *, side: int = 200, reach: float = 1.0) -> float:
    """The covered area in the units of the shape."""
    pixel = 2 * reach / side
    return float(coverage(shape(*grid(side, reach)) / np.float32(pixel)).sum()) * pixel**2


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (circle(0.1, -0.05, 0.7), np.pi * 0.7**2),
        (ellipse(0, 0, 0.8, 0.4, 0.6), np.pi * 0.8 * 0.4),
        (box(0.05, 0, 0.5, 0.3), 4 * 0.5 * 0.3),
        (box(0, 0, 0.5, 0.3, 0.1), 4 * 0.5 * 0.3 - (4 - np.pi) * 0.1**2),  # the corners lose (4 − π) r²
        (line(-0.5, -0.5, 0.5, 0.5, 0.1), np.sqrt(2) * 0.2 + np.pi * 0.1**2),  # a rectangle and two half disks
        (polygon([(-0.6, 0.5), (0.6, 0.5), (0, -0.7)]), 1.2 * 1.2 / 2),
        (polygon([(-0.6, 0.5), (0, -0.7), (0.6, 0.5)]), 1.2 * 1.2 / 2),  # the other way round
        (ring(0, 0, 0.6, 0.1), np.pi * (0.7**2 - 0.5**2)),
        (union(circle(-0.5, 0, 0.3), circle(0.5, 0, 0.3)), 2 * np.pi * 0.3**2),
        (without(circle(0, 0, 0.8), circle(0, 0, 0.4)), np.pi * (0.8**2 - 0.4**2)),
    ],
)
def test_shapes_cover_their_area(shape: Shape, expected: float) -> None:
    assert area(shape) == pytest.approx(expected, rel=0.01)


def test_a_disk_of_ten_pixels_covers_its_area() -> None:
    assert area(circle(0.03, 0.02, 0.5), side=20) == pytest.approx(np.pi / 4, rel=0.01)


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_fill_their_square_and_stand_on_their_foot(kind: str) -> None:
    x, y = grid(300, 1.2)
    inside = np.min([patch.shape(x, y) for patch in PATCHES[kind]], axis=0) < 0
    assert y[inside].max() == pytest.approx(FOOT, abs=0.06)
    assert np.abs(x[inside]).max() <= 1
    assert y[inside].min() >= -1
    assert 0.08 < inside.mean() < 0.6


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", OBJECTS)
def test_sprites_are_bounded_and_show_the_colour_asked_for(kind: str, style: str) -> None:
    drawn = sprite(kind, style, 20.0, 0.12)
    assert float(drawn.through.min()) >= 0
    assert float(drawn.through.max()) <= 1
    assert float(drawn.own[drawn.solid].mean()) > 0.2
    assert not drawn.solid[[0, -1]].any()  # nothing is cut by the sprite's own border
    assert not drawn.solid[:, [0, -1]].any()


def test_noise_is_the_lattice_at_whole_numbers_and_repeats() -> None:
    x, y = np.meshgrid(np.arange(5, dtype=np.float32), np.arange(4, dtype=np.float32))
    lattice = np.random.default_rng(3).uniform(-1, 1, (64, 64)).astype(np.float32)
    assert np.array_equal(value_noise(x, y, 3), lattice[:4, :5])
    assert np.array_equal(value_noise(x + 64, y - 64, 3), lattice[:4, :5])
    middle = value_noise(np.array([0.5], np.float32), np.array([0.0], np.float32), 3)
    assert middle[0] == pytest.approx((lattice[0, 0] + lattice[0, 1]) / 2)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_the_same_seed_gives_the_same_picture(seed: int) -> None:
    first, second = (_random_scene(seed) for _ in range(2))
    assert first == second
    a, b = render(first, 64), render(second, 64)
    assert np.array_equal(a.pixels, b.pixels)
    assert np.array_equal(a.labels, b.labels)
    assert a.pixels.dtype == np.float32
    assert a.pixels.min() >= 0
    assert a.pixels.max() <= 1


@settings(max_examples=12, deadline=None)
@given(seeds)
def test_small_and_large_are_the_same_picture(seed: int) -> None:
    scene = _random_scene(seed)
    small, large = render(scene, 64).pixels, render(scene, 256).pixels
    reduced = large.reshape(64, 4, 64, 4, 3).mean(axis=(1, 3))
    assert float(np.abs(small - reduced).mean()) < 0.035
    blocks = (p.reshape(16, 4, 16, 4, 3).mean(axis=(1, 3)).ravel() for p in (small, reduced))
    assert np.corrcoef(*blocks)[0, 1] > 0.97


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_relations_hold_and_objects_stay_in_the_frame(seed: int) -> None:
    request = draw_request(np.random.default_rng(seed))
    scene = lay_out(request, np.random.default_rng(seed))
    assert len(scene.objects) == sum(group.count for group in request.groups)
    assert not scene.missing
    assert all(0.9 * p.radius <= v <= 1 - 0.9 * p.radius for p in scene.objects for v in (p.x, p.y))
    first, second = ([p for p in scene.objects if p.group == index] for index in (0, 1))
    if request.relation == "left of":
        assert max(p.x for p in first) < min(p.x for p in second)
    elif request.relation == "right of":
        assert min(p.x for p in first) > max(p.x for p in second)
    elif request.relation == "above":
        assert max(p.y for p in first) < min(p.y for p in second)
    elif request.relation == "below":
        assert min(p.y for p in first) > max(p.y for p in second)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_every_object_can_be_seen(seed: int) -> None:
    scene = _random_scene(seed)
    labels = render(scene, 64).labels
    assert set(np.unique(labels)) == {-1, *range(len(scene.objects))}


def test_counts_that_differ_leave_gaps_or_extras() -> None:
    painted = Request((Group(2, "", "red", "ball"), Group(3, "", "blue", "cat")), "above", "at sunset", "photo")
    scene = lay_out(painted, np.random.default_rng(0), requested=(4, 1))
    assert [placed.group for placed in scene.missing] == [0, 0]
    assert [placed.group for placed in scene.objects if placed.extra] == [1, 1]
    assert len(scene.objects) == 5


def test_large_is_larger_than_small() -> None:
    radii = [
        lay_out(Request((Group(2, size, "red", "ball"),), "", "at sunset", "photo"), np.random.default_rng(0))
        .objects[0]
        .radius
        for size in ("small", "", "large")
    ]
    assert radii[0] * 1.3 < radii[1] < radii[2]


@pytest.mark.parametrize("colour", COLOUR_RGB)
def test_objects_have_their_colour(colour: str) -> None:
    # A cartoon cube without ink at its middle: the lit left face is 0.86 × 1.03 of the colour.
    view = View("on a tiled floor", "cartoon", 0)
    scene = Scene((Placed(0, "cube", colour, 0.5, 0.5, 0.29, 0.0, True),), (), view, (1.0, 1.0, 1.0))
    face = render(scene, 256).pixels[140, 90]
    assert face == pytest.approx(np.array(COLOUR_RGB[colour]) * 0.86 * 1.03, abs=0.02)


def test_a_backdrop_may_be_painted_on_without_harm() -> None:
    view = View("on a beach", "photo", 1)
    before = backdrop(view, 64)
    backdrop(view, 64)[...] = 0
    assert np.array_equal(backdrop(view, 64), before)


def test_a_tilted_backdrop_keeps_its_middle_column() -> None:
    straight, tilted = (
        backdrop(View("at sunset", "photo", 0), 65),
        backdrop(View("at sunset", "photo", 0, 0.2), 65),
    )
    assert np.array_equal(straight[:, 32], tilted[:, 32])
    assert not np.array_equal(straight[:, 0], tilted[:, 0])


def test_the_memory_forgets_the_oldest_beyond_its_limit() -> None:
    computed: list[str] = []

    def make(name: str) -> bytes:
        computed.append(name)
        return name.encode() * 4

    memo: Memo[bytes] = Memo(8, len)  # room for two values of four bytes
    for name in ("a", "b", "a", "c", "a", "b"):
        assert memo.get(name, lambda name=name: make(name)) == name.encode() * 4  # type: ignore[misc]
    assert computed == ["a", "b", "c", "b"]  # c pushed out b, the least recently used


def _random_scene(seed: int) -> Scene:
    rng = np.random.default_rng(seed)
    return lay_out(draw_request(rng), rng)
