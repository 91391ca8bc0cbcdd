"""A grid of features: which channel of which stage lies where."""

import numpy as np
import torch

from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.efficientnet_lite import SIZES, EfficientNetLite
from beholder.models.encoders.grid_features import CELL, SPREAD, GridFeatures, channels, grid_channels
from beholder.models.rich_feedback.settings import GRIDS


def test_each_place_has_the_channels_of_three_stages() -> None:
    torch.manual_seed(0)
    network = EfficientNetLite(SIZES["lite0"]).eval()
    images = torch.randn(2, 3, 64, 96)
    with torch.inference_mode():
        grid = GridFeatures(network)(images).reshape(2, -1, 4, 6) * SPREAD
        maps = [network.stem(images)]
        for stage in network.stages():
            maps.append(stage(maps[-1]))
    torch.testing.assert_close(grid[:, :112], maps[5])
    quarters = grid[:, 112 : 112 + 160].reshape(2, 40, 2, 2, 4, 6)
    for down in range(2):
        for across in range(2):
            torch.testing.assert_close(quarters[:, :, down, across], maps[3][:, :, down::2, across::2])
    torch.testing.assert_close(grid[:, 272:], maps[2].reshape(2, 24, 4, 4, 6, 4).mean((3, 5)))


def test_the_encoder_says_what_the_tower_must_be_told() -> None:
    for name, (side, patch) in GRIDS.items():
        encoder = load_encoder(name)
        assert (encoder.preprocessing.side, CELL) == (side, patch)
        assert encoder.dims == grid_channels(name) * (side // patch) ** 2
        assert ENCODERS[name].module == "grid_features"
    assert channels(SIZES["lite0"]) == 112 + 4 * 40 + 24


def test_about_unit_variance() -> None:
    picture = np.random.default_rng(0).integers(0, 255, (12, 20, 3), np.uint8)
    features = load_encoder("efficientnet-lite0-grid").encode([picture.repeat(9, 0).repeat(9, 1)])
    assert 0.5 < features.std() < 2
