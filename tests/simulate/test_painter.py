from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import FaultsError, UserError
from beholder.simulate import ground_truth as score
from beholder.simulate.composition import COMPOSITIONS
from beholder.simulate.flaws import FLAWS
from beholder.simulate.grammar import Attribute, Group, Request, draw_request, prompt_text
from beholder.simulate.ground_truth import ATTRIBUTE_WEIGHTS
from beholder.simulate.painter import FLAWLESS, Picture, Policy, paint
from beholder.study.words import split_words

seeds = st.integers(0, 2**32 - 1)
policies = st.builds(
    Policy,
    name=st.just("p"),
    implausible=st.floats(0, 5),
    misaligned=st.floats(0, 1),
    composition=st.floats(0, 1),
    haze=st.just(0.0) | st.floats(0.01, 1),
    severity=st.floats(0.01, 1),
)


def random_picture(policy: Policy, seed: int, size: int = 64) -> Picture:
    return paint(draw_request(np.random.default_rng(seed)), policy, size=size, rng=np.random.default_rng(seed))


@settings(max_examples=60, deadline=None)
@given(policies, seeds)
def test_truth_is_within_bounds_and_agrees_with_itself(policy: Policy, seed: int) -> None:
    picture = random_picture(policy, seed, 48)
    truth = picture.truth
    assert picture.pixels.shape == (48, 48, 3)
    assert picture.pixels.dtype == np.uint8
    assert truth.implausible.shape == truth.misaligned.shape == (48, 48)
    for value in (truth.plausibility, truth.alignment, truth.aesthetics, truth.overall):
        assert 0 <= value <= 1
    assert 0 <= truth.detectability < 6
    kinds = [flaw.split(":")[0] for flaw in truth.flaws]
    assert truth.implausible.any() == any(kind in FLAWS for kind in kinds)
    assert truth.misaligned.any() == bool(truth.misaligned_words) == any(k.startswith("wrong ") for k in kinds)
    assert (truth.alignment == 1) == (not truth.misaligned_words)
    assert (truth.detectability == 0) == (truth.plausibility == 1)
    assert set(truth.misaligned_words) <= set(range(len(split_words(picture.prompt))))


@settings(max_examples=20, deadline=None)
@given(policies, seeds)
def test_the_same_seed_gives_the_same_picture_and_truth(policy: Policy, seed: int) -> None:
    a, b = random_picture(policy, seed), random_picture(policy, seed)
    assert np.array_equal(a.pixels, b.pixels)
    assert np.array_equal(a.truth.implausible, b.truth.implausible)
    assert np.array_equal(a.truth.misaligned, b.truth.misaligned)
    assert (a.prompt, a.truth.flaws, a.truth.overall) == (b.prompt, b.truth.flaws, b.truth.overall)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_a_flawless_picture_has_no_faults(seed: int) -> None:
    truth = random_picture(FLAWLESS, seed).truth
    assert (truth.plausibility, truth.alignment, truth.detectability) == (1, 1, 0)
    assert 0.78 <= truth.aesthetics <= 1
    assert truth.overall == pytest.approx(0.7 + 0.3 * truth.aesthetics)
    assert not truth.implausible.any()
    assert not truth.misaligned.any()
    assert (truth.misaligned_words, truth.flaws) == ((), ())


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_pixels_change_only_within_the_implausible_mask(seed: int) -> None:
    clean, spoiled = random_picture(FLAWLESS, seed), random_picture(Policy("p", 3, 0, 0), seed)
    outside = ~spoiled.truth.implausible
    assert np.array_equal(clean.pixels[outside], spoiled.pixels[outside])


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_misaligned_words_are_those_named_as_wrong(seed: int) -> None:
    picture = random_picture(Policy("p", 0, 0.3, 0), seed)
    words = split_words(picture.prompt)
    misaligned = " ".join(words[position] for position in picture.truth.misaligned_words)
    for flaw in picture.truth.flaws:
        kind, values = flaw.removeprefix("wrong ").split(": ")
        requested = values.split(", not ")[1]
        if kind == "count":
            requested = {"1": "a", "2": "two", "3": "three", "4": "four"}[requested]
        assert requested in misaligned


def test_an_altered_colour_is_painted_and_its_word_and_place_marked() -> None:
    # Everything alterable is wrong: count "a", colour and object; the size is unsaid.
    request = Request((Group(1, "", "red", "ball"),), "", "on a tiled floor", "cartoon")
    truth = paint(request, Policy("p", 0, 1, 0), size=64, rng=np.random.default_rng(0)).truth
    assert prompt_text(request) == "a red ball, on a tiled floor, cartoon style"
    assert truth.misaligned_words == (0, 1, 2)
    assert truth.misaligned.any()


def test_misalignment_is_not_detectable() -> None:
    truth = random_picture(Policy("p", 0, 1, 0), 5).truth
    assert truth.alignment < 0.6
    assert (truth.detectability, truth.plausibility) == (0, 1)


