"""Statistics of the tokens after every block of a DINOv2 vision transformer.

As with the stages of a convolutional network, blocks in the middle respond to texture and sharpness, and the last
ones to objects. Per block: the class token, and the mean and the standard deviation of the tokens of the patches.
Any folder of a DINOv2 of the ``transformers`` library will do; without one, a ViT-S/14 that a package carries.
"""

from pathlib import Path

import torch
import transformers
from torch import nn

from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.hub import read_network
from beholder.models.encoders.preprocessing import IMAGENET_MEAN, IMAGENET_STD, Preprocessing
from beholder.models.encoders.torch_network import as_network, share_cores
from beholder.models.encoders.vit_weights import PACKAGE, find_vit_weights, read_vit
from beholder.models.weights.files import hash_files, hash_network


def load(name: str, variant: str, weights: str) -> Encoder:
    """The encoder, from the package that carries weights, its ONNX file or a folder; ``variant`` is the side."""
    if weights != PACKAGE and Path(weights).is_dir():
        network = read_network(Path(weights), transformers.Dinov2Model, ("dinov2",), f"encoder '{name}'", {})
        sha256 = hash_network(Path(weights))
    else:
        path = find_vit_weights(name, weights)
        network, sha256 = read_vit(path), hash_files([path])
    groups = (int(network.config.hidden_size),) * 3 * int(network.config.num_hidden_layers)
    preprocessing = Preprocessing("exact", int(variant), "bicubic", mean=IMAGENET_MEAN, std=IMAGENET_STD)
    called = as_network(BlockFeatures(network))
    return Encoder(name, sha256, sum(groups), preprocessing, called, share_cores, groups=groups)


class BlockFeatures(nn.Module):
    """From images (n, 3, side, side) to the statistics of all blocks, (n, blocks · 3 · width)."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Block by block: the class token, then mean and standard deviation of the patches."""
        after_blocks = self.network(pixel_values=images, output_hidden_states=True).hidden_states[1:]
        statistics = []
        for tokens in after_blocks:
            patches = tokens[:, 1:]
            statistics += [tokens[:, 0], patches.mean(1), patches.std(1, correction=0)]
        return torch.cat(statistics, 1)
