"""Kernel regression on blocks of features: which blocks count, missing ratings, and its half of the score."""

from pathlib import Path

import numpy as np
import pytest
import torch

from beholder.errors import RecipeError
from beholder.models.encoders.encoder import ColumnBlock
from beholder.models.metric_transformer.kernel import fit_kernel, fit_weights, signed_powers, squared_distances
from beholder.models.metric_transformer.model import MetricTransformer, build, configure
from beholder.models.text.sentence_encoder import PACKAGE
from beholder.models.trainable import Batch, FitsTrainingSet
from beholder.models.weights.checkpoint import Record, load_checkpoint, save_checkpoint
from beholder.tables.provenance import Plain

BLOCKS = (ColumnBlock(3), ColumnBlock(40), ColumnBlock(2, rooted=True))
NAN = float("nan")


def images(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Features of three blocks, and ratings that depend on the first and on the last."""
    features = torch.from_numpy(np.random.default_rng(seed).normal(size=(count, 45)).astype(np.float32))
    curved = features[:, 0].sign() * features[:, 0].abs().sqrt()
    return features, torch.stack([2 * curved + 3, torch.sin(features[:, 43])], 1)


def test_it_predicts_images_that_it_was_not_fitted_to() -> None:
    kernel = fit_kernel(*images(300, 0), BLOCKS, np.random.default_rng(0))
    features, ratings = images(200, 1)
    for predicted, rated in zip(kernel(features).T, ratings.T, strict=True):
        assert np.corrcoef(predicted, rated)[0, 1] > 0.9
    assert abs(float(kernel(features)[:, 0].mean()) - 3) < 0.3


def test_a_block_without_information_gets_no_weight() -> None:
    features, ratings = images(300, 0)
    weights, noise = fit_weights(features, ratings, [3, 40, 2], np.random.default_rng(0))
    assert weights[1] < 0.05 * min(weights[0], weights[2])
    assert 0 < noise < 0.2


def test_an_image_without_a_rating_counts_for_the_other_metric_alone() -> None:
    features, ratings = images(60, 0)
    ratings[:20, 0] = NAN
    kernel = fit_kernel(features, ratings, BLOCKS, np.random.default_rng(0))
    assert not kernel.coefficients[:20, 0].any()
    assert kernel.coefficients[:20, 1].all()
    assert kernel.coefficients[20:].all()
    assert kernel.intercepts[0].item() == pytest.approx(ratings[20:, 0].mean().item(), abs=1e-5)


def test_columns_that_are_roots_already_are_not_rooted_again() -> None:
    kernel = fit_kernel(*images(30, 0), BLOCKS, np.random.default_rng(0))
    assert kernel.powers.tolist() == [0.5] * 43 + [1.0] * 2
    powers = signed_powers(torch.tensor([[4.0, -9.0, -3.0, 0.0]]), torch.tensor([0.5, 0.5, 1.0, 0.5]))
    assert powers.tolist() == [[2.0, -3.0, -3.0, 0.0]]


def test_squared_distances_are_those_of_pairs() -> None:
    first, second = torch.randn(4, 7, dtype=torch.float64), torch.randn(5, 7, dtype=torch.float64)
    expected = (first[:, None] - second).square().sum(2)
    torch.testing.assert_close(squared_distances(first, second), expected)


def model(kernel: bool) -> MetricTransformer:
    pytest.importorskip(PACKAGE, reason="the sentence encoder's package is not installed")
    torch.manual_seed(0)
    settings: dict[str, Plain] = {
        "encoders": ["pixel"],
        "width": 8,
        "heads": 2,
        "feedforward": 16,
        "kernel": kernel,
    }
    transformer = build(configure(settings, [], ("alignment", "quality")), fresh=True)
    transformer.module.eval()
    return transformer


def batch() -> Batch:
    torch.manual_seed(1)
    return Batch(
        prompts=("a red cube", "a dog in the snow"),
        pixels=torch.rand(12, 3072),
        prompt_of=torch.arange(12) % 2,
        pairs=torch.empty(0, 2, dtype=torch.int64),
        soft_labels=torch.empty(0),
        pair_weights=torch.empty(0),
        aspects=("quality", "alignment"),
        ratings=torch.rand(12, 2),
        answers=torch.ones(12, 2),
    )


def test_the_score_is_the_mean_of_networks_and_kernel_also_after_loading(tmp_path: Path) -> None:
    transformer, labelled = model(kernel=True), batch()
    assert isinstance(transformer, FitsTrainingSet)
    with torch.no_grad():
        networks = transformer.predict(labelled)
        transformer.fit_training_set([labelled])
        both = transformer.predict(labelled)
        alone = transformer.module[-1](labelled.pixels)
    torch.testing.assert_close(both["quality"], (networks["quality"] + alone[:, 1]) / 2)
    # the kernel knows these images: its scores order them as their ratings do, matched by name
    assert np.corrcoef(alone[:, 1], labelled.ratings[:, 0])[0, 1] > 0.5
    record = Record("metric-transformer", transformer.config, ("alignment", "quality"))
    save_checkpoint(tmp_path, transformer, record)
    with torch.no_grad():
        again = load_checkpoint(tmp_path)[0].predict(labelled)
    torch.testing.assert_close(again["quality"], both["quality"])
    torch.testing.assert_close(again["alignment"], both["alignment"])


def test_without_the_setting_nothing_is_fitted() -> None:
    transformer = model(kernel=False)
    transformer.fit_training_set([batch()])
    assert "kernel_sizes" not in transformer.config
    assert len(transformer.module) == 1


def test_a_kernel_with_a_start_is_refused() -> None:
    with pytest.raises(RecipeError, match="kernel"):
        configure({"encoders": ["pixel"], "kernel": True, "start": "somewhere"}, [], ("quality",))
