"""The auxiliary task of recognising generators."""

import math

import pytest
import torch

from beholder.models.generator_task import generator_loss
from beholder.models.trainable import UNKNOWN_GENERATOR, Batch


def batch(generators: list[int] | None) -> Batch:
    empty = torch.empty(0)
    return Batch(
        prompts=(),
        pixels=empty,
        prompt_of=empty,
        pairs=empty,
        soft_labels=empty,
        pair_weights=empty,
        aspects=(),
        ratings=empty,
        answers=empty,
        generator_of=None if generators is None else torch.tensor(generators),
    )


LOGITS = torch.tensor([[0.0, math.log(3.0)], [0.0, 0.0], [5.0, -5.0]])


def test_it_is_the_mean_cross_entropy_over_known_generators() -> None:
    # softmax of the first row: 1/4 and 3/4; of the second: 1/2 and 1/2; the third is not known
    loss = generator_loss(LOGITS, batch([1, 0, UNKNOWN_GENERATOR]))
    assert loss.item() == pytest.approx((-math.log(3 / 4) - math.log(1 / 2)) / 2, rel=1e-6)


def test_more_generators_than_classes_share_classes() -> None:
    assert generator_loss(LOGITS, batch([3, 2, 4])) == generator_loss(LOGITS, batch([1, 0, 0]))


@pytest.mark.parametrize("generators", [None, [UNKNOWN_GENERATOR] * 3])
def test_without_known_generators_it_is_0_with_a_gradient(generators: list[int] | None) -> None:
    logits = LOGITS.clone().requires_grad_()
    loss = generator_loss(logits, batch(generators))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0
    assert logits.grad is not None
    assert not logits.grad.any()
