"""Gradients of rich feedback towards the pixels, through the frozen encoder, against finite differences."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from tests.scorers.rich.conftest import PROMPT, SMALL

from beholder.models.rich_feedback.cnn import CnnSettings, RichCnn
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import Heads

STEP = 2e-3


def random_cnn(encoder: str | None = None) -> RichCnn:
    torch.manual_seed(0)
    heads = Heads(heatmap=(8,), score=(8,), dense=(8,))
    settings = CnnSettings(
        side=64, stem=8, widths=(16,), depths=(1,), encoder=encoder, blocks="basic", heads=heads
    )
    return RichCnn(settings)


def random_transformer() -> RichFeedbackModel:
    torch.manual_seed(0)
    return RichFeedbackModel(SMALL)


MODELS: dict[str, Callable[[], RichCnn | RichFeedbackModel]] = {
    "convolutions": random_cnn,
    "convolutions on a frozen encoder": lambda: random_cnn("efficientnet-lite0-grid"),
    "transformer": random_transformer,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_reaches_the_pixels_and_is_that_of_finite_differences(name: str) -> None:
    model = MODELS[name]()
    model.module.eval()
    images = torch.rand((1, 3, 48, 48), generator=torch.Generator().manual_seed(1)) * 0.6 + 0.2

    def total(pixels: torch.Tensor) -> torch.Tensor:
        feedback = model.with_gradients(pixels, [PROMPT])
        scores = torch.stack([score.double().sum() for score in feedback.scores.values()]).sum()
        return scores + feedback.heatmaps["implausibility"].double().mean()

    pixels = images.clone().requires_grad_()
    reward = total(pixels)
    assert reward.requires_grad  # not detached on the way
    (gradient,) = torch.autograd.grad(reward, pixels)
    assert float((gradient != 0).float().mean()) > 0.9  # every part of the image counts
    # Along the gradient itself the slope is its length: d/dh f(x + h g/|g|) = |g|.
    length = float(gradient.norm())
    direction = gradient / length
    with torch.no_grad():
        slope = float(total(images + STEP * direction) - total(images - STEP * direction)) / (2 * STEP)
    assert slope == pytest.approx(length, rel=0.05)
    # Across it there is none: a gradient that pointed elsewhere would show.
    across = torch.randn(images.shape, generator=torch.Generator().manual_seed(2))
    across -= (across * direction).sum() * direction
    across /= across.norm()
    with torch.no_grad():
        side = float(total(images + STEP * across) - total(images - STEP * across)) / (2 * STEP)
    assert math.fabs(side) < 0.05 * length


def test_the_encoder_stays_as_it_is() -> None:
    model = random_cnn("efficientnet-lite0-grid")
    assert [encoder.name for encoder in model.encoders] == ["efficientnet-lite0-grid"]
    grey = np.full((32, 32, 3), 127, np.uint8)
    before = model.encoders[0].encode([grey])
    pixels = torch.rand((1, 3, 32, 32)).requires_grad_()
    (gradient,) = torch.autograd.grad(model.with_gradients(pixels, [PROMPT]).scores["plausibility"].sum(), pixels)
    assert bool(gradient.any())
    assert np.array_equal(model.encoders[0].encode([grey]), before)
