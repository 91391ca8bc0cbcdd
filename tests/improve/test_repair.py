"""Repair in the synthetic world: with the truth as critic it gains all, and a margin keeps what is worse out."""

from collections.abc import Callable

import numpy as np
import pytest

from beholder.errors import UserError
from beholder.improve.choosing import choose_repair
from beholder.improve.critic import Critic
from beholder.improve.gains import gain_row
from beholder.improve.margin import choose_margin, error_correlation
from beholder.improve.masks import MaskSettings, build_mask
from beholder.improve.repair import pixels_changed_outside, repair_images
from beholder.simulate.inpainting.oracle import WorldInpainter
from beholder.simulate.inpainting.origins import Origin

CriticOf = Callable[[WorldInpainter, float, str], Critic]


def test_a_perfect_scorer_and_inpainter_gain_all_that_is_possible(
    origins: list[Origin], critic_of: CriticOf
) -> None:
    world = WorldInpainter()
    images = [world.know(origin) for origin in origins]
    prompts = [origin.prompt for origin in origins]
    critic = critic_of(world, 0.0, "perfect")
    assert critic.heatmaps is not None
    settings = MaskSettings(0.5, 0.03, least_area=0.0, most_area=1.0)
    masks = [build_mask(heatmap, (48, 48), settings) for heatmap in critic.heatmaps(images, prompts)]
    repairs = repair_images(images, prompts, masks, critic, world, tries=1)
    for image, repair in zip(images, repairs, strict=True):
        assert world.truth(repair.after).plausibility == pytest.approx(world.possible(image).plausibility)
        assert pixels_changed_outside(repair) == 0
        assert repair.accepted == world.truth(image).implausible.any()


def test_tries_of_an_erring_inpainter_and_a_margin(origins: list[Origin], critic_of: CriticOf) -> None:
    world = WorldInpainter(error=0.7)
    images = [world.know(origin) for origin in origins]
    prompts = [origin.prompt for origin in origins]
    critic, other = critic_of(world, 0.1, "own"), critic_of(world, 0.1, "other")
    assert critic.heatmaps is not None
    maps = critic.heatmaps(images, prompts)
    choice = choose_repair(images[:10], prompts[:10], maps[:10], critic, world, held_out=other, tries=2)
    assert choice.judge == "other"
    assert len(choice.tried) == 12
    assert max(tried.gain for tried in choice.tried) > 0
    masks = [build_mask(heatmap, (48, 48), choice.masks) for heatmap in maps[10:]]
    worse, gains = {}, {}
    for margin in (0.0, choice.margin):
        repairs = repair_images(images[10:], prompts[10:], masks, critic, world, tries=3, margin=margin, seed=1)
        before = [world.truth(repair.before).plausibility for repair in repairs]
        after = [world.truth(repair.after).plausibility for repair in repairs]
        row = gain_row("ground truth", "plausibility", before, after, prompts[10:])
        worse[margin], gains[margin] = row["worse"], row["gain"]
        assert all(pixels_changed_outside(repair) == 0 for repair in repairs)
        assert all(repair.own_after - repair.own_before > margin for repair in repairs if repair.accepted)
        assert all(np.array_equal(repair.after, repair.before) for repair in repairs if not repair.accepted)
    assert worse[choice.margin] <= worse[0.0]  # type: ignore[operator]
    assert gains[choice.margin] > 0.05  # type: ignore[operator]


def test_the_margin_by_hand() -> None:
    """Without a second scorer: 1.6449/1.96 · .2 · √2 = .2374."""
    alone = choose_margin(0.2)
    assert alone.margin == pytest.approx(0.2374, abs=1e-4)
    assert (alone.correlation, alone.by_changes) == (0.0, None)
    with pytest.raises(UserError, match="no prediction interval"):
        choose_margin(None)


def test_the_margin_with_a_second_scorer() -> None:
    rng = np.random.default_rng(2)
    truth, shared = rng.normal(0, 1, (2, 4000)), rng.normal(0, 1, 4000)
    own = truth + 2 * shared + rng.normal(0, 1, (2, 4000))  # errors of variance 5, ρ = 4/5
    wide = choose_margin(1.96 * 50**0.5, *own, *truth)  # as if raters' noise made the interval too wide
    assert wide.correlation == pytest.approx(0.8, abs=0.02)
    assert wide.by_interval == pytest.approx(1.6449 * (50 * 2 * 0.2) ** 0.5, rel=0.06)
    assert wide.margin == wide.by_changes == pytest.approx(1.6449 * 2**0.5, rel=0.04)  # by hand: var(g − h) = 2
    narrow = choose_margin(1.0, *own, *truth)
    assert narrow.margin == narrow.by_interval
    assert narrow.margin < wide.margin
    few = choose_margin(0.2, *own[:, :5], *truth[:, :5])
    assert few == choose_margin(0.2)


def test_the_margin_keeps_its_promise() -> None:
    """Changes that change nothing are called better in at most one of twenty cases."""
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 0.2, 6000)
    errors = rng.normal(0, 0.1, 6000)
    own = np.stack([truth + errors + rng.normal(0, 0.05, 6000) for _ in range(2)])
    other = np.stack([truth + rng.normal(0, 0.08, 6000) for _ in range(2)])
    margin = choose_margin(0.5, *own[:, :40], *other[:, :40]).margin
    assert (own[1, 40:] - own[0, 40:] > margin).mean() <= 0.05


def test_the_correlation_of_errors_is_not_below_0() -> None:
    rng = np.random.default_rng(2)
    own = rng.normal(0, 1, 400)
    assert error_correlation(own, -own, np.zeros(400), np.zeros(400)) == 0.0


def test_a_gain_by_hand() -> None:
    """Six prompts, two images each; gains by prompt .1, .2, .3, .1, .2, .3: mean .2, t with 5 degrees."""
    prompts = [name for name in "abcdef" for _ in range(2)]
    before = np.linspace(0, 1, 12)
    gains = np.repeat([0.1, 0.2, 0.3, 0.1, 0.2, 0.3], 2)
    row = gain_row("own", "a scorer", before, before + gains, prompts, possible=0.5)
    assert row["gain"] == pytest.approx(0.2)
    reach = 2.570582 * np.std([0.1, 0.2, 0.3, 0.1, 0.2, 0.3], ddof=1) / 6**0.5
    assert row["low"] == pytest.approx(0.2 - reach, abs=1e-5)
    assert (row["images"], row["prompts"], row["worse"], row["possible"]) == (12, 6, 0.0, 0.5)
