"""Inpainters of the synthetic world: exact outside the mask and inside it, with the ground truth of the rest."""

import math

import numpy as np
import pytest

from beholder.errors import UserError
from beholder.models.pipelines.inpainter import Inpainter, inpaint_within
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.inpainting.oracle import WorldInpainter
from beholder.simulate.inpainting.origins import Origin
from beholder.simulate.painter import Policy, to_bytes

POLICY = Policy("bad", implausible=3.0, misaligned=0.2, composition=0.3, haze=0.4, severity=0.8)
PROMPT = prompt_text(draw_requests(1, np.random.default_rng(4))[0])


def origin(number: int, policy: Policy = POLICY) -> Origin:
    return Origin(PROMPT, policy, (number, 5), 64)


@pytest.mark.parametrize("number", range(6))
def test_flawed_and_flawless_renders_differ_in_no_pixel_outside_the_truth_mask(number: int) -> None:
    painting = origin(number).paint()
    implausible = painting.truth(painting.regions).implausible
    assert np.array_equal(to_bytes(painting.plain)[~implausible], to_bytes(painting.spoiled)[~implausible])
    assert np.array_equal(painting.plain, painting.spoiled) == (not painting.regions)


def test_the_exact_inpainter_removes_what_the_mask_covers() -> None:
    inpainter: Inpainter = WorldInpainter()
    world = WorldInpainter()
    image = world.know(origin(1))
    mask = world.truth(image).implausible
    (after,) = inpaint_within(world, [image], [mask], [PROMPT], [0])
    assert not world.truth(after).implausible.any()
    assert world.truth(after).plausibility == pytest.approx(1 - 0.1 * POLICY.haze)  # by hand: nothing but haze
    assert np.array_equal(after[~mask], image[~mask])
    assert inpainter.identity == "world-exact"


def test_what_is_left_of_a_region_counts_with_the_area_that_is_left() -> None:
    """By hand: v = s · (1 − exp(−a / .03)) of the rest, P = (1 − .1 h) · Π (1 − .75 v)."""
    world = WorldInpainter()
    image = world.know(origin(2))
    mask = np.zeros((64, 64), np.bool_)
    mask[:, :32] = True
    (after,) = world.inpaint([image], [mask], [PROMPT], [0])
    expected = 1 - 0.1 * POLICY.haze
    for region in origin(2).paint().regions:
        area = np.count_nonzero(region.mask[:, 32:]) / 64**2
        expected *= 1 - 0.75 * region.severity * (1 - math.exp(-area / 0.03))
    assert world.truth(after).plausibility == pytest.approx(expected)
    (nothing,) = world.inpaint([image], [np.zeros_like(mask)], [PROMPT], [0])
    assert np.array_equal(nothing, image)


def test_the_erring_inpainter_errs_at_its_rate_and_within_the_mask() -> None:
    plain = origin(3, Policy("good", implausible=0, misaligned=0, composition=0))
    world = WorldInpainter(error=0.5)
    image = world.know(plain)
    mask = np.zeros((64, 64), np.bool_)
    mask[10:40, 10:40] = True
    tries = world.inpaint([image] * 60, [mask] * 60, [PROMPT] * 60, list(range(60)))
    worse = sum(world.truth(after).plausibility < world.truth(image).plausibility for after in tries)
    assert 18 <= worse <= 42  # binomial(60, .5): outside with a probability of .0012
    assert all(np.array_equal(after[~mask], image[~mask]) for after in tries)
    again = world.inpaint([image], [mask], [PROMPT], [7])[0]
    assert np.array_equal(again, tries[7])


def test_images_from_elsewhere_are_refused() -> None:
    with pytest.raises(UserError, match="did not paint"):
        WorldInpainter().truth(np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(UserError, match="probability"):
        WorldInpainter(error=2)
