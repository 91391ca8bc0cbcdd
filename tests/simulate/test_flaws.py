import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import UserError
from beholder.simulate.composition import COMPOSITIONS, compose_badly, haze
from beholder.simulate.flaws import FLAWS, Mask, Spot, draw_spot, spoil
from beholder.simulate.grammar import Attribute, Group, Request, draw_request, stated
from beholder.simulate.misalign import alter, misalign
from beholder.simulate.render import Rendering, render
from beholder.simulate.scene import Scene, lay_out

seeds = st.integers(0, 2**32 - 1)


def random_scene(seed: int) -> Scene:
    rng = np.random.default_rng(seed)
    return lay_out(draw_request(rng), rng)


def spoiled(name: str, seed: int, severity: float, size: int = 64) -> tuple[Rendering, np.ndarray, Mask]:
    scene, rng = random_scene(seed), np.random.default_rng(seed)
    before = render(scene, size)
    spot = draw_spot(scene, rng)
    return before, *spoil(name, before.pixels, before.labels, spot, severity, rng)


@pytest.mark.parametrize("name", FLAWS)
@settings(max_examples=30, deadline=None)
@given(seed=seeds, severity=st.floats(0.01, 1))
def test_nothing_changes_outside_the_mask(name: str, seed: int, severity: float) -> None:
    before, after, mask = spoiled(name, seed, severity)
    assert mask.any()
    assert np.array_equal(before.pixels[~mask], after[~mask])
    assert after.dtype == np.float32
    assert after.min() >= 0
    assert after.max() <= 1


@pytest.mark.parametrize("name", FLAWS)
def test_half_severity_is_visible(name: str) -> None:
    changes = []
    for seed in range(60):
        before, after, mask = spoiled(name, seed, 0.5)
        changes.append(float((np.abs(after - before.pixels).max(axis=2)[mask] > 0.06).mean()))
    assert np.mean(changes) > 0.3  # of the mask
    assert np.quantile(changes, 0.05) > 0.04


@pytest.mark.parametrize("name", FLAWS)
def test_more_severe_is_more_change_on_average(name: str) -> None:
    def change(severity: float) -> float:
        pairs = (spoiled(name, seed, severity) for seed in range(40))
        return float(np.mean([np.abs(after - before.pixels).sum() for before, after, _ in pairs]))

    assert change(0.1) < change(0.4) < change(1.0)


@pytest.mark.parametrize("name", FLAWS)
def test_a_flaw_is_in_the_same_place_at_every_size(name: str) -> None:
    for seed in range(10):
        small, large = spoiled(name, seed, 0.8, 64)[2], spoiled(name, seed, 0.8, 256)[2]
        reduced = large.reshape(64, 4, 64, 4).mean(axis=(1, 3))
        assert np.abs(small - reduced).sum() < 0.35 * reduced.sum() + 12


def test_a_spot_is_a_disk_of_its_radius() -> None:
    pixels, labels = np.zeros((200, 200, 3), np.float32), np.full((200, 200), -1, np.int8)
    _, mask = spoil("melted", pixels, labels, Spot(0.5, 0.5, 0.2), 1.0, np.random.default_rng(0))
    assert mask.mean() == pytest.approx(np.pi * 0.2**2, rel=0.01)


def test_an_unknown_flaw_or_severity_is_refused() -> None:
    before = render(random_scene(0), 32)
    spot, rng = Spot(0.5, 0.5, 0.2), np.random.default_rng(0)
    with pytest.raises(UserError, match="'bent', expected one of melted, duplicated, torn, noisy"):
        spoil("bent", before.pixels, before.labels, spot, 0.5, rng)
    with pytest.raises(UserError, match=r"severity of a flaw is 1\.5"):
        spoil("torn", before.pixels, before.labels, spot, 1.5, rng)


@settings(max_examples=60, deadline=None)
@given(seed=seeds, rate=st.sampled_from([0.0, 0.3, 1.0]))
def test_what_is_wrong_differs_and_what_is_not_wrong_does_not(seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    request = draw_request(rng)
    misalignment = misalign(request, rate, rng)
    assert len(misalignment.names) == len(misalignment.wrong) == len(set(misalignment.wrong))
    assert set(misalignment.wrong) <= set(stated(request))
    for index, (requested, painted) in enumerate(zip(request.groups, misalignment.painted.groups, strict=True)):
        for name, differs in (
            ("object", requested.kind != painted.kind),
            ("colour", requested.colour != painted.colour),
            ("count", requested.count != painted.count),
            ("size", requested.size != painted.size),
        ):
            assert differs == (Attribute(name, index) in misalignment.wrong)
    assert (request.relation != misalignment.painted.relation) == (Attribute("relation") in misalignment.wrong)
    assert (request.setting, request.style) == (misalignment.painted.setting, misalignment.painted.style)
    if rate == 1:
        assert {a for a in stated(request) if a.name not in ("setting", "style")} == set(misalignment.wrong)


def test_an_unstated_relation_and_the_setting_cannot_be_wrong() -> None:
    request = Request((Group(1, "", "red", "ball"), Group(1, "", "red", "cat")), "and", "at sunset", "photo")
    rng = np.random.default_rng(0)
    for attribute in (Attribute("relation"), Attribute("setting"), Attribute("size", 0)):
        assert alter(request, attribute, rng) == request


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("severity", [0.2, 1.0])
def test_a_bad_composition_changes_the_picture_and_not_what_it_shows(name: str, severity: float) -> None:
    for seed in range(10):
        scene = random_scene(seed)
        bad = compose_badly(scene, name, severity, np.random.default_rng(seed))
        assert [(p.kind, p.colour, p.radius) for p in bad.objects] == [
            (p.kind, p.colour, p.radius) for p in scene.objects
        ]
        assert not np.array_equal(render(bad, 64).pixels, render(scene, 64).pixels)


def test_a_cropped_object_hangs_out_by_its_radius_at_full_severity() -> None:
    for seed in range(20):
        bad = compose_badly(random_scene(seed), "cropped", 1.0, np.random.default_rng(seed))
        overhang = max(max(p.radius - p.x, p.x + p.radius - 1) / p.radius for p in bad.objects)
        assert overhang == pytest.approx(1.0)


def test_flat_contrast_narrows_the_range_and_haze_smooths() -> None:
    scene = random_scene(3)
    sharp = render(scene, 64).pixels
    flat = render(compose_badly(scene, "flat contrast", 1.0, np.random.default_rng(0)), 64).pixels
    assert flat.std() < 0.5 * sharp.std()
    roughness = [float(np.abs(np.diff(haze(sharp, strength), axis=0)).mean()) for strength in (0.0, 0.3, 0.6, 1.0)]
    assert roughness == sorted(roughness, reverse=True)
    assert np.array_equal(haze(sharp, 0.0), sharp)
