"""A model with frozen encoders: features are computed once, and read again."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.errors import ImageError
from beholder.learn.data_loader import ImageCache
from beholder.learn.recipe import load_recipe
from beholder.models.metric_transformer.model import MetricTransformer, build
from beholder.models.trainable import Config, UsesEncoders

CONFIG: Config = {
    "encoders": ["pixel"],
    "width": 8,
    "heads": 2,
    "metrics": ["quality"],
    "image_dims": 3072,
    "text_dims": 4,
}


@pytest.fixture
def model() -> MetricTransformer:
    return build(CONFIG, fresh=True)


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    rng = np.random.default_rng(0)
    image_paths = {}
    for name in ("one", "two"):
        image_paths[name] = str(tmp_path / f"{name}.png")
        Image.fromarray(rng.integers(0, 255, (40, 40, 3), np.uint8)).save(image_paths[name])
    return image_paths


def test_features_are_saved_and_the_same(model: MetricTransformer, paths: dict[str, str], tmp_path: Path) -> None:
    assert isinstance(model, UsesEncoders)
    image_cache = ImageCache(paths)
    expected = {name: model.prepare(image_cache.get(name), None) for name in paths}
    prepared = ImageCache(paths)
    prepared.prepare_all(model, tmp_path / "features")
    Path(paths["one"]).unlink()  # nothing is read again
    prepared.prepare_all(model, tmp_path / "features")
    for name, features in expected.items():
        np.testing.assert_array_equal(prepared.model_input(name, model, np.random.default_rng(0)), features)
    assert list((tmp_path / "features").rglob("vectors.npy"))


def test_all_broken_images_are_listed(model: MetricTransformer, paths: dict[str, str], tmp_path: Path) -> None:
    Path(paths["one"]).unlink()
    Path(paths["two"]).write_bytes(b"no image")
    with pytest.raises(ImageError, match=r"(?s)one.*two"):
        ImageCache(paths).prepare_all(model, tmp_path / "features")


def test_a_fold_starts_from_the_model_of_the_same_fold() -> None:
    changes = ("model.start={study}/models/single/fold-{fold}", "data.aspects=['quality']")
    recipe = load_recipe("metric-transformer", changes)
    settings = recipe.model_settings_of(Path("some/study"), 3)
    assert settings["start"] == "some/study/models/single/fold-3"
    assert settings["width"] == recipe.model["width"]
    assert "start" not in load_recipe("metric-transformer").model_settings_of(Path("some/study"), 0)