def test_formulas_by_hand() -> None:
    # s = .5, a = .03: v = .5 (1 − 1/e) = .31606
    v = score.visibility(0.5, 0.03)
    assert v == pytest.approx(0.5 * (1 - 1 / np.e))
    assert score.plausibility([v], 0.0) == pytest.approx(1 - 0.75 * 0.316060)
    assert score.plausibility([0.4, 0.2], 0.5) == pytest.approx(0.95 * 0.7 * 0.85)
    assert score.detectability([0.3, 0.4], 0.0) == pytest.approx(1.4)  # 2.8 × .5, a 3-4-5 triangle
    assert score.detectability([], 0.5) == pytest.approx(0.7)
    # a wrong colour (.8) among count .7, colour .8, object 1, setting .6 and style .4: 1 − .8/3.5
    stated = [Attribute(name) for name in ("count", "colour", "object", "setting", "style")]
    assert score.alignment(stated, [Attribute("colour")]) == pytest.approx((2.7 / 3.5) ** 1.5)
    assert score.aesthetics(0.9, 0.4, 0.5, 0.8) == pytest.approx(0.9 * 0.8 * 0.9 * 0.94)
    assert score.overall(0.6, 0.8, 0.9) == pytest.approx(0.21 + 0.28 + 0.27)


@given(st.floats(0.01, 0.99), st.floats(0.001, 0.5), st.floats(0, 1))
def test_scores_fall_and_detectability_grows_with_severity_area_and_haze(s: float, a: float, h: float) -> None:
    v, worse = score.visibility(s, a), (score.visibility(s + 0.01, a), score.visibility(s, a + 0.01))
    for more in worse:
        assert more > v
        assert score.plausibility([more], h) < score.plausibility([v], h)
        assert score.detectability([more], h) > score.detectability([v], h)
    assert score.plausibility([v, 0.1], h) < score.plausibility([v], h)
    assert score.detectability([v], h + 0.01) > score.detectability([v], h)
    assert score.aesthetics(1, s, h, 1) > score.aesthetics(1, s + 0.01, h, 1)


@given(st.lists(st.sampled_from(sorted(ATTRIBUTE_WEIGHTS)), unique=True))
def test_alignment_falls_with_every_wrong_attribute(wrong: list[str]) -> None:
    stated = [Attribute(name) for name in ATTRIBUTE_WEIGHTS]
    falling = [score.alignment(stated, map(Attribute, wrong[:count])) for count in range(len(wrong) + 1)]
    assert falling[0] == 1
    assert all(later < earlier for earlier, later in pairwise(falling))


def test_policies_differ_and_their_pictures_vary() -> None:
    better = [random_picture(Policy("better", 0.3, 0.05, 0.1), seed).truth for seed in range(100)]
    worse = [random_picture(Policy("worse", 1.5, 0.3, 0.5, 0.3), seed).truth for seed in range(100)]
    for name in ("plausibility", "alignment", "aesthetics", "overall"):
        high, low = ([getattr(truth, name) for truth in truths] for truths in (better, worse))
        assert np.mean(high) > np.mean(low) + 0.1
        assert np.std(low) > 0.05
    detectabilities = [truth.detectability for truth in worse]
    assert np.mean([truth.detectability for truth in better]) < np.mean(detectabilities)
    assert 0.3 < np.quantile(detectabilities, 0.05) < np.quantile(detectabilities, 0.95) < 3.5


def test_rates_are_those_of_the_policy() -> None:
    truths = [random_picture(Policy("p", 0.8, 0.0, 0.4), seed, 32).truth for seed in range(250)]
    regions = [sum(flaw in FLAWS for flaw in truth.flaws) for truth in truths]
    composed = [any(flaw in COMPOSITIONS for flaw in truth.flaws) for truth in truths]
    # Four standard errors: √(.8/250) = .057 and √(.4 × .6/250) = .031
    assert np.mean(regions) == pytest.approx(0.8, abs=0.23)
    assert np.mean(composed) == pytest.approx(0.4, abs=0.13)
    assert max(regions) <= 4


def test_a_picture_looks_the_same_at_every_size() -> None:
    policy = Policy("p", 1, 0.2, 0.3, 0.3)
    for seed in range(8):
        small, large = random_picture(policy, seed, 64), random_picture(policy, seed, 256)
        assert small.truth.flaws == large.truth.flaws
        assert small.truth.overall == pytest.approx(large.truth.overall, abs=0.02)
        reduced = large.pixels.reshape(64, 4, 64, 4, 3).mean(axis=(1, 3))
        assert np.abs(small.pixels - reduced).mean() < 12


@pytest.mark.parametrize("size", [0, 31, 1025])
def test_sizes_out_of_range_are_refused(size: int) -> None:
    with pytest.raises(UserError, match=f"is {size} pixels, expected 32 to 1024"):
        random_picture(FLAWLESS, 0, size)


def test_all_faults_of_a_policy_are_told_at_once() -> None:
    with pytest.raises(FaultsError) as caught:
        Policy("odd", -1, 1.5, float("nan"), haze=2, severity=0)
    assert len(caught.value.faults) == 5
    assert "implausible is -1" in str(caught.value)
