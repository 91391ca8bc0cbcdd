"""Tuning: losses by hand, resuming to equal bits, the anchor, and the stop at an alarm."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from tests.improve.tuning.toys import BRIGHT, Drifting, Elsewhere, OneColour, brightness

from beholder.errors import TrainingError, UserError, WeightsError
from beholder.improve.alarms.alarm import Alarm
from beholder.improve.tuning.adapters import add_lora, base_weights, load_lora, save_lora
from beholder.improve.tuning.guide import GuideSettings, guided_sample
from beholder.improve.tuning.losses import (
    Examples,
    Pairs,
    Prompts,
    chosen_loss,
    pair_loss,
    policy_loss,
    reward_loss,
)
from beholder.improve.tuning.reward import Reward
from beholder.improve.tuning.settings import TuneSettings
from beholder.improve.tuning.tune import Material, tune
from beholder.models.pipelines.sampling import sample
from beholder.simulate.painted.generator import PaintedGenerator

PROMPTS = Prompts(("0.2", "0.3"), (1, 2, 3))
SETTINGS = TuneSettings(steps=12, batch=4, rate=0.05, rank=2, anchor=0.0, check_every=4)
MATERIAL = Material(PROMPTS, BRIGHT, fingerprint="brightness")


def level(generator: OneColour) -> float:
    return float(sample(generator, ["0.2"], [9]).images.mean())


@pytest.mark.parametrize("method", ["draft", "refl"])
def test_every_reward_method_raises_the_reward(tmp_path: Path, method: Literal["draft", "refl"]) -> None:
    generator = OneColour()
    settings = replace(SETTINGS, method=method, steps=40, batch=8)
    tune(generator, MATERIAL, settings, tmp_path)
    assert level(generator) > 0.21
    with base_weights(generator):
        assert level(generator) == pytest.approx(0.2)


def test_policy_gradients_raise_a_reward_without_gradients(tmp_path: Path) -> None:
    generator = Drifting()
    before = sample(generator, ["0"] * 2, [8, 9]).images
    plain = Reward("bright", "bright", BRIGHT.plain, None)
    settings = replace(SETTINGS, method="ddpo", steps=60, batch=32, rate=0.02)
    tune(generator, Material(Prompts(("0",), tuple(range(50))), plain), settings, tmp_path)
    assert (sample(generator, ["0"] * 2, [8, 9]).images > before + 0.05).all()


def test_the_loss_is_less_the_mean_reward_and_the_anchor_has_a_gradient() -> None:
    generator = OneColour()
    parameters = add_lora(generator, 2, 0)
    loss = reward_loss(generator, brightness, Prompts(("0.25",), (1,)), SETTINGS, 0)
    assert loss.item() == pytest.approx(-0.25)
    anchored = replace(SETTINGS, anchor=2.0)
    same = reward_loss(generator, brightness, Prompts(("0.25",), (1,)), anchored, 0)
    assert same.item() == pytest.approx(-0.25)  # nothing has moved yet
    with torch.no_grad():
        for parameter in parameters.values():
            parameter.add_(0.1)
    moved = reward_loss(generator, brightness, Prompts(("0.25",), (1,)), anchored, 0)
    loose = reward_loss(generator, brightness, Prompts(("0.25",), (1,)), SETTINGS, 0)
    assert moved.item() > loose.item()
    slopes = torch.autograd.grad(moved - loose, list(parameters.values()))
    assert all(float(slope.abs().sum()) > 0 for slope in slopes)


def test_every_method_works_on_the_device_of_the_generator() -> None:
    generator = Elsewhere()
    add_lora(generator, 2, 0)
    anchored = replace(SETTINGS, anchor=1.0)
    latents = torch.zeros(3, 2, device="meta")
    examples = Examples(latents, lambda rows: generator.context(["0.2"] * len(rows), rows))
    pairs = Pairs(latents, latents, lambda rows, _: generator.context(["0.2"] * len(rows), rows), torch.ones(3))
    plain = Reward("plain", "plain", lambda images, _: np.arange(len(images)) / 7, None)
    losses = [
        *(reward_loss(generator, brightness, PROMPTS, replace(anchored, method=m), 0) for m in ("draft", "refl")),
        chosen_loss(generator, examples, anchored, 0),
        pair_loss(generator, pairs, anchored, 0),
        policy_loss(generator, plain, PROMPTS, anchored, 0),
    ]
    assert {loss.device.type for loss in losses} == {"meta"}
    both = GuideSettings(strength=0.1, iterations=1, steps=2)
    assert guided_sample(generator, BRIGHT, ["0.2"], [1], both).images.device.type == "meta"


def test_an_anchor_holds_the_generator_near_its_base(tmp_path: Path) -> None:
    levels = []
    for anchor in (0.0, 0.5):
        generator = OneColour()
        tune(generator, MATERIAL, replace(SETTINGS, steps=60, anchor=anchor), tmp_path / str(anchor))
        levels.append(level(generator))
    assert 0.2 < levels[1] < levels[0]


def test_a_run_that_was_killed_ends_with_equal_bits(tmp_path: Path) -> None:
    prompt = "two red balls, in a meadow, photo style"
    material = Material(Prompts((prompt,), (1, 2)), BRIGHT, fingerprint="one")
    settings = TuneSettings(steps=6, batch=2, rank=2, check_every=2, anchor=0.5)

    def weights(generator: PaintedGenerator) -> dict[str, torch.Tensor]:
        return {name: tensor.clone() for name, tensor in generator.module.state_dict().items() if "lora" in name}

    whole = PaintedGenerator(size=32)
    tune(whole, material, settings, tmp_path / "whole")

    class KilledError(Exception):
        """Stands for the end of the process."""

    def kill(done: int, _: int) -> None:
        if done == 4:
            raise KilledError

    parts = PaintedGenerator(size=32)
    with pytest.raises(KilledError):
        tune(parts, material, settings, tmp_path / "parts", progress=kill)
    again = PaintedGenerator(size=32)
    outcome = tune(again, material, settings, tmp_path / "parts")
    assert outcome.step == outcome.steps == 6
    ours, theirs = weights(again), weights(whole)
    assert ours
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    with pytest.raises(TrainingError, match="the state of another run"):
        tune(PaintedGenerator(size=32), material, replace(settings, rate=0.1), tmp_path / "parts")


def test_an_alarm_ends_the_run_and_the_weights_before_it_are_kept(tmp_path: Path) -> None:
    looks: list[float] = []

    def look() -> list[Alarm]:
        looks.append(level(generator))
        bad = len(looks) == 3
        return [Alarm("diversity", 0.5 if bad else 1, 0.4, 0.6, 0.8, bad, "less diverse")]

    generator = OneColour()
    outcome = tune(generator, MATERIAL, SETTINGS, tmp_path, look=look)
    assert (outcome.step, outcome.steps) == (4, 8)
    assert [alarm.watch for alarm in outcome.stopped] == ["diversity"]
    assert level(generator) == pytest.approx(looks[1])
    assert looks[2] > looks[1] > looks[0]


def test_dpo_starts_at_log_2_and_learns_the_preferred_image(tmp_path: Path) -> None:
    generator = OneColour()
    pairs = Pairs(
        torch.full((1, 2), 0.6),
        torch.full((1, 2), 0.1),
        lambda rows, _: generator.context(["0.2"] * len(rows), [0] * len(rows)),
        torch.ones(1),
    )
    settings = replace(SETTINGS, method="dpo", beta=1.0, steps=40, rate=0.01)
    add_lora(generator, 2, 0)
    assert pair_loss(generator, pairs, settings, 0).item() == pytest.approx(math.log(2))
    fresh = OneColour()
    tune(fresh, Material(pairs=pairs), settings, tmp_path)
    assert level(fresh) > 0.25


def test_chosen_images_are_learned_and_weights_leave_parts_out(tmp_path: Path) -> None:
    generator = OneColour()

    def context_of(rows: Sequence[int]) -> torch.Tensor:
        context: torch.Tensor = generator.context(["0.2"] * len(rows), [0])
        return context

    clean = torch.tensor([[0.6, -9.0]])  # the second part is wrong, and weighs nothing
    examples = Examples(clean, context_of, torch.tensor([[1.0, 0.0]]))
    settings = replace(SETTINGS, method="sft", steps=60, rate=0.02)
    tune(generator, Material(examples=examples), settings, tmp_path)
    latents = sample(generator, ["0.2"], [9]).latents[0]
    assert abs(float(latents[0]) - 0.6) < abs(0.2 - 0.6)
    assert float(latents[1]) > 0  # it was not drawn towards −9
    plain = OneColour()
    add_lora(plain, 2, 0)
    error = chosen_loss(plain, Examples(torch.tensor([[0.2, 0.2]]), plain_context(plain)), settings, 0)
    assert error.item() == pytest.approx(0, abs=1e-8)


def plain_context(generator: OneColour) -> Callable[[Sequence[int]], torch.Tensor]:
    return lambda rows: generator.context(["0.2"] * len(rows), [0])


def test_a_lora_is_saved_and_read_back(tmp_path: Path) -> None:
    generator = OneColour()
    tune(generator, MATERIAL, SETTINGS, tmp_path / "run")
    save_lora(tmp_path / "lora", generator, SETTINGS.rank, {})
    again = OneColour()
    load_lora(tmp_path / "lora", again)
    assert level(again) == level(generator) != pytest.approx(0.2)
    with pytest.raises(WeightsError, match="no LoRA of this generator"):
        load_lora(tmp_path, OneColour())


def test_a_method_says_what_it_lacks(tmp_path: Path) -> None:
    plain = Material(PROMPTS, Reward("sharpness", "sharpness", BRIGHT.plain, None))
    with pytest.raises(UserError, match="'sharpness' has no gradients; tune by it with --method ddpo"):
        tune(OneColour(), plain, SETTINGS, tmp_path)
    with pytest.raises(UserError, match="tuning by dpo needs pairs of images that raters compared"):
        tune(OneColour(), plain, replace(SETTINGS, method="dpo"), tmp_path)
