"""The regression on how image and prompt compare: what it learns, what it leaves out, and its state."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from beholder.models.alignment.comparison import NetworkOutputs, as_unit
from beholder.models.encoders.efficientnet_lite import CLASSES, FEATURES
from beholder.models.tuned_metrics.comparison_head import ComparisonHead, Examples

TEXT = 20
PROMPTS, PER_PROMPT = 30, 4


@pytest.fixture(scope="module")
def world() -> tuple[np.ndarray, Examples, np.ndarray]:
    """Each prompt is the name of a class; half of its images show it, the others another class."""
    rng = np.random.default_rng(0)
    names = as_unit(rng.normal(size=(CLASSES, TEXT)))
    prompt_of = np.repeat(np.arange(PROMPTS), PER_PROMPT)
    shows = np.tile([True, True, False, False], PROMPTS)
    seen = np.where(shows, prompt_of, rng.integers(PROMPTS, CLASSES, len(prompt_of)))
    logits = rng.normal(size=(len(prompt_of), CLASSES))
    logits[np.arange(len(prompt_of)), seen] += 12
    examples = Examples(
        rng.normal(size=(len(prompt_of), 2)),  # the image alone tells nothing
        NetworkOutputs(rng.normal(size=(len(prompt_of), FEATURES)), logits),
        [f"class {prompt}" for prompt in prompt_of],
        names[prompt_of],
    )
    return names, examples, shows + rng.normal(scale=0.1, size=len(prompt_of))


def fitted(world: tuple[np.ndarray, Examples, np.ndarray]) -> ComparisonHead:
    names, examples, labels = world
    head = ComparisonHead(2, TEXT)
    assert not head.is_fitted
    head.fit(names, examples, labels, map_ridge=40, ridge=10)
    assert head.is_fitted
    return head


def test_it_learns_that_images_should_show_what_was_asked_for(world) -> None:  # type: ignore[no-untyped-def]
    names, examples, _ = world
    head = fitted(world)
    fresh = np.arange(PROMPTS, 2 * PROMPTS)  # classes that no training prompt names
    logits = np.zeros((2 * PROMPTS, CLASSES))
    logits[np.arange(PROMPTS), fresh] = 12
    logits[np.arange(PROMPTS, 2 * PROMPTS), fresh + 100] = 12
    unseen = Examples(
        np.zeros((2 * PROMPTS, 2)),
        NetworkOutputs(np.zeros((2 * PROMPTS, FEATURES)), logits),
        ["class"] * (2 * PROMPTS),
        np.concatenate([names[fresh]] * 2),
    )
    scores = head(unseen).numpy()
    assert (scores[:PROMPTS] > scores[PROMPTS:]).all()
    assert examples.select(np.array([5])).prompts == ["class 1"]


def test_images_without_label_or_score_are_left_out(world) -> None:  # type: ignore[no-untyped-def]
    names, examples, labels = world
    some = np.arange(0, len(labels) - 3)
    alone = ComparisonHead(2, TEXT)
    alone.fit(names, examples.select(some), labels[some], map_ridge=40, ridge=10)
    scores, partly = examples.image_scores.copy(), labels.copy()
    scores[-1, 1], partly[[-3, -2]] = np.nan, np.nan
    head = ComparisonHead(2, TEXT)
    head.fit(names, replace(examples, image_scores=scores), partly, map_ridge=40, ridge=10)
    torch.testing.assert_close(head(examples), alone(examples))


def test_one_labelled_image_is_too_few(world) -> None:  # type: ignore[no-untyped-def]
    names, examples, labels = world
    head = ComparisonHead(2, TEXT)
    head.fit(names, examples, np.where(np.arange(len(labels)) == 3, labels, np.nan), map_ridge=40, ridge=10)
    assert not head.is_fitted


def test_a_state_restores_the_scores(world) -> None:  # type: ignore[no-untyped-def]
    _, examples, labels = world
    head, restored = fitted(world), ComparisonHead(2, TEXT)
    restored.load_state_dict(head.state_dict())
    assert restored.is_fitted
    torch.testing.assert_close(restored(examples), head(examples), rtol=0, atol=0)
    assert np.corrcoef(head(examples).numpy(), labels)[0, 1] > 0.95
