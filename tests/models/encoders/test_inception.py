"""Inception-v3 for FID: the published names and shapes, and the numbers of torch-fidelity's network."""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import WeightsError
from beholder.images.resize import resize_tf1
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.inception import CHANNELS, FidInception, InceptionStages
from beholder.models.encoders.inception_weights import WRAPPED, published_names


def random_state() -> dict[str, torch.Tensor]:
    """Weights drawn in the order of their names, of a size that keeps activations near 1."""
    rng = np.random.default_rng(7)
    state: dict[str, torch.Tensor] = {}
    for name, tensor in sorted(FidInception(scores=True).state_dict().items()):
        drawn: NDArray[np.floating] = rng.random(tuple(tensor.shape), dtype=np.float32) * 2 - 1
        if tensor.ndim > 1:
            drawn *= np.sqrt(6 / np.prod(tensor.shape[1:]))
        elif name.endswith("running_var"):
            drawn = 1 + drawn / 2
        elif name.endswith("bn.weight"):
            drawn = 1 + drawn / 10
        else:
            drawn = drawn / 10
        if not name.endswith("num_batches_tracked"):
            state[name] = torch.from_numpy(np.ascontiguousarray(drawn, np.float32))
    return state


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    return random_state()


@pytest.fixture(scope="module")
def weights(state: dict[str, torch.Tensor], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("inception") / "fid.pth"
    torch.save(state, path)
    return path


@pytest.fixture(scope="module")
def fid(weights: Path) -> Encoder:
    return load_encoder("inception-v3-fid", weights)


def picture() -> NDArray[np.uint8]:
    down, across = np.mgrid[:90, :120]
    return np.stack([across * 2 % 256, (down * 3 + across) % 256, across * down // 7 % 256], 2).astype(np.uint8)


class TestNumbers:
    """What torch-fidelity 0.4.0 gave for the random weights and the picture above, its own resize included."""

    def test_features(self, fid: Encoder) -> None:
        vectors = fid.encode([picture()])
        assert vectors.shape == (1, 2048)
        expected = [0.2047461, 0.31162864, 2.5402815, 0.5678605, 0.38665503]
        np.testing.assert_allclose(vectors[0, [0, 1, 2, 500, 1000]], expected, rtol=0, atol=1e-5)
        np.testing.assert_allclose(vectors.sum(), 1410.387, rtol=1e-6)

    def test_class_scores(self, weights: Path) -> None:
        vectors = load_encoder("inception-v3-logits", weights).encode([picture()])
        assert vectors.shape == (1, 1008)
        expected = [1.2465415, 1.0059577, -0.64669585, -3.3407516, 1.5990669]
        np.testing.assert_allclose(vectors[0, [0, 1, 2, 500, 1000]], expected, rtol=0, atol=1e-5)


class TestStages:
    def test_statistics_of_all_maps(self, weights: Path) -> None:
        stages = load_encoder("inception-v3-stages", weights)
        assert stages.groups == tuple(width for width in CHANNELS for _ in range(2))
        assert stages.dims == sum(stages.groups) == 20_896
        network = FidInception(scores=True)
        network.load_state_dict(torch.load(weights, weights_only=True))
        images = torch.rand(2, 3, 96, 128, generator=torch.Generator().manual_seed(0)) * 2 - 1
        with torch.no_grad():
            maps = list(network.eval().maps(images))
            figures = InceptionStages(network)(images)
        assert tuple(each.shape[1] for each in maps) == CHANNELS
        expected = [each for after in maps for each in (after.mean((2, 3)), after.flatten(2).std(2, correction=0))]
        torch.testing.assert_close(figures, torch.cat(expected, 1), rtol=1e-4, atol=1e-4)

    def test_images_come_at_the_size_that_raters_saw(self, weights: Path) -> None:
        stages = load_encoder("inception-v3-stages", weights)
        large = Image.new("RGB", (640, 512), (0, 128, 255))
        prepared = stages.preprocessing.prepare(large)
        assert prepared.shape == (3, 512, 512)
        np.testing.assert_allclose(prepared.mean((1, 2)), [-1, 0, 127 / 128], atol=1e-6)


class TestPreprocessing:
    def test_fid_takes_tensorflows_resize_to_within_one(self, fid: Encoder) -> None:
        prepared = fid.preprocessing.prepare(Image.fromarray(picture()))
        expected = (resize_tf1(picture(), 299, 299) - 128) / 128
        np.testing.assert_allclose(prepared, expected.transpose(2, 0, 1), rtol=0, atol=1e-6)

    def test_clean_is_antialiased_and_not_rounded(self, fid: Encoder, weights: Path) -> None:
        clean = load_encoder("inception-v3-clean", weights).preprocessing
        checks = np.indices((598, 598)).sum(0)[..., None].repeat(3, 2) % 2 * np.uint8(255)
        middle = clean.prepare(Image.fromarray(checks.astype(np.uint8)))[:, 50:-50, 50:-50]
        np.testing.assert_allclose(middle, (127.5 - 128) / 128, atol=1e-6)
        assert clean.version != fid.preprocessing.version

    def test_clean_is_pillows_float_resize_kept_within_bytes(self, weights: Path) -> None:
        """As clean-fid does; bicubic overshoots at the edges of this picture."""
        planes = [Image.fromarray(picture()[..., channel].astype(np.float32)) for channel in range(3)]
        resized = np.stack([np.asarray(plane.resize((299, 299), Image.Resampling.BICUBIC)) for plane in planes])
        assert resized.min() < -1
        assert resized.max() > 256
        prepared = load_encoder("inception-v3-clean", weights).preprocessing.prepare(Image.fromarray(picture()))
        np.testing.assert_allclose(prepared * 128 + 128, np.clip(resized, 0, 255), rtol=0, atol=1e-4)


class TestNames:
    def test_the_published_shapes(self, state: dict[str, torch.Tensor]) -> None:
        assert len(state) == 94 * 5 + 2  # 94 convolutions with weight and four numbers of their norms; fc
        assert sum(tensor.numel() for tensor in state.values()) == 23_885_392
        shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
        assert shapes["fc.weight"] == (1008, 2048)
        assert shapes["Conv2d_1a_3x3.conv.weight"] == (32, 3, 3, 3)
        assert shapes["Mixed_5b.branch_pool.conv.weight"] == (32, 192, 1, 1)
        assert shapes["Mixed_6a.branch3x3.conv.weight"] == (384, 288, 3, 3)
        assert shapes["Mixed_6b.branch7x7dbl_5.conv.weight"] == (192, 128, 1, 7)
        assert shapes["Mixed_6e.branch7x7_3.conv.weight"] == (192, 192, 7, 1)
        assert shapes["Mixed_7a.branch7x7x3_4.conv.weight"] == (192, 192, 3, 3)
        assert shapes["Mixed_7c.branch3x3dbl_3b.conv.weight"] == (384, 384, 3, 1)

    def test_those_of_pytorch_fids_wrapper_are_translated(
        self, state: dict[str, torch.Tensor], fid: Encoder, tmp_path: Path
    ) -> None:
        places = {layer: f"blocks.{b}.{p}" for b, block in enumerate(WRAPPED) for p, layer in enumerate(block)}
        wrapped = {
            f"{places[name.partition('.')[0]]}.{name.partition('.')[2]}": tensor
            for name, tensor in state.items()
            if not name.startswith("fc.")
        }
        assert set(published_names(wrapped, "here")) == {name for name in state if not name.startswith("fc.")}
        torch.save(wrapped, tmp_path / "wrapped.pth")
        vectors = load_encoder("inception-v3-fid", tmp_path / "wrapped.pth").encode([picture()])
        np.testing.assert_array_equal(vectors, fid.encode([picture()]))

    def test_those_of_torchvision_are_refused(self, state: dict[str, torch.Tensor]) -> None:
        other = state | {"fc.weight": torch.zeros(1000, 2048), "AuxLogits.fc.weight": torch.zeros(1000, 768)}
        with pytest.raises(WeightsError, match="an Inception-v3 of 1,000 classes, as torchvision has it"):
            published_names(other, "here")

    def test_a_state_of_another_shape_is_refused(self, state: dict[str, torch.Tensor], tmp_path: Path) -> None:
        name = "Mixed_7c.branch1x1.conv.weight"
        torch.save(state | {name: state[name][:300]}, tmp_path / "other.pth")
        with pytest.raises(WeightsError, match=r"has the shape \(300, 2048, 1, 1\); \(320, 2048,"):
            load_encoder("inception-v3-fid", tmp_path / "other.pth")
