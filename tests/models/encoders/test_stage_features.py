"""Features of all stages: the numbers of each map, by hand and against numpy."""

import numpy as np
import pytest
import torch
from PIL import Image

from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.efficientnet_lite import SIZES, EfficientNetLite
from beholder.models.encoders.stage_features import StageFeatures, moments, moments_and_texture, stage_groups


def test_moments_and_texture_by_hand() -> None:
    # Two channels over four places: (0, 2, 4, 6) and (1, 0, 1, 0). Means 3 and ½; variances 5 and ¼;
    # covariance mean(−3·½, −1·−½, 1·½, 3·−½) = −½, of which the root with its sign is −√½.
    maps = torch.tensor([[[[0.0, 2.0], [4.0, 6.0]], [[1.0, 0.0], [1.0, 0.0]]]])
    *both, texture = moments_and_texture(maps)
    for mean, std in (moments(maps), both):
        torch.testing.assert_close(mean, torch.tensor([[3.0, 0.5]]))
        torch.testing.assert_close(std, torch.tensor([[5**0.5, 0.5]]))
    torch.testing.assert_close(texture, torch.tensor([[-(0.5**0.5)]]))


def test_texture_is_the_covariance_that_numpy_gives() -> None:
    torch.manual_seed(0)
    maps = torch.randn(2, 5, 6, 7, dtype=torch.float64) + 10
    for row, features in zip(maps, moments_and_texture(maps)[2], strict=True):
        expected = np.cov(row.flatten(1).numpy(), bias=True)[np.triu_indices(5, 1)]
        np.testing.assert_allclose((features * features.abs()).numpy(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_dims_and_order(size: str) -> None:
    torch.manual_seed(0)
    network = EfficientNetLite(SIZES[size]).eval()
    images = torch.randn(2, 3, 64, 96)
    with torch.inference_mode():
        features = StageFeatures(network)(images)
        stem, last = network.stem(images), network(images)
    assert features.shape == (2, sum(stage_groups(SIZES[size])))
    torch.testing.assert_close(features[:, :32], stem.mean((2, 3)))
    head = 2 * (32 + sum(SIZES[size].channels))
    torch.testing.assert_close(
        features[:, head : head + 1280], last
    )  # the means of the head are the usual features


def test_stages_one_after_the_other_are_all_blocks() -> None:
    network = EfficientNetLite(SIZES["lite0"])
    stages = list(network.stages())
    assert [len(stage) for stage in stages] == [1, 2, 2, 3, 3, 4, 1]
    assert [block for stage in stages for block in stage] == list(network.blocks)


def test_the_encoder_sees_a_picture_at_its_own_size() -> None:
    encoder = load_encoder("efficientnet-lite0-stages")
    picture = np.random.default_rng(0).integers(0, 255, (512, 512, 3), np.uint8)
    prepared = encoder.preprocessing.prepare(Image.fromarray(picture))
    np.testing.assert_allclose(prepared * 128 + 127, picture.transpose(2, 0, 1), rtol=0, atol=1e-4)
    assert encoder.dims == 9024
