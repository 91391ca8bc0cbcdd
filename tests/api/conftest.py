"""A small random PickScore, and images to be scored; nothing is fetched."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub's library is imported

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from tests.cli.conftest import run

__all__ = ["run"]

SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.fixture(scope="session")
def small_pickscore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP with CLIP's own vocabulary, in the form in which PickScore is published."""
    folder = tmp_path_factory.mktemp("pickscore")
    torch.manual_seed(0)
    vision = {"image_size": 32, "patch_size": 8, **SMALL}
    config = transformers.CLIPConfig(text_config=dict(SMALL), vision_config=vision, projection_dim=12)
    transformers.CLIPModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def painted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty images, some with transparency, some grey."""
    folder = tmp_path_factory.mktemp("painted")
    rng = np.random.default_rng(1)
    for number in range(40):
        channels = (3, 4, 1)[number % 3]
        pixels = rng.integers(0, 256, (36, 48, channels), dtype=np.uint8)
        Image.fromarray(pixels[..., 0] if channels == 1 else pixels).save(folder / f"{number:02d}.png")
    return folder
