"""The last layer of an ImageNet network on the features of its stages: what the network says of images."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from beholder.models.alignment.comparison import Floats, NetworkOutputs
from beholder.models.encoders.catalogue import ENCODERS
from beholder.models.encoders.efficientnet_lite import SIZES, load_network
from beholder.models.encoders.encoder import Vectors
from beholder.models.encoders.stage_features import VARIANTS, head_means

CLASSIFIED = tuple(
    name
    for name, entry in ENCODERS.items()
    if entry.module == "stage_features" and VARIANTS[entry.variant].depth is None
)
"""Encoders whose vectors contain the features of their network, which its last layer takes."""


@dataclass(frozen=True, eq=False)
class Classifier:
    """The layer from a network's features to logits."""

    columns: slice
    """Those of the features among an encoder's vectors."""
    weight: Floats  # (classes, features)
    bias: Floats  # (classes,)

    def classify(self, vectors: Vectors) -> NetworkOutputs:
        """The network's features, which are among the encoder's vectors, and its logits."""
        features = vectors[:, self.columns].astype(np.float64)
        return NetworkOutputs(features, features @ self.weight.T + self.bias)


@lru_cache(maxsize=2)
def load_classifier(encoder: str) -> Classifier:
    """Load the classifier of the network of an encoder, one of ``CLASSIFIED``."""
    entry = ENCODERS[encoder]
    size = VARIANTS[entry.variant].size
    layer = load_network(encoder, size, entry.weights)[0].classes
    with torch.inference_mode():
        return Classifier(head_means(SIZES[size]), layer.weight.double().numpy(), layer.bias.double().numpy())
