"""Sampling, guidance and words, with a generator whose every answer is known."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from tests.improve.tuning.toys import BRIGHT, OneColour, brightness

from beholder.errors import UserError
from beholder.improve.tuning.guide import GuideSettings, guided_sample, optimise_noise
from beholder.improve.tuning.reward import Reward
from beholder.improve.tuning.words import WordSettings, follow_words, random_words, reworded, until_aligned
from beholder.models.pipelines.sampling import Emphasis, sample


def test_sampling_ends_at_the_data_from_any_noise() -> None:
    drawn = sample(OneColour(), ["0.25", "0.5"], [1, 2])
    torch.testing.assert_close(drawn.latents, torch.tensor([[0.25, 0.25], [0.5, 0.5]]))
    assert not drawn.images.requires_grad
    early = sample(OneColour(), ["0.25"], [1], stop=2)  # the clean latents predicted at the second step
    torch.testing.assert_close(early.latents, torch.tensor([[0.25, 0.25]]))


def test_words_are_weighed_against_the_prompt_without_them() -> None:
    # with both words 0.2 + 0.3 = 0.5, without the second 0.2: 0.2 + 3 · (0.5 − 0.2) = 1.1
    drawn = sample(OneColour(), ["0.2 0.3"], [1], emphasis=Emphasis([[1]], 3.0))
    torch.testing.assert_close(drawn.latents, torch.full((1, 2), 1.1))
    same = follow_words(OneColour(), ["0.2 0.3"], [1], ((),), WordSettings())
    torch.testing.assert_close(same.latents, torch.full((1, 2), 0.5))


def test_gradients_reach_the_weights_through_the_last_steps_alone() -> None:
    generator = OneColour()
    generator.module.requires_grad_()
    images = sample(generator, ["0.5"], [1], last=1).images
    (slope,) = torch.autograd.grad(images.mean(), list(generator.module.parameters()))
    assert slope.abs().sum() > 0
    assert not sample(generator, ["0.5"], [1], last=0).images.requires_grad


def test_guidance_moves_every_image_along_the_gradient() -> None:
    plain = sample(OneColour(), ["0.3", "0.4"], [1, 2]).images
    guided = guided_sample(OneColour(), BRIGHT, ["0.3", "0.4"], [1, 2], GuideSettings(strength=0.1, from_time=0.3))
    # one step has t ≤ .3, at t = .25: x̂₀ moves by .25 · .1 · √2 · (1, 1)/√2
    torch.testing.assert_close(guided.images - plain, torch.full_like(plain, 0.025))


def test_optimised_noise_stays_on_its_sphere_and_never_does_worse() -> None:
    class Noisy(OneColour):
        """Its images are its noise."""

        def velocity(self, latents: torch.Tensor, times: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
            del times, context
            return torch.zeros_like(latents)

    generator, prompts, seeds = Noisy(), ["0", "0"], [1, 2]
    noise = generator.noise(prompts, seeds)
    best = optimise_noise(generator, brightness, prompts, seeds, noise, GuideSettings(iterations=40, rate=0.2))
    torch.testing.assert_close(best.norm(dim=1), noise.norm(dim=1))
    # the brightest point of a circle of radius r has the mean r/√2
    torch.testing.assert_close(best.mean(1), noise.norm(dim=1) / 2**0.5, rtol=1e-2, atol=0)
    against = optimise_noise(
        generator, lambda images, _: images.mean((1, 2, 3)) * 0, prompts, seeds, noise, GuideSettings(iterations=2)
    )
    torch.testing.assert_close(against, noise)


def test_a_scorer_without_gradients_cannot_guide() -> None:
    plain = Reward("sharpness", "sharpness", BRIGHT.plain, None)
    with pytest.raises(UserError, match="has no gradients, which guidance needs; use best of n"):
        guided_sample(OneColour(), plain, ["0.3"], [1], GuideSettings(strength=0.1))


def test_random_words_are_as_many_as_were_missed() -> None:
    prompts, missed = ["a b c d", "a b", "c"], ((0, 2), (), (0,))
    drawn = random_words(prompts, missed, np.random.default_rng(0))
    assert [len(words) for words in drawn] == [2, 0, 1]
    assert all(max(words, default=0) < len(prompt.split()) for words, prompt in zip(drawn, prompts, strict=True))
    many = {random_words(["a b c d"], ((0,),), np.random.default_rng(seed))[0] for seed in range(40)}
    assert many == {(0,), (1,), (2,), (3,)}


def test_seeds_are_tried_until_no_word_is_missed() -> None:
    tried: list[int] = []

    def predict(images: torch.Tensor, prompts: object) -> tuple[tuple[int, ...], ...]:
        del prompts
        tried.append(len(images))
        return tuple((0,) if len(tried) < 3 else () for _ in images)

    seeds, tries = until_aligned(OneColour(), ["0.1", "0.2"], [5, 6], predict, WordSettings(tries=5))
    assert seeds == [5 + 2 * 10_007, 6 + 2 * 10_007]
    assert tries.tolist() == [3, 3]
    assert reworded("two red balls, at sunset", []) == "two red balls, at sunset"


class Listening(OneColour):
    """Remembers the prompts that it was asked for; a colon says nothing to it."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def context(
        self, prompts: Sequence[str], seeds: Sequence[int], without: Sequence[Sequence[int]] | None = None
    ) -> torch.Tensor:
        self.heard = list(prompts)
        return super().context([prompt.replace(":", "") for prompt in prompts], seeds, without)


def test_words_are_weighed_or_said_again() -> None:
    generator, missed = Listening(), ((0,), ())
    weighed = follow_words(generator, ["1 2", "2"], [5, 6], missed, WordSettings(weight=3))
    # without its first word the level is 2, with it 3: 2 + 3 · (3 − 2)
    assert weighed.latents.mean(1).tolist() == pytest.approx([5, 2], abs=1e-5)
    again = follow_words(generator, ["1 2", "2"], [5, 6], missed, WordSettings(reword=True))
    assert generator.heard == ["1: 1 2", "2"]
    assert again.latents.mean(1).tolist() == pytest.approx([4, 2], abs=1e-5)
