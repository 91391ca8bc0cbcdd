"""The painted generator: its rendering in torch, its ground truth by hand, and the habits of its flow."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from beholder.simulate import ground_truth as score
from beholder.simulate.grammar import draw_requests, parse_prompt, prompt_text, stated
from beholder.simulate.painted.canvas import canvas
from beholder.simulate.painted.flow import _draw_example, load_base
from beholder.simulate.painted.generator import PaintedGenerator
from beholder.simulate.painted.habits import draw_latents, features
from beholder.simulate.painted.latents import (
    ABSENT_BELOW,
    CONTRAST,
    DIMS,
    FIRST_GAIN,
    FIRST_PATTERN,
    HAZE,
    REGIONS,
    split,
)
from beholder.simulate.painted.picture import picture, render_latents
from beholder.simulate.painted.rendering import TOLERANCE, render_tensors, stack_canvases
from beholder.simulate.render import render

SIZE = 48
PROMPT = "two red balls left of a large blue house, in a meadow, photo style"


def absent() -> np.ndarray:
    latents = np.zeros(DIMS, np.float32)
    latents[:FIRST_GAIN] = ABSENT_BELOW - 0.2
    return latents


def test_torch_and_numpy_render_the_same_pixels() -> None:
    rng = np.random.default_rng(0)
    drawn = [canvas(prompt_text(request), seed, SIZE) for seed, request in enumerate(draw_requests(6, rng))]
    latents = rng.normal(0.3, 0.6, (6, DIMS)).astype(np.float32)
    latents[:, FIRST_GAIN:] *= 0.15
    ours = render_tensors(stack_canvases(drawn), torch.from_numpy(latents)).movedim(1, -1).numpy()
    theirs = np.stack([render_latents(one, split(row[None])) for one, row in zip(drawn, latents, strict=True)])
    assert np.abs(ours - theirs).max() < TOLERANCE


def test_gradients_of_the_rendering_are_those_of_small_differences() -> None:
    drawn = stack_canvases([canvas(PROMPT, 3, SIZE)])
    latents = torch.full((1, DIMS), 0.3, dtype=torch.float64)
    latents[:, FIRST_GAIN:] = 0.01
    tensors = type(drawn)(drawn.clean.double(), drawn.flawed, drawn.altered)
    weights = torch.rand(1, 3, SIZE, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def total(rows: torch.Tensor) -> torch.Tensor:
        return (render_tensors(tensors, rows) * weights).sum()

    leaf = latents.clone().requires_grad_()
    (slope,) = torch.autograd.grad(total(leaf), leaf)
    for dim in (0, REGIONS, HAZE, CONTRAST, FIRST_GAIN, FIRST_PATTERN):
        step = torch.zeros_like(latents)
        step[0, dim] = 1e-5
        rise = float(total(latents + step) - total(latents - step)) / 2e-5
        assert float(slope[0, dim]) == pytest.approx(rise, rel=1e-2, abs=1e-3), dim
    assert (slope[0] != 0).sum() >= 20


def test_without_flaws_the_picture_is_the_rendered_scene_and_its_scores_are_perfect() -> None:
    drawn = canvas(PROMPT, 1, SIZE)
    flawless = picture(drawn, absent())
    assert (flawless.pixels == (render(drawn.scene, SIZE).pixels * 255 + np.float32(0.5)).astype(np.uint8)).all()
    assert flawless.truth.plausibility == flawless.truth.alignment == 1
    assert flawless.truth.detectability == 0
    assert flawless.truth.flaws == ()
    assert not flawless.truth.implausible.any()


def test_the_ground_truth_by_hand() -> None:
    drawn = canvas(PROMPT, 1, SIZE)
    latents = absent()
    latents[0], latents[HAZE] = 0.5, 0.4
    latents[FIRST_GAIN : FIRST_GAIN + 3] = 0.3  # root mean square .3: tint (.3 − .1)/(.5 − .1) = .5
    latents[FIRST_PATTERN] = 0.06  # (.06 − .03)/(.18 − .03) = .2
    truth = picture(drawn, latents).truth
    area = drawn.masks[0].mean()
    region, grid = 0.5 * (1 - math.exp(-area / 0.03)), 0.2 * (1 - math.exp(-1 / 0.03))
    plausibility = (1 - 0.1 * 0.4) * (1 - 0.75 * region) * (1 - 0.75 * grid)
    assert truth.plausibility == pytest.approx(plausibility, rel=1e-6)
    taste = score.taste(drawn.scene)
    aesthetics = taste * (1 - 0.5 * 0.5) * (1 - 0.2 * 0.4) * (1 - 0.3 * (1 - plausibility))
    assert truth.aesthetics == pytest.approx(aesthetics, rel=1e-6)
    assert truth.detectability == pytest.approx(math.sqrt((2.8 * region) ** 2 + (2.8 * grid) ** 2 + 0.56**2))
    assert truth.implausible.all()  # the pattern fills the frame
    assert truth.flaws == (drawn.kinds[0], "colour cast", "pattern", "haze")


def test_a_full_mixture_is_a_wrong_attribute_and_a_half_one_half_of_it() -> None:
    drawn = canvas(PROMPT, 2, SIZE)
    wrong = drawn.candidates[0]
    assert wrong is not None
    latents = absent()
    latents[REGIONS] = 1.4  # clipped
    words = stated(parse_prompt(PROMPT))
    truth = picture(drawn, latents).truth
    assert truth.alignment == pytest.approx(score.alignment(words, [wrong]))
    assert truth.misaligned_words == words[wrong]
    assert truth.misaligned.any()
    latents[REGIONS] = 0.4
    half = picture(drawn, latents).truth
    total = sum(score.ATTRIBUTE_WEIGHTS[attribute.name] for attribute in words)
    assert half.alignment == pytest.approx((1 - 0.4 * score.ATTRIBUTE_WEIGHTS[wrong.name] / total) ** 1.5)
    assert half.misaligned_words == ()


def test_the_flow_imitates_the_habits() -> None:
    rng, flow = np.random.default_rng(4), load_base()
    drawn = [_draw_example(rng) for _ in range(600)]
    habits = np.stack([draw_latents(example, rng) for example in drawn])
    conditions = torch.from_numpy(np.stack([features(example) for example in drawn]))
    latents, times = (
        torch.from_numpy(rng.standard_normal((600, DIMS)).astype(np.float32)),
        torch.linspace(1, 0, 13),
    )
    with torch.no_grad():
        for now, after in pairwise(times):
            latents = latents + (after - now) * flow(latents, now.expand(600), conditions)
    sampled = (latents * flow.scale).numpy()
    rates = [(rows[:, :FIRST_GAIN] > ABSENT_BELOW).mean(axis=0) for rows in (habits, sampled)]
    assert np.abs(rates[0] - rates[1]).max() < 0.09  # three standard errors of a difference at n = 600 are .087
    assert sampled[:, FIRST_PATTERN:].std() == pytest.approx(0.004, rel=0.15)


def test_equal_seeds_give_equal_images_and_other_seeds_other_scenes() -> None:
    generator = PaintedGenerator(size=32)
    noise = generator.noise([PROMPT, PROMPT], [7, 8])
    assert torch.equal(noise, PaintedGenerator(size=32).noise([PROMPT, PROMPT], [7, 8]))
    assert not torch.equal(noise[0], noise[1])
    context = generator.context([PROMPT, PROMPT], [7, 8])
    assert not torch.equal(*context.tensors.clean)
    without = generator.context([PROMPT], [7], [[0]])  # "two" is not heard
    heard = generator.context([PROMPT], [7])
    changed = bool((without.features != heard.features).any())
    assert changed == any(candidate == ("count", 0) for candidate in context.canvases[0].candidates)
