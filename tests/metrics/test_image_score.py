"""Scores that grow batch by batch, and scorers as functions and as rewards."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scipy import stats as distributions

import beholder as bh
from beholder.errors import UserError
from beholder.metrics import ImageScore
from beholder.scorers.catalogue import load_scorer


def pictures(count: int) -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (40, 36, 3), dtype=np.uint8)) for _ in range(count)]


def test_the_mean_and_its_interval() -> None:
    images = pictures(9)
    metric, other = ImageScore("sharpness"), ImageScore("sharpness")
    metric.update(images[:4])
    other.update(images[4:])
    metric.merge_state(other)
    scores = bh.score(images=images, scorer="sharpness").scores
    figure = metric.compute()
    interval = distributions.t.interval(0.95, 8, scores.mean(), distributions.sem(scores))
    assert (figure.low, figure.high) == pytest.approx(interval)
    assert float(figure) == pytest.approx(scores.mean())
    assert figure.images == 9
    metric.reset()
    with pytest.raises(UserError, match="no image was scored yet"):
        metric.compute()


def test_one_image_has_an_interval_without_ends() -> None:
    metric = ImageScore("sharpness")
    metric.update(pictures(1)[0])
    assert metric.compute().high == np.inf


class TestScorersAsFunctions:
    def test_they_score_as_bh_score_does(self, small_pickscore: Path) -> None:
        images, prompts = pictures(18), ["a red cat", "two dogs", "the sea"] * 6
        scorer = load_scorer("pickscore", {"pickscore": str(small_pickscore)})
        scored = bh.score(images=images, prompts=prompts, scorer=scorer)
        assert scorer(images=images, prompts=prompts) == pytest.approx(scored.scores, rel=1e-5)
        tensor = torch.from_numpy(np.stack([np.asarray(image) for image in images])).permute(0, 3, 1, 2)
        assert scorer(tensor, prompts) == pytest.approx(scored.scores, rel=1e-5)
        assert scorer(tensor / 255, prompts) == pytest.approx(scored.scores, rel=1e-5)

    def test_a_scorer_of_prompts_needs_no_images(self) -> None:
        assert load_scorer("prompt-length")(prompts=["a", "a red cat"]).tolist() == [1, 3]

    def test_prompts_are_counted(self) -> None:
        with pytest.raises(UserError, match="2 prompts for 3 images"):
            load_scorer("sharpness")(pictures(3), ["a", "b"])


class TestRewards:
    def test_gradients_reach_the_pixels(self, small_pickscore: Path) -> None:
        scorer = load_scorer("pickscore", {"pickscore": str(small_pickscore)})
        images = torch.rand(2, 3, 32, 32, requires_grad=True)
        rewards = scorer.reward(images, "two dogs")
        torch.autograd.backward(rewards.sum())
        assert images.grad is not None
        assert rewards.shape == (2,)
        assert bool((images.grad.abs().sum(dim=(1, 2, 3)) > 0).all())
        assert rewards.detach().numpy() == pytest.approx(
            scorer(images, "two dogs"), rel=0.02
        )  # rounding to bytes moves a score a little

    def test_a_step_along_the_gradient_raises_the_reward(self, small_pickscore: Path) -> None:
        scorer = load_scorer("pickscore", {"pickscore": str(small_pickscore)})
        images = torch.full((1, 3, 32, 32), 0.5, requires_grad=True)
        before = scorer.reward(images, ["two dogs"])
        (gradient,) = torch.autograd.grad(before.sum(), images)
        after = scorer.reward(images.detach() + 1e-3 * gradient.sign(), ["two dogs"])
        assert after.item() > before.item()

    def test_what_has_no_gradients_says_so(self) -> None:
        with pytest.raises(UserError, match="'sharpness' has no gradients"):
            load_scorer("sharpness").reward(torch.zeros(1, 3, 8, 8), "a")
